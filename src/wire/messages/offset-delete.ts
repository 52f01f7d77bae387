import { array, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 47. */
export const offsetDeleteRequest = message(
  { versions: [0, 0] },
  {
    groupId: str,
    topics: array(
      struct({
        name: str,
        partitions: array(
          struct({
            partitionIndex: i32,
          }),
        ),
      }),
    ),
  },
);

/** Source: wire.md section 3, key 47. */
export const offsetDeleteResponse = message(
  { versions: [0, 0] },
  {
    errorCode: i16,
    throttleTimeMs: i32,
    topics: array(
      struct({
        name: str,
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
