import { array, bool, i8, i16, i32, i64, message, str, struct, u16 } from '../schema.ts';

const keyValue = struct({
  key: str,
  value: str,
});

const topicInfo = struct({
  name: str,
  partitions: i32,
  replicationFactor: i16,
  topicConfigs: array(keyValue),
});

const endpoint = struct({
  host: str,
  port: u16,
});

const taskOffset = struct({
  subtopologyId: str,
  partition: i32,
  offset: i64,
});

const taskIds = struct({
  subtopologyId: str,
  partitions: array(i32),
});

/** Source: wire.md section 3, key 88. */
export const streamsGroupHeartbeatRequest = message(
  { versions: [0, 1], flexibleSince: 0 },
  {
    groupId: str,
    memberId: str,
    memberEpoch: i32,
    endpointInformationEpoch: i32,
    instanceId: str.nullable(),
    rackId: str.nullable(),
    rebalanceTimeoutMs: i32.default(-1),
    topology: struct({
      epoch: i32,
      subtopologies: array(
        struct({
          subtopologyId: str,
          sourceTopics: array(str),
          sourceTopicRegex: array(str),
          stateChangelogTopics: array(topicInfo),
          repartitionSinkTopics: array(str),
          repartitionSourceTopics: array(topicInfo),
          copartitionGroups: array(
            struct({
              sourceTopics: array(i16),
              sourceTopicRegex: array(i16),
              repartitionSourceTopics: array(i16),
            }),
          ),
        }),
      ),
    }).nullable(),
    activeTasks: array(taskIds).nullable(),
    standbyTasks: array(taskIds).nullable(),
    warmupTasks: array(taskIds).nullable(),
    processId: str.nullable(),
    userEndpoint: endpoint.nullable(),
    clientTags: array(keyValue).nullable(),
    taskOffsets: array(taskOffset).nullable(),
    taskEndOffsets: array(taskOffset).nullable(),
    shutdownApplication: bool,
  },
);

const status = struct({
  statusCode: i8,
  statusDetail: str,
});

const topicPartition = struct({
  topic: str,
  partitions: array(i32),
});

/** Source: wire.md section 3, key 88. */
export const streamsGroupHeartbeatResponse = message(
  { versions: [0, 1], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    errorMessage: str.nullable(),
    memberId: str,
    memberEpoch: i32,
    heartbeatIntervalMs: i32,
    acceptableRecoveryLagLegacy: i32.until(0),
    taskOffsetIntervalMs: i32,
    acceptableRecoveryLag: i64.since(1).default(-1n).ignorable(),
    status: array(status).orNull(),
    activeTasks: array(taskIds).nullable(),
    standbyTasks: array(taskIds).nullable(),
    warmupTasks: array(taskIds).nullable(),
    topologyDescriptionRequired: bool.since(1),
    endpointInformationEpoch: i32,
    partitionsByUserEndpoint: array(
      struct({
        userEndpoint: endpoint,
        activePartitions: array(topicPartition),
        standbyPartitions: array(topicPartition),
      }),
    ).nullable(),
  },
);
