/**
 * What went wrong with the cluster upstream:
 * `unreachable` nobody there or it does not speak the protocol, `lost` the connection ended with answers
 * outstanding, `timeout` no answer in time (the connection is given up), `unsupported` no version in common,
 * `full` too much is under way already, `refused` it answered with an error.
 */
export type UpstreamFault = 'unreachable' | 'lost' | 'timeout' | 'unsupported' | 'full' | 'refused';

/** The world upstream failed. After `lost` and `timeout` nobody knows whether the request was carried out. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly fault: UpstreamFault;
  constructor(fault: UpstreamFault, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.fault = fault;
  }
}

/** The text of anything thrown, for a log line. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * For a `catch`: undefined when nothing was sent, so that an answer may say that upstream is away; throws what else
 * went wrong.
 */
export function undefinedIfUnreachable(error: unknown): undefined {
  if (error instanceof UpstreamError && error.fault === 'unreachable') return undefined;
  throw error;
}
