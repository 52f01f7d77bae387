import { array, i16, i32, i64, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 8. */
export const offsetCommitRequest = message(
  { versions: [2, 10], flexibleSince: 8 },
  {
    groupId: str,
    generationIdOrMemberEpoch: i32.default(-1),
    memberId: str,
    groupInstanceId: str.nullable().since(7),
    retentionTimeMs: i64.until(4).default(-1n).ignorable(),
    topics: array(
      struct({
        name: str.until(9).ignorable(),
        topicId: uuid.since(10).ignorable(),
        partitions: array(
          struct({
            partitionIndex: i32,
            committedOffset: i64,
            committedLeaderEpoch: i32.since(6).default(-1).ignorable(),
            committedMetadata: str.orNull(),
          }),
        ),
      }),
    ),
  },
);

/** Source: wire.md section 3, key 8. */
export const offsetCommitResponse = message(
  { versions: [2, 10], flexibleSince: 8 },
  {
    throttleTimeMs: i32.since(3).ignorable(),
    topics: array(
      struct({
        name: str.until(9).ignorable(),
        topicId: uuid.since(10).ignorable(),
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
