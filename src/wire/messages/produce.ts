import { array, i16, i32, i64, message, records, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 0. */
export const produceRequest = message(
  { versions: [3, 13], flexibleSince: 9 },
  {
    transactionalId: str.nullable(),
    acks: i16,
    timeoutMs: i32,
    topicData: array(
      struct({
        name: str.until(12).ignorable(),
        topicId: uuid.since(13).ignorable(),
        partitionData: array(
          struct({
            index: i32,
            records: records.nullable(),
          }),
        ),
      }),
    ),
  },
);

/** Source: wire.md section 3, key 0. */
export const produceResponse = message(
  { versions: [3, 13], flexibleSince: 9 },
  {
    responses: array(
      struct({
        name: str.until(12).ignorable(),
        topicId: uuid.since(13).ignorable(),
        partitionResponses: array(
          struct({
            index: i32,
            errorCode: i16,
            baseOffset: i64,
            logAppendTimeMs: i64.default(-1n),
            logStartOffset: i64.since(5).default(-1n).ignorable(),
            recordErrors: array(
              struct({
                batchIndex: i32,
                batchIndexErrorMessage: str.nullable(),
              }),
            )
              .since(8)
              .ignorable(),
            errorMessage: str.nullable().since(8).ignorable(),
            currentLeader: struct({
              leaderId: i32.default(-1),
              leaderEpoch: i32.default(-1),
            })
              .since(10)
              .tagged(0),
          }),
        ),
      }),
    ),
    throttleTimeMs: i32,
    nodeEndpoints: array(
      struct({
        nodeId: i32,
        host: str,
        port: i32,
        rack: str.nullable(),
      }),
    )
      .since(10)
      .tagged(0),
  },
);
