import { array, i8, i16, i32, i64, message, str, struct, u16 } from '../schema.ts';

const lastAssignmentConfig = struct({
  key: str,
  value: str,
});

/** Record type 17. */
export const streamsGroupMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    epoch: i32,
    metadataHash: i64,
    validatedTopologyEpoch: i32.default(-1).tagged(0),
    lastAssignmentConfigs: array(lastAssignmentConfig).orNull().tagged(1),
    storedDescriptionTopologyEpoch: i32.default(-1).tagged(2),
    failedDescriptionTopologyEpoch: i32.default(-1).tagged(3),
  },
);

const endpoint = struct({
  host: str,
  port: u16,
});

const keyValue = struct({
  key: str,
  value: str,
});

/** Record type 19. */
export const streamsGroupMemberMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    instanceId: str.orNull(),
    rackId: str.orNull(),
    clientId: str,
    clientHost: str,
    rebalanceTimeoutMs: i32.default(-1),
    topologyEpoch: i32,
    processId: str,
    userEndpoint: endpoint.nullable(),
    clientTags: array(keyValue),
  },
);

/** Record type 20. */
export const streamsGroupTargetAssignmentMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    assignmentEpoch: i32,
    assignmentTimestamp: i64.tagged(0),
  },
);

const taskIds = struct({
  subtopologyId: str,
  partitions: array(i32),
});

/** Record type 21. */
export const streamsGroupTargetAssignmentMemberValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    activeTasks: array(taskIds),
    standbyTasks: array(taskIds),
    warmupTasks: array(taskIds),
  },
);

/** `assignmentEpochs` is nullable and empty by default, whatever its schema text seems to say (LG-8). */
const heldTaskIds = struct({
  subtopologyId: str,
  partitions: array(i32),
  assignmentEpochs: array(i32).orNull().tagged(0),
});

/** Record type 22. */
export const streamsGroupCurrentMemberAssignmentValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    memberEpoch: i32,
    previousMemberEpoch: i32,
    state: i8,
    activeTasks: array(heldTaskIds),
    standbyTasks: array(heldTaskIds),
    warmupTasks: array(heldTaskIds),
    activeTasksPendingRevocation: array(heldTaskIds),
    standbyTasksPendingRevocation: array(heldTaskIds),
    warmupTasksPendingRevocation: array(heldTaskIds),
  },
);

const topicConfig = struct({
  key: str,
  value: str,
});

const topicInfo = struct({
  name: str,
  partitions: i32,
  replicationFactor: i16,
  topicConfigs: array(topicConfig),
});

/** Record type 23. */
export const streamsGroupTopologyValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
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
  },
);
