import { expect } from 'chai';
import fc from 'fast-check';
import { ARRAY_ITEMS_MAX, Reader, TAGS_MAX, ZERO_UUID } from '../../src/wire/reader.ts';
import { WireError } from '../../src/wire/wire-error.ts';
import { Writer } from '../../src/wire/writer.ts';

function written(write: (writer: Writer) => void): Buffer {
  // One byte to begin with, so that every test also grows the buffer.
  const writer = new Writer(1);
  write(writer);
  return writer.copy();
}

function reading(hex: string): Reader {
  return new Reader(Buffer.from(hex, 'hex'));
}

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

/** A primitive by its name in Reader and Writer, with the values it can hold. */
const primitives: readonly [name: string, values: fc.Arbitrary<unknown>][] = [
  ['bool', fc.boolean()],
  ['i8', fc.integer({ min: -128, max: 127 })],
  ['i16', fc.integer({ min: -32_768, max: 32_767 })],
  ['u16', fc.nat(65_535)],
  ['i32', int32],
  ['u32', fc.nat(2 ** 32 - 1)],
  ['i64', int64],
  ['f64', fc.double()],
  ['uvarint', fc.nat(2 ** 31 - 1)],
  ['varint', int32],
  ['varlong', int64],
  ['str', fc.string({ unit: 'grapheme' })],
  ['nullableStr', fc.option(fc.string())],
  ['compactStr', fc.string({ unit: 'grapheme' })],
  ['compactNullableStr', fc.option(fc.string({ maxLength: 300, size: 'max' }))],
  ['bytes', fc.uint8Array().map((bytes) => Buffer.from(bytes))],
  ['nullableBytes', fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes)))],
  ['compactBytes', fc.uint8Array().map((bytes) => Buffer.from(bytes))],
  ['compactNullableBytes', fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes)))],
];

type Primitives = Readonly<Record<string, (value?: unknown) => unknown>>;

describe('Reader and Writer', () => {
  for (const [name, values] of primitives) {
    it(`${name}() gives back what was written, and needs every byte of it`, () => {
      fc.assert(
        fc.property(values, (value) => {
          const bytes = written((writer) => (writer as unknown as Primitives)[name]?.(value));
          const reader = new Reader(bytes);
          expect((reader as unknown as Primitives)[name]?.()).to.deep.equal(value);
          expect(reader.remaining).to.equal(0);
          const cut = new Reader(bytes.subarray(0, -1));
          expect(() => (cut as unknown as Primitives)[name]?.()).to.throw(WireError);
        }),
      );
    });
  }

  it('Reader.uvarint() takes one that is longer than needed, not one beyond 31 bits (1.3)', () => {
    expect(reading('8200').uvarint()).to.equal(2);
    expect(reading('ffffffff07').uvarint()).to.equal(2 ** 31 - 1);
    for (const hex of ['ffffffff08', 'ffffffff0f', '808080808000', '8080808080']) {
      expect(() => reading(hex).uvarint(), hex).to.throw(WireError, 'more than 31 bits');
    }
  });

  it('Reader.varint() and varlong() end with their fifth and tenth byte', () => {
    expect(reading('ffffffff0f').varint()).to.equal(-(2 ** 31));
    expect(() => reading('ffffffffff01').varint()).to.throw(WireError, 'more than five bytes');
    expect(reading('ffffffffffffffffff01').varlong()).to.equal(-(2n ** 63n));
    expect(() => reading('ffffffffffffffffffff01').varlong()).to.throw(WireError, 'ten bytes');
  });

  it('Reader takes any negative length of a nullable value as null (1.3)', () => {
    expect(reading('fffe').nullableStr()).to.equal(null);
    expect(reading('80000000').nullableBytes()).to.equal(null);
    expect(reading('fffffffe').nullableCount()).to.be.lessThan(0);
    expect(() => reading('ffff').str()).to.throw(WireError, 'null where null is not allowed');
    expect(() => reading('ffffffff').bytes()).to.throw(WireError, 'null where null is not allowed');
    expect(() => reading('ffffffff').count()).to.throw(WireError, 'null where null is not allowed');
  });

  it('Reader refuses counts that the bytes left cannot hold, before allocating (1.6)', () => {
    expect(reading('00000002aaaa').count()).to.equal(2);
    expect(() => reading('00000003aaaa').count()).to.throw(WireError, 'claims 3 items, 2 bytes');
    expect(() => reading('7fffffff00').count()).to.throw(WireError, 'claims 2147483647 items');
    expect(() => reading('ffffffff0700').compactCount()).to.throw(WireError, '2147483646 items');
    expect(() => reading('7fffffff00').bytes()).to.throw(WireError, '2147483647 bytes wanted');
    expect(() => reading('ffffffff07').tagCount()).to.throw(WireError, 'tagged fields');
  });

  it('Reader refuses more than a million items and ten thousand tags, whatever the room (1.6)', () => {
    const room = Buffer.alloc(ARRAY_ITEMS_MAX + 10);
    room.writeInt32BE(ARRAY_ITEMS_MAX, 0);
    expect(new Reader(room).count()).to.equal(ARRAY_ITEMS_MAX);
    room.writeInt32BE(ARRAY_ITEMS_MAX + 1, 0);
    expect(() => new Reader(room).count()).to.throw(WireError, 'claims 1000001 items');
    const tags = written((writer) => writer.uvarint(TAGS_MAX + 1));
    const long = Buffer.concat([tags, Buffer.alloc(2 * TAGS_MAX)]);
    expect(() => new Reader(long).tagCount()).to.throw(WireError, 'claims 10001 tagged fields');
  });

  it('Reader.str() puts U+FFFD for what is not UTF-8, one for a surrogate (1.3)', () => {
    expect(reading('0002fffe').str()).to.equal('\ufffd\ufffd');
    expect(reading('0003eda080').str()).to.equal('\ufffd');
    expect(reading('0003efbbbf').str()).to.equal('\ufeff');
  });

  it('Reader refuses a string that U+FFFD makes too long to be written again (1.3)', () => {
    const bytes = (length: number) =>
      Buffer.concat([Buffer.of(0x7f, 0xff), Buffer.alloc(length, 0xff)]);
    expect(() => new Reader(bytes(32_767)).str()).to.throw(WireError, '98301 bytes');
    const most = Buffer.concat([Buffer.of(0x2a, 0xaa), Buffer.alloc(10_922, 0xff)]);
    const text = new Reader(most).str();
    expect(written((writer) => writer.str(text))).to.have.length(32_768);
  });

  it('Reader.bytes() gives a view, not a copy', () => {
    const buffer = Buffer.from('00000002aabb', 'hex');
    const view = new Reader(buffer).bytes();
    buffer[4] = 0xcc;
    expect(view.toString('hex')).to.equal('ccbb');
  });

  it('uuids are 22 characters of URL-safe base64', () => {
    const text = 'S4KYo2iHDtqP7aVz1MZ6MA';
    const bytes = written((writer) => writer.uuid(text));
    expect(bytes.toString('hex')).to.equal('4b8298a368870eda8feda573d4c67a30');
    expect(new Reader(bytes).uuid()).to.equal(text);
    expect(new Reader(Buffer.alloc(16)).uuid()).to.equal(ZERO_UUID);
    for (const bad of ['', 'x', `${text}A`, 'S4KYo2iHDtqP7aVz1MZ6M+', 'S4KYo2iHDtqP7aVz1MZ6M=']) {
      expect(() => written((writer) => writer.uuid(bad)), bad).to.throw(WireError, 'uuid');
    }
  });

  it('Writer refuses numbers that their type cannot hold', () => {
    const refused: readonly ((writer: Writer) => void)[] = [
      (writer) => writer.i8(128),
      (writer) => writer.i16(-32_769),
      (writer) => writer.u16(65_536),
      (writer) => writer.u16(-1),
      (writer) => writer.i32(2 ** 31),
      (writer) => writer.i32(Number.NaN),
      (writer) => writer.u32(-1),
      (writer) => writer.i64(2n ** 63n),
      (writer) => writer.uvarint(-1),
      (writer) => writer.varlong(2n ** 63n),
      (writer) => writer.str('x'.repeat(32_768)),
      (writer) => writer.compactStr('é'.repeat(16_384)),
    ];
    for (const write of refused) expect(() => written(write), String(write)).to.throw(WireError);
  });
});
