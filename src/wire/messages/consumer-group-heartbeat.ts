import { array, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 68. */
export const consumerGroupHeartbeatRequest = message(
  { versions: [0, 1], flexibleSince: 0 },
  {
    groupId: str,
    memberId: str,
    memberEpoch: i32,
    instanceId: str.nullable(),
    rackId: str.nullable(),
    rebalanceTimeoutMs: i32.default(-1),
    subscribedTopicNames: array(str).nullable(),
    subscribedTopicRegex: str.nullable().since(1),
    serverAssignor: str.nullable(),
    topicPartitions: array(
      struct({
        topicId: uuid,
        partitions: array(i32),
      }),
    ).nullable(),
  },
);

const topicPartitions = struct({
  topicId: uuid,
  partitions: array(i32),
});

/** Source: wire.md section 3, key 68. */
export const consumerGroupHeartbeatResponse = message(
  { versions: [0, 1], flexibleSince: 0 },
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
