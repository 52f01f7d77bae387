import { WireError } from './wire-error.ts';

/** An array may not claim more items than this, whatever the room left (wire.md 1.6). */
export const ARRAY_ITEMS_MAX = 1_000_000;
/** A struct may not claim more tagged fields than this (wire.md 1.6). */
export const TAGS_MAX = 10_000;
/** In UTF-8 bytes, in either form of a string (wire.md 1.3). */
export const STRING_BYTES_MAX = 32_767;
/** The uuid of sixteen zero bytes: "none". */
export const ZERO_UUID = 'AAAAAAAAAAAAAAAAAAAAAA';

const UUID_BYTES = 16;
/** Of U+FFFD in UTF-8. */
const REPLACEMENT_BYTES = 3;
/**
 * Up to this length a string is put together byte by byte: a call into native code costs more. Beyond it the
 * engine would only note the pieces, and pay for joining them when the string is looked up.
 */
const SHORT_STRING = 12;

/**
 * Reads the primitive types of the protocol from a buffer, front to back.
 *
 * Every read checks that the bytes are there and throws {@link WireError} otherwise; a claimed length is held
 * against the bytes left before anything is made of it. Bytes come out as views of the buffer, never copied.
 * Lenient where Kafka is: any negative length of a nullable value is null, a varint may be longer than needed,
 * and bytes that are not UTF-8 become U+FFFD. Stricter: a varint beyond 31 bits is refused, and a string that would
 * be too long with U+FFFD in it: it could be neither stored nor answered.
 *
 * Source: wire.md 1.3, 1.4, 1.6.
 */
export class Reader {
  readonly buffer: Buffer;
  offset: number;
  readonly end: number;

  constructor(buffer: Buffer, offset = 0, end: number = buffer.length) {
    this.buffer = buffer;
    this.offset = offset;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.offset;
  }

  /** Takes `count` bytes and returns where they start. */
  private take(count: number): number {
    const at = this.offset;
    if (count > this.end - at) throw this.error(`${count} bytes wanted, ${this.end - at} left`);
    this.offset = at + count;
    return at;
  }

  error(detail: string): WireError {
    return new WireError(detail, this.offset);
  }

  bool(): boolean {
    return this.i8() !== 0;
  }

  i8(): number {
    return ((this.buffer[this.take(1)] as number) << 24) >> 24;
  }

  u8(): number {
    return this.buffer[this.take(1)] as number;
  }

  i16(): number {
    return (this.u16() << 16) >> 16;
  }

  u16(): number {
    const at = this.take(2);
    const { buffer } = this;
    return ((buffer[at] as number) << 8) | (buffer[at + 1] as number);
  }

  i32(): number {
    const at = this.take(4);
    const { buffer } = this;
    return (
      ((buffer[at] as number) << 24) |
      ((buffer[at + 1] as number) << 16) |
      ((buffer[at + 2] as number) << 8) |
      (buffer[at + 3] as number)
    );
  }

  u32(): number {
    return this.i32() >>> 0;
  }

  i64(): bigint {
    const high = this.i32();
    const low = this.u32();
    // Small values are made from a double: exact, and cheaper than shifting bigints.
    if (high >= -0x20_0000 && high < 0x20_0000) return BigInt(high * 0x1_0000_0000 + low);
    return (BigInt(high) << 32n) | BigInt(low);
  }

  f64(): number {
    return this.buffer.readDoubleBE(this.take(8));
  }

  /** 0 to 2^31 - 1, in at most five bytes. */
  uvarint(): number {
    const first = this.u8();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.u8();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    const last = this.u8();
    if (last > 7) throw this.error('A varint has more than 31 bits');
    return value | (last << 28);
  }

  /** Zig-zag, 32 bits; only inside record batches. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
    throw this.error('A varint has more than five bytes');
  }

  /** Zig-zag, 64 bits; only inside record batches. */
  varlong(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        const bits = BigInt.asUintN(64, value);
        return BigInt.asIntN(64, (bits >> 1n) ^ -(bits & 1n));
      }
    }
    throw this.error('A varlong has more than ten bytes');
  }

  /** As 22 characters of URL-safe base64. */
  uuid(): string {
    const at = this.take(UUID_BYTES);
    return this.buffer.toString('base64url', at, at + UUID_BYTES);
  }

  str(): string {
    const length = this.i16();
    if (length < 0) throw this.error('A string is null where null is not allowed');
    return this.text(length);
  }

  nullableStr(): string | null {
    const length = this.i16();
    return length < 0 ? null : this.text(length);
  }

  compactStr(): string {
    const length = this.uvarint() - 1;
    if (length < 0) throw this.error('A string is null where null is not allowed');
    return this.text(length);
  }

  compactNullableStr(): string | null {
    const length = this.uvarint() - 1;
    return length < 0 ? null : this.text(length);
  }

  private text(length: number): string {
    if (length > STRING_BYTES_MAX) {
      throw this.error(`A string of ${length} bytes, at most ${STRING_BYTES_MAX} are allowed`);
    }
    const at = this.take(length);
    const { buffer } = this;
    if (length > SHORT_STRING) return this.longText(at, length);
    let text = '';
    for (let next = at; next < at + length; next++) {
      const byte = buffer[next] as number;
      if (byte > 0x7f) return utf8(buffer, at, at + length);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** What replaces bad bytes is longer than they are: a text that could not be written again is refused here. */
  private longText(at: number, length: number): string {
    const text = utf8(this.buffer, at, at + length);
    if (length * REPLACEMENT_BYTES <= STRING_BYTES_MAX) return text;
    const bytes = Buffer.byteLength(text);
    if (bytes <= STRING_BYTES_MAX) return text;
    throw this.error(`A string of ${bytes} bytes, at most ${STRING_BYTES_MAX} are allowed`);
  }

  bytes(): Buffer {
    return this.view(this.i32());
  }

  nullableBytes(): Buffer | null {
    const length = this.i32();
    return length < 0 ? null : this.view(length);
  }

  compactBytes(): Buffer {
    return this.view(this.uvarint() - 1);
  }

  compactNullableBytes(): Buffer | null {
    const length = this.uvarint() - 1;
    return length < 0 ? null : this.view(length);
  }

  /** The next `length` bytes as a view. */
  view(length: number): Buffer {
    if (length < 0) throw this.error('Bytes are null where null is not allowed');
    const at = this.take(length);
    return this.buffer.subarray(at, at + length);
  }

  /** Number of items of an array that may not be null. */
  count(): number {
    return this.checkedCount(this.i32(), false);
  }

  /** Number of items; negative = null. */
  nullableCount(): number {
    return this.checkedCount(this.i32(), true);
  }

  compactCount(): number {
    return this.checkedCount(this.uvarint() - 1, false);
  }

  compactNullableCount(): number {
    return this.checkedCount(this.uvarint() - 1, true);
  }

  private checkedCount(count: number, nullable: boolean): number {
    if (count < 0 && !nullable) throw this.error('An array is null where null is not allowed');
    // Each item takes at least one byte, so a larger count cannot be true.
    if (count > this.remaining || count > ARRAY_ITEMS_MAX) {
      throw this.error(`An array claims ${count} items, ${this.remaining} bytes are left`);
    }
    return count;
  }

  /** Number of tagged fields that follow. */
  tagCount(): number {
    const count = this.uvarint();
    if (count > TAGS_MAX || count > this.remaining) {
      throw this.error(`A struct claims ${count} tagged fields, ${this.remaining} bytes are left`);
    }
    return count;
  }

  /** Reads the size of a tagged field and returns where its value ends. */
  tagEnd(): number {
    const size = this.uvarint();
    if (size > this.remaining)
      throw this.error(`A tag claims ${size} bytes, ${this.remaining} are left`);
    return this.offset + size;
  }

  /** Refuses a tagged field whose value did not end where its size said. */
  closeTag(end: number): void {
    if (this.offset !== end) throw this.error(`A tagged field should end at byte ${end}`);
  }

  /** Skips the value of a tagged field that nobody here knows. */
  skipTo(end: number): void {
    this.offset = end;
  }

  /** Skips a tag section of which no field is known. */
  skipTags(): void {
    for (let left = this.tagCount(); left > 0; left--) {
      this.uvarint();
      this.offset = this.tagEnd();
    }
  }
}

function utf8(buffer: Buffer, start: number, end: number): string {
  const text = buffer.toString('utf8', start, end);
  // A surrogate written as three bytes is one wrong character to Kafka and three to Node.
  if (text.includes('\ufffd\ufffd\ufffd')) {
    const joined = buffer
      .toString('latin1', start, end)
      .replace(/\xed[\xa0-\xbf][\x80-\xbf]/g, '\xef\xbf\xbd');
    return Buffer.from(joined, 'latin1').toString('utf8');
  }
  return text;
}
