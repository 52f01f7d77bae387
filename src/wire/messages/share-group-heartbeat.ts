import { array, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: KIP-932; as Kafka 4.4 knows it. */
export const shareGroupHeartbeatRequest = message(
  { versions: [1, 1], flexibleSince: 0 },
  {
    groupId: str,
    memberId: str,
    memberEpoch: i32,
    rackId: str.nullable(),
    subscribedTopicNames: array(str).nullable(),
  },
);

const topicPartitions = struct({
  topicId: uuid,
  partitions: array(i32),
});

/** Source: KIP-932; as Kafka 4.4 knows it. */
export const shareGroupHeartbeatResponse = message(
  { versions: [1, 1], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    errorMessage: str.nullable(),
    memberId: str.nullable(),
    memberEpoch: i32,
    heartbeatIntervalMs: i32,
    assignment: struct({
      topicPartitions: array(topicPartitions),
    }).nullable(),
  },
);
