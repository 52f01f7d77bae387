import { STRING_BYTES_MAX } from './reader.ts';
import { WireError } from './wire-error.ts';

const FIRST_BYTES = 512;
/** Up to this length a string is written character by character while it is ASCII. */
const SHORT_STRING = 64;
const UUID_CHARACTERS = 22;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Writes the primitive types of the protocol into a buffer that grows.
 *
 * A value that its type cannot hold (a number out of range or not whole, a string of more than 32767 bytes, null
 * where the plain form is asked for) throws {@link WireError}; what was written so far is then of no use.
 *
 * Source: wire.md 1.3, 1.4.
 */
export class Writer {
  private buffer: Buffer;
  offset = 0;

  constructor(firstBytes: number = FIRST_BYTES) {
    this.buffer = Buffer.allocUnsafe(firstBytes);
  }

  /** Starts again at the front, in the same buffer. */
  reset(): void {
    this.offset = 0;
  }

  /** What was written, as a view; valid until the writer is used again. */
  finish(): Buffer {
    return this.buffer.subarray(0, this.offset);
  }

  /** What was written, in a buffer of its own. */
  copy(): Buffer {
    const copy = Buffer.allocUnsafe(this.offset);
    this.buffer.copy(copy, 0, 0, this.offset);
    return copy;
  }

  error(detail: string): WireError {
    return new WireError(detail, this.offset);
  }

  /** Makes room for `count` bytes, counts them as written and returns where they start. */
  private room(count: number): number {
    const at = this.offset;
    if (at + count > this.buffer.length) this.grow(at + count);
    this.offset = at + count;
    return at;
  }

  private grow(least: number): void {
    const grown = Buffer.allocUnsafe(Math.max(least, this.buffer.length * 2));
    this.buffer.copy(grown, 0, 0, this.offset);
    this.buffer = grown;
  }

  /** Leaves four bytes for a length or checksum and returns where they are. */
  reserveI32(): number {
    return this.room(4);
  }

  /** Writes an int32 over bytes written before. */
  patchI32(at: number, value: number): void {
    this.buffer.writeInt32BE(value, at);
  }

  bool(value: boolean): void {
    this.put8(value ? 1 : 0);
  }

  i8(value: number): void {
    if ((value << 24) >> 24 !== value) throw this.notA('int8', value);
    this.put8(value);
  }

  i16(value: number): void {
    if ((value << 16) >> 16 !== value) throw this.notA('int16', value);
    this.put16(value);
  }

  u16(value: number): void {
    if ((value & 0xffff) !== value) throw this.notA('uint16', value);
    this.put16(value);
  }

  private put8(value: number): void {
    // The room first: growing replaces the buffer.
    const at = this.room(1);
    this.buffer[at] = value;
  }

  private put16(value: number): void {
    const at = this.room(2);
    const { buffer } = this;
    buffer[at] = value >> 8;
    buffer[at + 1] = value;
  }

  i32(value: number): void {
    if ((value | 0) !== value) throw this.notA('int32', value);
    this.put32(value);
  }

  u32(value: number): void {
    if (value >>> 0 !== value) throw this.notA('uint32', value);
    this.put32(value);
  }

  private put32(value: number): void {
    const at = this.room(4);
    const { buffer } = this;
    buffer[at] = value >> 24;
    buffer[at + 1] = value >> 16;
    buffer[at + 2] = value >> 8;
    buffer[at + 3] = value;
  }

  i64(value: bigint): void {
    if (typeof value !== 'bigint') throw this.notA('int64', value);
    if (value >= -SAFE && value <= SAFE) {
      // Small values go through a double: exact, and cheaper than shifting bigints.
      const whole = Number(value);
      const high = Math.floor(whole / 0x1_0000_0000);
      this.put32(high);
      this.put32(whole - high * 0x1_0000_0000);
      return;
    }
    if (value < INT64_MIN || value > INT64_MAX) throw this.notA('int64', value);
    const at = this.room(8);
    this.buffer.writeBigInt64BE(value, at);
  }

  f64(value: number): void {
    const at = this.room(8);
    this.buffer.writeDoubleBE(value, at);
  }

  /** 0 to 2^32 - 1. */
  uvarint(value: number): void {
    if (value >>> 0 !== value) throw this.notA('uvarint', value);
    let left = value;
    while (left > 0x7f) {
      this.put8((left & 0x7f) | 0x80);
      left >>>= 7;
    }
    this.put8(left);
  }

  varint(value: number): void {
    if ((value | 0) !== value) throw this.notA('varint', value);
    this.uvarint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  varlong(value: bigint): void {
    if (value < INT64_MIN || value > INT64_MAX) throw this.notA('varlong', value);
    let left = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (left > 0x7fn) {
      this.put8(Number(left & 0x7fn) | 0x80);
      left >>= 7n;
    }
    this.put8(Number(left));
  }

  uuid(value: string): void {
    const at = this.room(16);
    const written = isUuid(value) ? this.buffer.write(value, at, 'base64url') : 0;
    if (written !== 16) throw this.notA('uuid', value);
  }

  str(value: string): void {
    if (typeof value !== 'string') throw this.notA('string', value);
    const start = this.room(2);
    const length = this.text(value);
    this.buffer.writeInt16BE(length, start);
  }

  nullableStr(value: string | null): void {
    if (value === null) this.i16(-1);
    else this.str(value);
  }

  compactStr(value: string): void {
    if (typeof value !== 'string') throw this.notA('string', value);
    const start = this.offset;
    // While the text is short and ASCII its length is known before it is looked at.
    if (value.length <= SHORT_STRING) {
      this.uvarint(value.length + 1);
      if (this.ascii(value)) return;
      this.offset = start;
    }
    const length = Buffer.byteLength(value);
    this.uvarint(length + 1);
    this.text(value);
  }

  compactNullableStr(value: string | null): void {
    if (value === null) this.uvarint(0);
    else this.compactStr(value);
  }

  /** Writes the text alone and returns its length in bytes. */
  private text(value: string): number {
    if (value.length <= SHORT_STRING && this.ascii(value)) return value.length;
    const length = Buffer.byteLength(value);
    if (length > STRING_BYTES_MAX) {
      throw this.error(`A string of ${length} bytes, at most ${STRING_BYTES_MAX} are allowed`);
    }
    const at = this.room(length);
    this.buffer.write(value, at, length, 'utf8');
    return length;
  }

  /** Writes the text if it is ASCII; otherwise writes nothing and returns false. */
  private ascii(value: string): boolean {
    const at = this.room(value.length);
    const { buffer } = this;
    for (let next = 0; next < value.length; next++) {
      const code = value.charCodeAt(next);
      if (code > 0x7f) {
        this.offset = at;
        return false;
      }
      buffer[at + next] = code;
    }
    return true;
  }

  bytes(value: Uint8Array): void {
    if (value === null) throw this.notA('byte array', value);
    this.i32(value.length);
    this.raw(value);
  }

  nullableBytes(value: Uint8Array | null): void {
    if (value === null) this.i32(-1);
    else this.bytes(value);
  }

  compactBytes(value: Uint8Array): void {
    if (value === null) throw this.notA('byte array', value);
    this.uvarint(value.length + 1);
    this.raw(value);
  }

  compactNullableBytes(value: Uint8Array | null): void {
    if (value === null) this.uvarint(0);
    else this.compactBytes(value);
  }

  /** Bytes as they are, without a length. */
  raw(value: Uint8Array): void {
    const at = this.room(value.length);
    this.buffer.set(value, at);
  }

  /** The count of an array; `null` is refused. */
  count(items: readonly unknown[]): void {
    if (items === null) throw this.notA('array', items);
    this.i32(items.length);
  }

  compactCount(items: readonly unknown[]): void {
    if (items === null) throw this.notA('array', items);
    this.uvarint(items.length + 1);
  }

  /** Begins a tagged field; give what it returns to {@link closeTag} after the value. */
  openTag(tag: number): number {
    this.uvarint(tag);
    return this.room(1);
  }

  /** Writes the size of a tagged field whose value has just been written. */
  closeTag(sizeAt: number): void {
    const start = sizeAt + 1;
    const size = this.offset - start;
    if (size <= 0x7f) {
      this.buffer[sizeAt] = size;
      return;
    }
    // The size takes more than the one byte kept for it: move the value up.
    const extra = Math.floor(Math.log2(size) / 7);
    this.room(extra);
    this.buffer.copyWithin(start + extra, start, start + size);
    const end = this.offset;
    this.offset = sizeAt;
    this.uvarint(size);
    this.offset = end;
  }

  private notA(type: string, value: unknown): WireError {
    return this.error(`Not a value of type ${type}: ${String(value)}`);
  }
}

function isUuid(value: string): boolean {
  return typeof value === 'string' && value.length === UUID_CHARACTERS && /^[\w-]+$/.test(value);
}
