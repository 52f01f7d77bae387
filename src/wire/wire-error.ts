/**
 * Bytes that are not what the protocol says they are, or a value that a version of a message cannot carry.
 *
 * `path` names the field from the outside in (`topics[3].name`, empty where no field was reached), `offset` the
 * byte at which reading or writing stood. Nothing else is thrown by the decoders of `src/wire`.
 *
 * Source: wire.md 1.3 to 1.6.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly detail: string;
  readonly offset: number;
  path = '';

  constructor(detail: string, offset: number) {
    super(`${detail} (byte ${offset})`);
    this.detail = detail;
    this.offset = offset;
  }

  /** Says in which field or item the error happened; called from the inside out. */
  inside(segment: string): this {
    const joint = this.path === '' || this.path.startsWith('[') ? '' : '.';
    this.path = `${segment}${joint}${this.path}`;
    this.message = `${this.path}: ${this.detail} (byte ${this.offset})`;
    return this;
  }
}

/** Adds a path segment to a {@link WireError}; anything else passes unchanged. */
export function inside(error: unknown, segment: string): unknown {
  return error instanceof WireError ? error.inside(segment) : error;
}
