import { array, bool, i8, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 33. */
export const alterConfigsRequest = message(
  { versions: [0, 2], flexibleSince: 2 },
  {
    resources: array(
      struct({
        resourceType: i8,
        resourceName: str,
        configs: array(
          struct({
            name: str,
            value: str.orNull(),
          }),
        ),
      }),
    ),
    validateOnly: bool,
  },
);

/** Source: wire.md section 3, key 33. */
export const alterConfigsResponse = message(
  { versions: [0, 2], flexibleSince: 2 },
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
