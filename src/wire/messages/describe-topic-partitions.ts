import { array, bool, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 75. */
export const describeTopicPartitionsRequest = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    topics: array(
      struct({
        name: str,
      }),
    ),
    responsePartitionLimit: i32.default(2000),
    cursor: struct({
      topicName: str,
      partitionIndex: i32,
    }).nullable(),
  },
);

/** Source: wire.md section 3, key 75. */
export const describeTopicPartitionsResponse = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    topics: array(
      struct({
        errorCode: i16,
        name: str.orNull(),
        topicId: uuid,
        isInternal: bool,
        partitions: array(
          struct({
            errorCode: i16,
            partitionIndex: i32,
            leaderId: i32,
            leaderEpoch: i32.default(-1),
            replicaNodes: array(i32),
            isrNodes: array(i32),
            eligibleLeaderReplicas: array(i32).nullable(),
            lastKnownElr: array(i32).nullable(),
            offlineReplicas: array(i32),
          }),
        ),
        topicAuthorizedOperations: i32.default(-2147483648),
      }),
    ),
    nextCursor: struct({
      topicName: str,
      partitionIndex: i32,
    }).nullable(),
  },
);
