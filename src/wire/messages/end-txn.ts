import { bool, i16, i32, i64, message, str } from '../schema.ts';

/** Source: wire.md section 3, key 26. */
export const endTxnRequest = message(
  { versions: [0, 5], flexibleSince: 3 },
  {
    transactionalId: str,
    producerId: i64,
    producerEpoch: i16,
    committed: bool,
  },
);

/** Source: wire.md section 3, key 26. */
export const endTxnResponse = message(
  { versions: [0, 5], flexibleSince: 3 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    producerId: i64.since(5).default(-1n).ignorable(),
    producerEpoch: i16.since(5).default(-1).ignorable(),
  },
);
