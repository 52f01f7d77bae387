import { bool, i16, i32, i64, message, str } from '../schema.ts';

/** Source: wire.md section 3, key 22. */
export const initProducerIdRequest = message(
  { versions: [0, 6], flexibleSince: 2 },
  {
    transactionalId: str.orNull(),
    transactionTimeoutMs: i32,
    producerId: i64.since(3).default(-1n),
    producerEpoch: i16.since(3).default(-1),
    enable2Pc: bool.since(6),
    keepPreparedTxn: bool.since(6),
  },
);

/** Source: wire.md section 3, key 22. */
export const initProducerIdResponse = message(
  { versions: [0, 6], flexibleSince: 2 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    producerId: i64.default(-1n),
    producerEpoch: i16,
    ongoingTxnProducerId: i64.since(6).default(-1n),
    ongoingTxnProducerEpoch: i16.since(6).default(-1),
  },
);
