import { array, bytes, i8, i32, i64, message, str, struct, uuid } from '../schema.ts';

/** Record type 3. */
export const consumerGroupMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    epoch: i32,
    metadataHash: i64.tagged(0),
  },
);

/** Record type 4. */
export const consumerGroupPartitionMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    topics: array(
      struct({
        topicId: uuid,
        topicName: str,
        numPartitions: i32,
        partitionMetadata: array(
          struct({
            partition: i32,
            racks: array(str),
          }),
        ),
      }),
    ),
  },
);

/** Record type 5. */
export const consumerGroupMemberMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    instanceId: str.orNull(),
    rackId: str.orNull(),
    clientId: str,
    clientHost: str,
    subscribedTopicNames: array(str),
    subscribedTopicRegex: str.orNull(),
    rebalanceTimeoutMs: i32.default(-1),
    serverAssignor: str.orNull(),
    classicMemberMetadata: struct({
      sessionTimeoutMs: i32,
      supportedProtocols: array(
        struct({
          name: str,
          metadata: bytes,
        }),
      ),
    })
      .orNull()
      .tagged(0),
  },
);

/** Record type 6. */
export const consumerGroupTargetAssignmentMetadataValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    assignmentEpoch: i32,
    assignmentTimestamp: i64.tagged(0),
  },
);

/** Record type 7. */
export const consumerGroupTargetAssignmentMemberValue = message(
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
  assignmentEpochs: array(i32).orNull().tagged(0),
});

/** Record type 8. */
export const consumerGroupCurrentMemberAssignmentValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    memberEpoch: i32,
    previousMemberEpoch: i32,
    state: i8,
    assignedPartitions: array(topicPartitions),
    partitionsPendingRevocation: array(topicPartitions),
  },
);

/** Record type 16. */
export const consumerGroupRegularExpressionValue = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    topics: array(str),
    version: i64,
    timestamp: i64,
  },
);
