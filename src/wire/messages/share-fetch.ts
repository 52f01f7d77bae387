import { array, i16, i32, i64, message, records, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 78. */
export const shareFetchResponse = message(
  { versions: [1, 2], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    errorMessage: str.nullable(),
    acquisitionLockTimeoutMs: i32,
    responses: array(
      struct({
        topicId: uuid,
        partitions: array(
          struct({
            partitionIndex: i32,
            errorCode: i16,
            errorMessage: str.nullable(),
            acknowledgeErrorCode: i16,
            acknowledgeErrorMessage: str.nullable(),
            currentLeader: struct({
              leaderId: i32,
              leaderEpoch: i32,
            }),
            records: records,
            acquiredRecords: array(
              struct({
                firstOffset: i64,
                lastOffset: i64,
                deliveryCount: i16,
              }),
            ),
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
