import { array, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 42. */
export const deleteGroupsRequest = message(
  { versions: [0, 3], flexibleSince: 2 },
  {
    groupsNames: array(str),
  },
);

/** Source: wire.md section 3, key 42. */
export const deleteGroupsResponse = message(
  { versions: [0, 3], flexibleSince: 2 },
  {
    throttleTimeMs: i32,
    results: array(
      struct({
        groupId: str,
        errorCode: i16,
        errorMessage: str.nullable().since(3).ignorable(),
      }),
    ),
  },
);
