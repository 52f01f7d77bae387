import { array, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 16. */
export const listGroupsRequest = message(
  { versions: [0, 5], flexibleSince: 3 },
  {
    statesFilter: array(str).since(4),
    typesFilter: array(str).since(5),
  },
);

/** Source: wire.md section 3, key 16. */
export const listGroupsResponse = message(
  { versions: [0, 5], flexibleSince: 3 },
  {
    throttleTimeMs: i32.since(1).ignorable(),
    errorCode: i16,
    groups: array(
      struct({
        groupId: str,
        protocolType: str,
        groupState: str.since(4).ignorable(),
        groupType: str.since(5).ignorable(),
      }),
    ),
  },
);
