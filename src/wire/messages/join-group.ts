import { array, bool, bytes, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 11. */
export const joinGroupRequest = message(
  { versions: [0, 9], flexibleSince: 6 },
  {
    groupId: str,
    sessionTimeoutMs: i32,
    rebalanceTimeoutMs: i32.since(1).default(-1).ignorable(),
    memberId: str,
    groupInstanceId: str.nullable().since(5),
    protocolType: str,
    protocols: array(
      struct({
        name: str,
        metadata: bytes,
      }),
    ),
    reason: str.nullable().since(8).ignorable(),
  },
);

/** Source: wire.md section 3, key 11. */
export const joinGroupResponse = message(
  { versions: [0, 9], flexibleSince: 6 },
  {
    throttleTimeMs: i32.since(2).ignorable(),
    errorCode: i16,
    generationId: i32.default(-1),
    protocolType: str.nullable().since(7).ignorable(),
    protocolName: str.orNull(7),
    leader: str,
    skipAssignment: bool.since(9),
    memberId: str,
    members: array(
      struct({
        memberId: str,
        groupInstanceId: str.nullable().since(5).ignorable(),
        metadata: bytes,
      }),
    ),
  },
);
