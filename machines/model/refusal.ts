/** Names of the protocol's errors that coordination can answer with. Their numbers live in `src/wire/errors.ts`. */
export type ErrorName =
  | 'NONE'
  | 'UNKNOWN_SERVER_ERROR'
  | 'UNKNOWN_TOPIC_OR_PARTITION'
  | 'REQUEST_TIMED_OUT'
  | 'MESSAGE_TOO_LARGE'
  | 'OFFSET_METADATA_TOO_LARGE'
  | 'COORDINATOR_LOAD_IN_PROGRESS'
  | 'COORDINATOR_NOT_AVAILABLE'
  | 'NOT_COORDINATOR'
  | 'ILLEGAL_GENERATION'
  | 'INCONSISTENT_GROUP_PROTOCOL'
  | 'INVALID_GROUP_ID'
  | 'UNKNOWN_MEMBER_ID'
  | 'TOPIC_AUTHORIZATION_FAILED'
  | 'GROUP_AUTHORIZATION_FAILED'
  | 'CLUSTER_AUTHORIZATION_FAILED'
  | 'UNSUPPORTED_VERSION'
  | 'INVALID_CONFIG'
  | 'INVALID_REQUEST'
  | 'NON_EMPTY_GROUP'
  | 'GROUP_ID_NOT_FOUND'
  | 'GROUP_MAX_SIZE_REACHED'
  | 'FENCED_INSTANCE_ID'
  | 'GROUP_SUBSCRIBED_TO_TOPIC'
  | 'UNSTABLE_OFFSET_COMMIT'
  | 'UNKNOWN_TOPIC_ID'
  | 'FENCED_MEMBER_EPOCH'
  | 'UNRELEASED_INSTANCE_ID'
  | 'STALE_MEMBER_EPOCH'
  | 'INVALID_REGULAR_EXPRESSION'
  | 'STREAMS_INVALID_TOPOLOGY'
  | 'STREAMS_INVALID_TOPOLOGY_EPOCH'
  | 'STREAMS_TOPOLOGY_FENCED'
  | 'GROUP_DELETION_FAILED'
  | 'STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED';

/**
 * A request the protocol says no to: expected, answered, no fault of ours. Thrown by decisions, caught by
 * the shard actor alone; nothing was changed.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly error: ErrorName;
  /** Sent as the error message; null where the protocol's answer carries none. */
  readonly text: string | null;

  constructor(error: ErrorName, text: string | null) {
    super(text ?? error);
    this.error = error;
    this.text = text;
  }
}

/** Says "this cannot happen". If it does, the batch at hand is rolled back and answered with a retriable error. */
export function invariant(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`Invariant broken: ${rule}`);
}

/** The end of a closed union: a new case fails to compile here. */
export function unreachable(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}
