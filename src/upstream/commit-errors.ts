import type { ErrorName } from '../../machines/model/refusal.ts';
import type { WireErrorName } from '../wire/errors.ts';
import { errorCode } from '../wire/errors.ts';

/** What an upstream's answer to a commit means for the placeholder. */
export type ShadowFault = 'lost' | 'fenced' | undefined;

/** Errors of upstream's that speak of the shadow group, which the member knows nothing of. */
const ABOUT_THE_SHADOW: ReadonlySet<number> = new Set([
  errorCode('ILLEGAL_GENERATION'),
  errorCode('UNKNOWN_MEMBER_ID'),
  errorCode('REBALANCE_IN_PROGRESS'),
  errorCode('GROUP_ID_NOT_FOUND'),
  errorCode('FENCED_INSTANCE_ID'),
  errorCode('NON_EMPTY_GROUP'),
  errorCode('STALE_MEMBER_EPOCH'),
  errorCode('UNKNOWN_SERVER_ERROR'),
]);
const LOST: ReadonlySet<number> = new Set([
  errorCode('ILLEGAL_GENERATION'),
  errorCode('UNKNOWN_MEMBER_ID'),
]);

/** Says what the placeholder has to do about an error that upstream answered to a commit in its name. */
export function shadowFault(code: number): ShadowFault {
  if (code === errorCode('FENCED_INSTANCE_ID')) return 'fenced';
  return LOST.has(code) ? 'lost' : undefined;
}

/**
 * Turns upstream's error for a partition of a streams group into the one its client is told.
 *
 * What speaks of the shadow group becomes 14, which every client tries again; that another gateway owns the shard
 * becomes 16. TransactionAbortable (120) kills a stream thread, 22 makes it abort and go on. Everything else is
 * upstream's word about the topic, the offset or the producer and passes.
 *
 * @param isStillOurs the identity that was sent has not been replaced meanwhile: only then does 82 mean a take-over.
 *
 * Source: wire.md 4.10 (error translation), 6.3.
 */
export function clientsError(code: number, isStillOurs: boolean): number {
  if (code === errorCode('FENCED_INSTANCE_ID') && isStillOurs) return errorCode('NOT_COORDINATOR');
  if (ABOUT_THE_SHADOW.has(code)) return errorCode('COORDINATOR_LOAD_IN_PROGRESS');
  if (code === errorCode('TRANSACTION_ABORTABLE')) return errorCode('ILLEGAL_GENERATION');
  return code;
}

/** TxnOffsetCommit: versions from here on may answer 113 and 69. */
const TXN_NEW_ERRORS_SINCE = 6;

/**
 * Turns our own verdict on a commit into the one its client is told: never 22 to an OffsetCommit, and to an older
 * TxnOffsetCommit 22 in the place of 113 and 69; stream threads die of those.
 *
 * Source: wire.md 4.10, 6.3.
 */
export function verdictFor(
  verdict: ErrorName,
  request: { readonly transactional: boolean; readonly apiVersion: number },
): WireErrorName {
  if (!request.transactional) {
    return verdict === 'ILLEGAL_GENERATION' ? 'STALE_MEMBER_EPOCH' : verdict;
  }
  const isNew = verdict === 'STALE_MEMBER_EPOCH' || verdict === 'GROUP_ID_NOT_FOUND';
  return isNew && request.apiVersion < TXN_NEW_ERRORS_SINCE ? 'ILLEGAL_GENERATION' : verdict;
}
