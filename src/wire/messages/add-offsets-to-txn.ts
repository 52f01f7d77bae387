import { i16, i32, i64, message, str } from '../schema.ts';

/** Source: wire.md section 3, key 25. */
export const addOffsetsToTxnRequest = message(
  { versions: [0, 4], flexibleSince: 3 },
  {
    transactionalId: str,
    producerId: i64,
    producerEpoch: i16,
    groupId: str,
  },
);

/** Source: wire.md section 3, key 25. */
export const addOffsetsToTxnResponse = message(
  { versions: [0, 4], flexibleSince: 3 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
  },
);
