import { array, bytes, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 14. */
export const syncGroupRequest = message(
  { versions: [0, 5], flexibleSince: 4 },
  {
    groupId: str,
    generationId: i32,
    memberId: str,
    groupInstanceId: str.nullable().since(3),
    protocolType: str.nullable().since(5).ignorable(),
    protocolName: str.nullable().since(5).ignorable(),
    assignments: array(
      struct({
        memberId: str,
        assignment: bytes,
      }),
    ),
  },
);

/** Source: wire.md section 3, key 14. */
export const syncGroupResponse = message(
  { versions: [0, 5], flexibleSince: 4 },
  {
    throttleTimeMs: i32.since(1).ignorable(),
    errorCode: i16,
    protocolType: str.nullable().since(5).ignorable(),
    protocolName: str.nullable().since(5).ignorable(),
    assignment: bytes,
  },
);
