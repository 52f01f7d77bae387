import { array, i8, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 10. */
export const findCoordinatorRequest = message(
  { versions: [0, 6], flexibleSince: 3 },
  {
    key: str.until(3),
    keyType: i8.since(1),
    coordinatorKeys: array(str).since(4),
  },
);

/** Source: wire.md section 3, key 10. */
export const findCoordinatorResponse = message(
  { versions: [0, 6], flexibleSince: 3 },
  {
    throttleTimeMs: i32.since(1).ignorable(),
    errorCode: i16.until(3),
    errorMessage: str.orNull().since(1).until(3).ignorable(),
    nodeId: i32.until(3),
    host: str.until(3),
    port: i32.until(3),
    coordinators: array(
      struct({
        key: str,
        nodeId: i32,
        host: str,
        port: i32,
        errorCode: i16,
        errorMessage: str.orNull(),
      }),
    ).since(4),
  },
);
