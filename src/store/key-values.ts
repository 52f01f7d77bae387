/** A key and its value, as bytes. */
export type Entry = readonly [key: Buffer, value: Buffer];

/** One step of a write; `del` of an absent key does nothing. */
export type Change =
  | { readonly type: 'put'; readonly key: Buffer; readonly value: Buffer }
  | { readonly type: 'del'; readonly key: Buffer };

/** Bytes of key and value. */
export function sizeOf(change: Change): number {
  return change.key.length + (change.type === 'put' ? change.value.length : 0);
}

/** Keys from `from` (in) to `to` (out), compared as unsigned bytes. */
export type KeyRange = { readonly from: Buffer; readonly to: Buffer };

/** How to go through a range: `backwards` from its end; at most `limit` entries. */
export type ScanOptions = { readonly backwards?: boolean; readonly limit?: number };

/**
 * Sorted bytes to bytes: the engine under everything that is kept. All methods reject with `StoreError`.
 */
export interface KeyValues {
  get(key: Buffer): Promise<Buffer | undefined>;
  /** The entries of a range as they were at the call, in key order, in chunks of bounded size. */
  scan(range: KeyRange, options?: ScanOptions): AsyncIterable<readonly Entry[]>;
  /**
   * Makes all changes, in order, or none. `sync`: resolves when they survive a loss of power; otherwise when they
   * survive the end of this process. Writes land in the order of the calls; one that rejects leaves nothing behind.
   */
  write(changes: readonly Change[], options: { readonly sync: boolean }): Promise<void>;
  /** Waits for what is under way. Afterwards everything rejects with fault `closed`. */
  close(): Promise<void>;
}

/** Every key that begins with `prefix`. */
export function keysUnder(prefix: Buffer): KeyRange {
  const to = Buffer.from(prefix);
  for (let at = to.length - 1; at >= 0; at--) {
    const byte = to[at] ?? 0;
    if (byte < 0xff) {
      to[at] = byte + 1;
      return { from: prefix, to: to.subarray(0, at + 1) };
    }
  }
  throw new RangeError(`Find the end of a prefix: ${prefix.toString('hex')} has no key after it`);
}
