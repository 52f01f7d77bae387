import { array, bool, i8, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 44. */
export const incrementalAlterConfigsRequest = message(
  { versions: [0, 1], flexibleSince: 1 },
  {
    resources: array(
      struct({
        resourceType: i8,
        resourceName: str,
        configs: array(
          struct({
            name: str,
            configOperation: i8,
            value: str.orNull(),
          }),
        ),
      }),
    ),
    validateOnly: bool,
  },
);

/** Source: wire.md section 3, key 44. */
export const incrementalAlterConfigsResponse = message(
  { versions: [0, 1], flexibleSince: 1 },
  {
    throttleTimeMs: i32,
    responses: array(
      struct({
        errorCode: i16,
        errorMessage: str.orNull(),
        resourceType: i8,
        resourceName: str,
      }),
    ),
  },
);
