import { array, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 13. */
export const leaveGroupRequest = message(
  { versions: [0, 5], flexibleSince: 4 },
  {
    groupId: str,
    memberId: str.until(2),
    members: array(
      struct({
        memberId: str,
        groupInstanceId: str.nullable(),
        reason: str.nullable().since(5).ignorable(),
      }),
    ).since(3),
  },
);

/** Source: wire.md section 3, key 13. */
export const leaveGroupResponse = message(
  { versions: [0, 5], flexibleSince: 4 },
  {
    throttleTimeMs: i32.since(1).ignorable(),
    errorCode: i16,
    members: array(
      struct({
        memberId: str,
        groupInstanceId: str.orNull(),
        errorCode: i16,
      }),
    ).since(3),
  },
);
