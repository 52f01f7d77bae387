import { array, bool, bytes, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 15. */
export const describeGroupsRequest = message(
  { versions: [0, 6], flexibleSince: 5 },
  {
    groups: array(str),
    includeAuthorizedOperations: bool.since(3),
  },
);

/** Source: wire.md section 3, key 15. */
export const describeGroupsResponse = message(
  { versions: [0, 6], flexibleSince: 5 },
  {
    throttleTimeMs: i32.since(1).ignorable(),
    groups: array(
      struct({
        errorCode: i16,
        errorMessage: str.nullable().since(6),
        groupId: str,
        groupState: str,
        protocolType: str,
        protocolData: str,
        members: array(
          struct({
            memberId: str,
            groupInstanceId: str.nullable().since(4).ignorable(),
            clientId: str,
            clientHost: str,
            memberMetadata: bytes,
            memberAssignment: bytes,
          }),
        ),
        authorizedOperations: i32.since(3).default(-2147483648),
      }),
    ),
  },
);
