import { array, bool, i8, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 60. */
export const describeClusterRequest = message(
  { versions: [0, 2], flexibleSince: 0 },
  {
    includeClusterAuthorizedOperations: bool,
    endpointType: i8.since(1).default(1),
    includeFencedBrokers: bool.since(2),
  },
);

/** Source: wire.md section 3, key 60. */
export const describeClusterResponse = message(
  { versions: [0, 2], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    errorMessage: str.nullable(),
    endpointType: i8.since(1).default(1),
    clusterId: str,
    controllerId: i32.default(-1),
    brokers: array(
      struct({
        brokerId: i32,
        host: str,
        port: i32,
        rack: str.nullable(),
        isFenced: bool.since(2),
      }),
    ),
    clusterAuthorizedOperations: i32.default(-2147483648),
  },
);
