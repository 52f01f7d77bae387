import { array, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 46. */
export const listPartitionReassignmentsRequest = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    timeoutMs: i32.default(60000),
    topics: array(
      struct({
        name: str,
        partitionIndexes: array(i32),
      }),
    ).nullable(),
  },
);

/** Source: wire.md section 3, key 46. */
export const listPartitionReassignmentsResponse = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    errorMessage: str.orNull(),
    topics: array(
      struct({
        name: str,
        partitions: array(
          struct({
            partitionIndex: i32,
            replicas: array(i32),
            addingReplicas: array(i32),
            removingReplicas: array(i32),
          }),
        ),
      }),
    ),
  },
);
