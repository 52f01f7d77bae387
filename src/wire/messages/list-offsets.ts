import { array, i8, i16, i32, i64, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 2. */
export const listOffsetsRequest = message(
  { versions: [1, 11], flexibleSince: 6 },
  {
    replicaId: i32,
    isolationLevel: i8.since(2),
    topics: array(
      struct({
        name: str,
        partitions: array(
          struct({
            partitionIndex: i32,
            currentLeaderEpoch: i32.since(4).default(-1).ignorable(),
            timestamp: i64,
          }),
        ),
      }),
    ),
    timeoutMs: i32.since(10).ignorable(),
  },
);

/** Source: wire.md section 3, key 2. */
export const listOffsetsResponse = message(
  { versions: [1, 11], flexibleSince: 6 },
  {
    throttleTimeMs: i32.since(2).ignorable(),
    topics: array(
      struct({
        name: str,
        partitions: array(
          struct({
            partitionIndex: i32,
            errorCode: i16,
            timestamp: i64.default(-1n),
            offset: i64.default(-1n),
            leaderEpoch: i32.since(4).default(-1),
          }),
        ),
      }),
    ),
  },
);
