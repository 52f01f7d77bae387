import { array, bool, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 3. */
export const metadataRequest = message(
  { versions: [0, 13], flexibleSince: 9 },
  {
    topics: array(
      struct({
        topicId: uuid.since(10).ignorable(),
        name: str.orNull(10),
      }),
    ).orNull(1),
    allowAutoTopicCreation: bool.since(4).default(true),
    includeClusterAuthorizedOperations: bool.since(8).until(10),
    includeTopicAuthorizedOperations: bool.since(8),
  },
);

/** Source: wire.md section 3, key 3. */
export const metadataResponse = message(
  { versions: [0, 13], flexibleSince: 9 },
  {
    throttleTimeMs: i32.since(3).ignorable(),
    brokers: array(
      struct({
        nodeId: i32,
        host: str,
        port: i32,
        rack: str.nullable().since(1).ignorable(),
      }),
    ),
    clusterId: str.nullable().since(2).ignorable(),
    controllerId: i32.since(1).default(-1).ignorable(),
    topics: array(
      struct({
        errorCode: i16,
        name: str.orNull(12),
        topicId: uuid.since(10).ignorable(),
        isInternal: bool.since(1).ignorable(),
        partitions: array(
          struct({
            errorCode: i16,
            partitionIndex: i32,
            leaderId: i32,
            leaderEpoch: i32.since(7).default(-1).ignorable(),
            replicaNodes: array(i32),
            isrNodes: array(i32),
            offlineReplicas: array(i32).since(5).ignorable(),
          }),
        ),
        topicAuthorizedOperations: i32.since(8).default(-2147483648),
      }),
    ),
    clusterAuthorizedOperations: i32.since(8).until(10).default(-2147483648),
    errorCode: i16.since(13).ignorable(),
  },
);
