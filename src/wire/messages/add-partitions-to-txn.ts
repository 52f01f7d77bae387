import { array, bool, i16, i32, i64, message, str, struct } from '../schema.ts';

const addPartitionsToTxnTopic = struct({
  name: str,
  partitions: array(i32),
});

/** Source: wire.md section 3, key 24. */
export const addPartitionsToTxnRequest = message(
  { versions: [0, 5], flexibleSince: 3 },
  {
    transactions: array(
      struct({
        transactionalId: str,
        producerId: i64,
        producerEpoch: i16,
        verifyOnly: bool,
        topics: array(addPartitionsToTxnTopic),
      }),
    ).since(4),
    v3AndBelowTransactionalId: str.until(3),
    v3AndBelowProducerId: i64.until(3),
    v3AndBelowProducerEpoch: i16.until(3),
    v3AndBelowTopics: array(addPartitionsToTxnTopic).until(3),
  },
);

const addPartitionsToTxnTopicResult = struct({
  name: str,
  resultsByPartition: array(
    struct({
      partitionIndex: i32,
      partitionErrorCode: i16,
    }),
  ),
});

/** Source: wire.md section 3, key 24. */
export const addPartitionsToTxnResponse = message(
  { versions: [0, 5], flexibleSince: 3 },
  {
    throttleTimeMs: i32,
    errorCode: i16.since(4).ignorable(),
    resultsByTransaction: array(
      struct({
        transactionalId: str,
        topicResults: array(addPartitionsToTxnTopicResult),
      }),
    ).since(4),
    resultsByTopicV3AndBelow: array(addPartitionsToTxnTopicResult).until(3),
  },
);
