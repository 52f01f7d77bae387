import type { ErrorName } from '../machines/model/refusal.ts';
import { unreachable } from '../machines/model/refusal.ts';
import { LogError } from './ports.ts';

/**
 * What a client is told when its operation could not be written.
 *
 * A heartbeat is never answered with -1, which ends its client: it gets a retriable error instead, in both profiles
 * (there is no log error of ours that stands for a fault of the client).
 *
 * Source: records-and-configs 5.2.
 */
export function errorOfLostWrite(cause: unknown): ErrorName {
  if (!(cause instanceof LogError)) return 'COORDINATOR_NOT_AVAILABLE';
  switch (cause.error) {
    case 'NOT_ENOUGH_REPLICAS':
    case 'REQUEST_TIMED_OUT':
    case 'MESSAGE_TOO_LARGE':
    case 'UNKNOWN_SERVER_ERROR':
      return 'COORDINATOR_NOT_AVAILABLE';
    case 'NOT_LEADER_OR_FOLLOWER':
    case 'KAFKA_STORAGE_ERROR':
      return 'NOT_COORDINATOR';
    case 'NETWORK_EXCEPTION':
      return 'COORDINATOR_LOAD_IN_PROGRESS';
    default:
      return unreachable(cause.error);
  }
}
