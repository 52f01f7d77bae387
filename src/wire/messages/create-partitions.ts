import { array, bool, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 37. */
export const createPartitionsRequest = message(
  { versions: [0, 3], flexibleSince: 2 },
  {
    topics: array(
      struct({
        name: str,
        count: i32,
        assignments: array(
          struct({
            brokerIds: array(i32),
          }),
        ).orNull(),
      }),
    ),
    timeoutMs: i32,
    validateOnly: bool,
  },
);

/** Source: wire.md section 3, key 37. */
export const createPartitionsResponse = message(
  { versions: [0, 3], flexibleSince: 2 },
  {
    throttleTimeMs: i32,
    results: array(
      struct({
        name: str,
        errorCode: i16,
        errorMessage: str.nullable(),
      }),
    ),
  },
);
