import { array, bool, i16, i32, i64, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 9. */
export const offsetFetchRequest = message(
  { versions: [1, 10], flexibleSince: 6 },
  {
    groupId: str.until(7),
    topics: array(
      struct({
        name: str,
        partitionIndexes: array(i32),
      }),
    )
      .orNull(2, 7)
      .until(7),
    groups: array(
      struct({
        groupId: str,
        memberId: str.nullable().since(9).ignorable(),
        memberEpoch: i32.since(9).default(-1).ignorable(),
        topics: array(
          struct({
            name: str.until(9).ignorable(),
            topicId: uuid.since(10).ignorable(),
            partitionIndexes: array(i32),
          }),
        ).orNull(),
      }),
    ).since(8),
    requireStable: bool.since(7),
  },
);

/** Source: wire.md section 3, key 9. */
export const offsetFetchResponse = message(
  { versions: [1, 10], flexibleSince: 6 },
  {
    throttleTimeMs: i32.since(3).ignorable(),
    topics: array(
      struct({
        name: str,
        partitions: array(
          struct({
            partitionIndex: i32,
            committedOffset: i64,
            committedLeaderEpoch: i32.since(5).default(-1).ignorable(),
            metadata: str.orNull(),
            errorCode: i16,
          }),
        ),
      }),
    ).until(7),
    errorCode: i16.since(2).until(7).ignorable(),
    groups: array(
      struct({
        groupId: str,
        topics: array(
          struct({
            name: str.until(9).ignorable(),
            topicId: uuid.since(10).ignorable(),
            partitions: array(
              struct({
                partitionIndex: i32,
                committedOffset: i64,
                committedLeaderEpoch: i32.default(-1),
                metadata: str.orNull(),
                errorCode: i16,
              }),
            ),
          }),
        ),
        errorCode: i16,
      }),
    ).since(8),
  },
);
