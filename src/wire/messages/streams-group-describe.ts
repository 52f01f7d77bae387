import { array, bool, i8, i16, i32, i64, message, str, struct, u16 } from '../schema.ts';
import { topologyDescription } from './streams-group-topology-description-update.ts';

/** Source: wire.md section 3, key 89. */
export const streamsGroupDescribeRequest = message(
  { versions: [0, 1], flexibleSince: 0 },
  {
    groupIds: array(str),
    includeAuthorizedOperations: bool,
    includeTopologyDescription: bool.since(1),
  },
);

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

const assignment = struct({
  activeTasks: array(taskIds),
  standbyTasks: array(taskIds),
  warmupTasks: array(taskIds),
});

/** Source: wire.md section 3, key 89. */
export const streamsGroupDescribeResponse = message(
  { versions: [0, 1], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    groups: array(
      struct({
        errorCode: i16,
        errorMessage: str.nullable(),
        groupId: str,
        groupState: str,
        groupEpoch: i32,
        assignmentEpoch: i32,
        topology: struct({
          epoch: i32,
          subtopologies: array(
            struct({
              subtopologyId: str,
              sourceTopics: array(str),
              repartitionSinkTopics: array(str),
              stateChangelogTopics: array(topicInfo),
              repartitionSourceTopics: array(topicInfo),
            }),
          ).nullable(),
        }).nullable(),
        members: array(
          struct({
            memberId: str,
            memberEpoch: i32,
            instanceId: str.nullable(),
            rackId: str.nullable(),
            clientId: str,
            clientHost: str,
            topologyEpoch: i32,
            processId: str,
            userEndpoint: endpoint.nullable(),
            clientTags: array(keyValue),
            taskOffsets: array(taskOffset),
            taskEndOffsets: array(taskOffset),
            assignment: assignment,
            targetAssignment: assignment,
            isClassic: bool,
          }),
        ),
        authorizedOperations: i32.default(-2147483648),
        topologyDescription: topologyDescription.nullable().since(1),
        topologyDescriptionStatus: i8.since(1),
        assignorName: str.nullable().since(1).ignorable(),
      }),
    ),
  },
);
