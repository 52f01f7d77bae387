import type { WireErrorName } from '../wire/errors.ts';

/** Why a client could not do what it was asked. */
export type ClientFailure =
  /** Nobody answers there. */
  | 'unreachable'
  /** No answer in time. */
  | 'timeout'
  /** The connection ended before the answer. */
  | 'lost'
  /** The peer speaks another protocol, or no version that is known here. */
  | 'protocol'
  /** The answer carries an error. */
  | 'refused';

/** A request that failed; the message is one clear line. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly failure: ClientFailure;
  /** The error of the answer; undefined unless `refused`. */
  readonly error: WireErrorName | undefined;

  constructor(
    failure: ClientFailure,
    message: string,
    options: { readonly cause?: unknown; readonly error?: WireErrorName } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.error = options.error;
  }
}
