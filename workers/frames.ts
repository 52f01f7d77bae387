/** Bytes of the length before each frame. */
const LENGTH_BYTES = 4;

/** What stands before so many bytes to make them a frame. */
export function frameHead(bytes: number): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(bytes);
  return length;
}

/** The parts as one frame: their length in all, then they themselves. */
export function frameOf(...parts: readonly Uint8Array[]): Buffer {
  const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
  return Buffer.concat([frameHead(bytes), ...parts]);
}

/**
 * Cuts a stream of bytes into the frames that {@link frameOf} made. A frame longer than `bytesMax` is refused as soon as its
 * length is read, so that no more than that is ever kept.
 */
export class FrameReader {
  #bytesMax: number;
  #chunks: Buffer[] = [];
  #kept = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The longest frame taken from now on, bytes. */
  allow(bytesMax: number): void {
    this.#bytesMax = bytesMax;
  }

  /** @returns the frames that these bytes complete. @throws `RangeError`: one is too long. */
  push(chunk: Buffer): readonly Buffer[] {
    this.#chunks.push(chunk);
    this.#kept += chunk.byteLength;
    const frames: Buffer[] = [];
    for (;;) {
      if (this.#kept < LENGTH_BYTES) return frames;
      const head = this.#joined(LENGTH_BYTES);
      const length = head.readUInt32BE();
      if (length > this.#bytesMax) {
        throw new RangeError(`Frame refused: ${length} bytes, wanted at most ${this.#bytesMax}`);
      }
      if (this.#kept < LENGTH_BYTES + length) return frames;
      const whole = this.#joined(LENGTH_BYTES + length);
      frames.push(whole.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
      const rest = whole.subarray(LENGTH_BYTES + length);
      this.#chunks = rest.byteLength === 0 ? [] : [rest];
      this.#kept = rest.byteLength;
    }
  }

  /** The first chunk, with at least so many bytes; joins chunks only when they are needed together. */
  #joined(bytes: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.byteLength >= bytes) return first;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}
