import { WireError } from './wire-error.ts';

/** Kafka's `socket.request.max.bytes`, and so the most a request may claim unless set otherwise. */
export const REQUEST_BYTES_MAX = 104_857_600;

const LENGTH_BYTES = 4;
const FIRST_ROOM_BYTES = 1 << 16;
const TLS_ALERT = 0x15;
const TLS_HANDSHAKE = 0x16;
const TLS_MAJOR = 0x03;
const HTTP = Buffer.from('HTTP');
const NO_BYTES = Buffer.alloc(0);

/**
 * Cuts a stream of bytes into frames, each without its length of four bytes.
 *
 * A claimed length is checked before anything is kept for it, and room grows with what really came, at most
 * twofold: a peer that only claims costs nothing. A frame that lies within one chunk is a view of that chunk;
 * others are put together in a buffer of their own.
 *
 * There is no way back into step after an error: the connection is to be ended.
 *
 * Source: wire.md 1.1, 4.12.
 */
export class FrameSplitter {
  private readonly frameBytesMax: number;
  /** The length as far as it came. */
  private readonly lengthBytes = Buffer.alloc(LENGTH_BYTES);
  private lengthRead = 0;
  /** Of the frame under way; undefined while its length is incomplete. */
  private frameBytes: number | undefined;
  private room: Buffer = NO_BYTES;
  private held = 0;

  /** @param frameBytesMax the longest frame that is accepted, in bytes without the length. */
  constructor(frameBytesMax: number = REQUEST_BYTES_MAX) {
    this.frameBytesMax = frameBytesMax;
  }

  /** True when the last frame was whole and nothing of the next one came: a good moment for a peer to leave. */
  get isBetweenFrames(): boolean {
    return this.lengthRead === 0;
  }

  /** Bytes of an unfinished frame that are kept here. */
  get bytesHeld(): number {
    return this.held;
  }

  /**
   * Takes the next bytes of the stream and returns the frames that they finish, in order.
   *
   * @throws WireError for a length below 0 or above the limit, with a hint when the bytes look like TLS or HTTP.
   */
  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let at = 0;
    while (at < chunk.length || this.frameBytes === 0) {
      if (this.frameBytes === undefined) {
        at = this.readLength(chunk, at);
        if (this.frameBytes === undefined) break;
      }
      const wanted = this.frameBytes - this.held;
      if (this.held === 0 && chunk.length - at >= wanted) {
        frames.push(chunk.subarray(at, at + wanted));
      } else {
        const part = chunk.subarray(at, at + wanted);
        this.hold(part, this.frameBytes);
        if (part.length < wanted) break;
        frames.push(this.room.subarray(0, this.frameBytes));
      }
      at += wanted;
      this.begin();
    }
    return frames;
  }

  private begin(): void {
    this.lengthRead = 0;
    this.frameBytes = undefined;
    this.room = NO_BYTES;
    this.held = 0;
  }

  /** Takes what is missing of the length and returns where the rest of the chunk begins. */
  private readLength(chunk: Buffer, start: number): number {
    const count = Math.min(LENGTH_BYTES - this.lengthRead, chunk.length - start);
    chunk.copy(this.lengthBytes, this.lengthRead, start, start + count);
    this.lengthRead += count;
    if (this.lengthRead === LENGTH_BYTES) {
      const length = this.lengthBytes.readInt32BE(0);
      this.refuseBadLength(length);
      this.frameBytes = length;
    }
    return start + count;
  }

  private refuseBadLength(length: number): void {
    if (length < 0) throw new WireError(`A frame claims ${length} bytes, a length below zero`, 0);
    if (length <= this.frameBytesMax) return;
    throw new WireError(
      `A frame claims ${length} bytes, at most ${this.frameBytesMax} are allowed${this.otherProtocol()}`,
      0,
    );
  }

  /** What these bytes are rather than a length, if that is known. */
  private otherProtocol(): string {
    const [first, second] = this.lengthBytes;
    const isTls = (first === TLS_HANDSHAKE || first === TLS_ALERT) && second === TLS_MAJOR;
    if (isTls) return ': these look like the first bytes of TLS, on a port without it';
    if (this.lengthBytes.equals(HTTP)) return ': this is HTTP, perhaps the admin port';
    return '';
  }

  private hold(part: Buffer, frameBytes: number): void {
    const least = this.held + part.length;
    if (least > this.room.length) {
      const bytes = Math.min(frameBytes, Math.max(least, 2 * this.room.length, FIRST_ROOM_BYTES));
      const grown = Buffer.allocUnsafeSlow(bytes);
      this.room.copy(grown, 0, 0, this.held);
      this.room = grown;
    }
    part.copy(this.room, this.held);
    this.held = least;
  }
}
