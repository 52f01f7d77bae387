import { array, i16, i32, i64, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 28. */
export const txnOffsetCommitRequest = message(
  { versions: [0, 6], flexibleSince: 3 },
  {
    transactionalId: str,
    groupId: str,
    producerId: i64,
    producerEpoch: i16,
    generationIdOrMemberEpoch: i32.since(3).default(-1),
    memberId: str.since(3),
    groupInstanceId: str.nullable().since(3),
    topics: array(
      struct({
        name: str.until(5).ignorable(),
        topicId: uuid.since(6).ignorable(),
        partitions: array(
          struct({
            partitionIndex: i32,
            committedOffset: i64,
            committedLeaderEpoch: i32.since(2).default(-1).ignorable(),
            committedMetadata: str.orNull(),
          }),
        ),
      }),
    ),
  },
);

/** Source: wire.md section 3, key 28. */
export const txnOffsetCommitResponse = message(
  { versions: [0, 6], flexibleSince: 3 },
  {
    throttleTimeMs: i32,
    topics: array(
      struct({
        name: str.until(5).ignorable(),
        topicId: uuid.since(6).ignorable(),
        partitions: array(
          struct({
            partitionIndex: i32,
            errorCode: i16,
          }),
        ),
      }),
    ),
  },
);
