import { i16, i32, message, str } from '../schema.ts';

/** Source: wire.md section 3, key 12. */
export const heartbeatRequest = message(
  { versions: [0, 4], flexibleSince: 4 },
  {
    groupId: str,
    generationId: i32,
    memberId: str,
    groupInstanceId: str.nullable().since(3),
  },
);

/** Source: wire.md section 3, key 12. */
export const heartbeatResponse = message(
  { versions: [0, 4], flexibleSince: 4 },
  {
    throttleTimeMs: i32.since(1).ignorable(),
    errorCode: i16,
  },
);
