import { array, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 79. */
export const shareAcknowledgeResponse = message(
  { versions: [1, 2], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    errorMessage: str.nullable(),
    acquisitionLockTimeoutMs: i32.since(2).ignorable(),
    responses: array(
      struct({
        topicId: uuid,
        partitions: array(
          struct({
            partitionIndex: i32,
            errorCode: i16,
            errorMessage: str.nullable(),
            currentLeader: struct({
              leaderId: i32,
              leaderEpoch: i32,
            }),
          }),
        ),
      }),
    ),
    nodeEndpoints: array(
      struct({
        nodeId: i32,
        host: str,
        port: i32,
        rack: str.nullable(),
      }),
    ),
  },
);
