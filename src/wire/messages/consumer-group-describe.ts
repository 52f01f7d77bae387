import { array, bool, i8, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 69. */
export const consumerGroupDescribeRequest = message(
  { versions: [0, 1], flexibleSince: 0 },
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

const assignment = struct({
  topicPartitions: array(topicPartitions),
});

/** Source: wire.md section 3, key 69. */
export const consumerGroupDescribeResponse = message(
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
        assignorName: str,
        members: array(
          struct({
            memberId: str,
            instanceId: str.nullable(),
            rackId: str.nullable(),
            memberEpoch: i32,
            clientId: str,
            clientHost: str,
            subscribedTopicNames: array(str),
            subscribedTopicRegex: str.nullable(),
            assignment: assignment,
            targetAssignment: assignment,
            memberType: i8.since(1).default(-1).ignorable(),
          }),
        ),
        authorizedOperations: i32.default(-2147483648),
      }),
    ),
  },
);
