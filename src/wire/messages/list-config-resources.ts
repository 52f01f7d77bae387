import { array, i8, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 74. */
export const listConfigResourcesRequest = message(
  { versions: [0, 1], flexibleSince: 0 },
  {
    resourceTypes: array(i8).since(1),
  },
);

/** Source: wire.md section 3, key 74. */
export const listConfigResourcesResponse = message(
  { versions: [0, 1], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    configResources: array(
      struct({
        resourceName: str,
        resourceType: i8.since(1).default(16).ignorable(),
      }),
    ),
  },
);
