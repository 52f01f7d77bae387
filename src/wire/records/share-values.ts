import { array, i8, i32, i64, message, str, struct, uuid } from '../schema.ts';

/** Record type 10. */
export const shareGroupMemberMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    rackId: str.orNull(),
    clientId: str,
    clientHost: str,
    subscribedTopicNames: array(str),
  },
);

/** Record type 11. */
export const shareGroupMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    epoch: i32,
    metadataHash: i64,
  },
);

/** Record type 12. */
export const shareGroupTargetAssignmentMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    assignmentEpoch: i32,
    assignmentTimestamp: i64.tagged(0),
  },
);

/** Record type 13. */
export const shareGroupTargetAssignmentMemberValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    topicPartitions: array(
      struct({
        topicId: uuid,
        partitions: array(i32),
      }),
    ),
  },
);

const topicPartitions = struct({
  topicId: uuid,
  partitions: array(i32),
});

/** Record type 14. */
export const shareGroupCurrentMemberAssignmentValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    memberEpoch: i32,
    previousMemberEpoch: i32,
    state: i8,
    assignedPartitions: array(topicPartitions),
  },
);

const topicPartitionsInfo = struct({
  topicId: uuid,
  topicName: str,
  partitions: array(i32),
});

const topicInfo = struct({
  topicId: uuid,
  topicName: str,
});

/** Record type 15. */
export const shareGroupStatePartitionMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    initializingTopics: array(topicPartitionsInfo),
    initializedTopics: array(topicPartitionsInfo),
    deletingTopics: array(topicInfo),
  },
);
