import { array, bool, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: KIP-932; as Kafka 4.4 knows it. */
export const shareGroupDescribeRequest = message(
  { versions: [1, 1], flexibleSince: 0 },
  {
    groupIds: array(str),
    includeAuthorizedOperations: bool,
  },
);

const topicPartitions = struct({
  topicId: uuid,
  topicName: str,
  partitions: array(i32),
});

/** Source: KIP-932; as Kafka 4.4 knows it. */
export const shareGroupDescribeResponse = message(
  { versions: [1, 1], flexibleSince: 0 },
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
        assignorName: str,
        members: array(
          struct({
            memberId: str,
            rackId: str.nullable(),
            memberEpoch: i32,
            clientId: str,
            clientHost: str,
            subscribedTopicNames: array(str),
            assignment: struct({
              topicPartitions: array(topicPartitions),
            }),
          }),
        ),
        authorizedOperations: i32.default(-2147483648),
      }),
    ),
  },
);
