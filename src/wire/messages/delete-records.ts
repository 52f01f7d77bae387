import { array, i16, i32, i64, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 21. */
export const deleteRecordsRequest = message(
  { versions: [0, 2], flexibleSince: 2 },
  {
    topics: array(
      struct({
        name: str,
        partitions: array(
          struct({
            partitionIndex: i32,
            offset: i64,
          }),
        ),
      }),
    ),
    timeoutMs: i32,
  },
);

/** Source: wire.md section 3, key 21. */
export const deleteRecordsResponse = message(
  { versions: [0, 2], flexibleSince: 2 },
  {
    throttleTimeMs: i32,
    topics: array(
      struct({
        name: str,
        partitions: array(
          struct({
            partitionIndex: i32,
            lowWatermark: i64,
            errorCode: i16,
          }),
        ),
      }),
    ),
  },
);
