import { array, i16, i32, i64, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 23. */
export const offsetForLeaderEpochRequest = message(
  { versions: [2, 4], flexibleSince: 4 },
  {
    replicaId: i32.since(3).default(-2).ignorable(),
    topics: array(
      struct({
        topic: str,
        partitions: array(
          struct({
            partition: i32,
            currentLeaderEpoch: i32.default(-1),
            leaderEpoch: i32,
          }),
        ),
      }),
    ),
  },
);

/** Source: wire.md section 3, key 23. */
export const offsetForLeaderEpochResponse = message(
  { versions: [2, 4], flexibleSince: 4 },
  {
    throttleTimeMs: i32,
    topics: array(
      struct({
        topic: str,
        partitions: array(
          struct({
            errorCode: i16,
            partition: i32,
            leaderEpoch: i32.default(-1),
            endOffset: i64.default(-1n),
          }),
        ),
      }),
    ),
  },
);
