/** The smallest buffer handed out, bytes. */
const SMALLEST_BYTES = 1 << 14;

/**
 * Shared buffers by size class (powers of two), so that steady runs allocate nothing. Keeps at most `keepMax`
 * buffers per class and `bytesMax` bytes in all; what is given back beyond that is left to the collector.
 *
 * A buffer belongs to whoever took it until it is given back. One that a lost thread may still write to is simply
 * not given back: it goes when the thread is gone.
 *
 * Source: assignors 9.2, 9.3.
 */
export class SharedBuffers {
  readonly #free = new Map<number, SharedArrayBuffer[]>();
  readonly #keepMax: number;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor({ keepMax = 4, bytesMax = 64 << 20 } = {}) {
    this.#keepMax = keepMax;
    this.#bytesMax = bytesMax;
  }

  /** A buffer of at least this many bytes, with anything in it. */
  take(bytes: number): SharedArrayBuffer {
    const classBytes = this.classOf(bytes);
    const kept = this.#free.get(classBytes)?.pop();
    if (kept === undefined) return new SharedArrayBuffer(classBytes);
    this.#bytes -= classBytes;
    return kept;
  }

  /** The size of the buffers that are handed out for so many bytes. */
  classOf(bytes: number): number {
    return Math.max(SMALLEST_BYTES, 2 ** Math.ceil(Math.log2(bytes)));
  }

  give(buffer: SharedArrayBuffer): void {
    const kept = this.#free.get(buffer.byteLength) ?? [];
    if (kept.length >= this.#keepMax || this.#bytes + buffer.byteLength > this.#bytesMax) return;
    kept.push(buffer);
    this.#bytes += buffer.byteLength;
    this.#free.set(buffer.byteLength, kept);
  }
}
