import { array, i8, i16, i32, i64, message, records, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 1. */
export const fetchRequest = message(
  { versions: [4, 18], flexibleSince: 12 },
  {
    clusterId: str.nullable().since(12).tagged(0).ignorable(),
    replicaId: i32.until(14).default(-1),
    replicaState: struct({
      replicaId: i32.default(-1),
      replicaEpoch: i64.default(-1n),
    })
      .since(15)
      .tagged(1),
    maxWaitMs: i32,
    minBytes: i32,
    maxBytes: i32.default(0x7fffffff),
    isolationLevel: i8,
    sessionId: i32.since(7).ignorable(),
    sessionEpoch: i32.since(7).default(-1).ignorable(),
    topics: array(
      struct({
        topic: str.until(12).ignorable(),
        topicId: uuid.since(13).ignorable(),
        partitions: array(
          struct({
            partition: i32,
            currentLeaderEpoch: i32.since(9).default(-1).ignorable(),
            fetchOffset: i64,
            lastFetchedEpoch: i32.since(12).default(-1),
            logStartOffset: i64.since(5).default(-1n).ignorable(),
            partitionMaxBytes: i32,
            replicaDirectoryId: uuid.since(17).tagged(0).ignorable(),
            highWatermark: i64.since(18).default(9223372036854775807n).tagged(1).ignorable(),
          }),
        ),
      }),
    ),
    forgottenTopicsData: array(
      struct({
        topic: str.until(12).ignorable(),
        topicId: uuid.since(13).ignorable(),
        partitions: array(i32),
      }),
    ).since(7),
    rackId: str.since(11).ignorable(),
  },
);

/** Source: wire.md section 3, key 1. */
export const fetchResponse = message(
  { versions: [4, 18], flexibleSince: 12 },
  {
    throttleTimeMs: i32,
    errorCode: i16.since(7).ignorable(),
    sessionId: i32.since(7),
    responses: array(
      struct({
        topic: str.until(12).ignorable(),
        topicId: uuid.since(13).ignorable(),
        partitions: array(
          struct({
            partitionIndex: i32,
            errorCode: i16,
            highWatermark: i64,
            lastStableOffset: i64.default(-1n),
            logStartOffset: i64.since(5).default(-1n).ignorable(),
            divergingEpoch: struct({
              epoch: i32.default(-1),
              endOffset: i64.default(-1n),
            })
              .since(12)
              .tagged(0),
            currentLeader: struct({
              leaderId: i32.default(-1),
              leaderEpoch: i32.default(-1),
            })
              .since(12)
              .tagged(1),
            snapshotId: struct({
              endOffset: i64.default(-1n),
              epoch: i32.default(-1),
            })
              .since(12)
              .tagged(2),
            abortedTransactions: array(
              struct({
                producerId: i64,
                firstOffset: i64,
              }),
            ).orNull(),
            preferredReadReplica: i32.since(11).default(-1),
            records: records.nullable(),
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
    )
      .since(16)
      .tagged(0),
  },
);
