import { expect } from 'chai';
import fc from 'fast-check';
import { crc32c } from '../../src/wire/crc32c.ts';
import type { RecordBatch } from '../../src/wire/record-batch.ts';
import { decodeRecordBatches, encodeRecordBatches } from '../../src/wire/record-batch.ts';
import { WireError } from '../../src/wire/wire-error.ts';

const bytes = fc.option(fc.uint8Array({ maxLength: 30 }).map((array) => Buffer.from(array)));
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n });

const batches = fc.array(
  fc.record(
    {
      baseOffset: int64,
      partitionLeaderEpoch: int32,
      compression: fc.constantFrom('none' as const, 'gzip' as const),
      timestampType: fc.constant('create' as const),
      transactional: fc.boolean(),
      control: fc.boolean(),
      deleteHorizon: fc.boolean(),
      lastOffsetDelta: int32,
      baseTimestamp: int64,
      maxTimestamp: int64,
      producerId: int64,
      producerEpoch: fc.integer({ min: -1, max: 32_767 }),
      baseSequence: int32,
      records: fc.array(
        fc.record(
          {
            offset: fc.nat(1000),
            timestamp: int64,
            key: bytes,
            value: bytes,
            headers: fc.array(
              fc.record({ key: fc.string(), value: bytes }, { noNullPrototype: true }),
              { maxLength: 2 },
            ),
          },
          { noNullPrototype: true },
        ),
        { maxLength: 4 },
      ),
    },
    { noNullPrototype: true },
  ),
  { maxLength: 3 },
);

describe('record batches (wire.md 3.4)', () => {
  it('decodeRecordBatches() gives back what encodeRecordBatches() wrote', () => {
    fc.assert(
      fc.property(batches, (drawn) => {
        const given: RecordBatch[] = drawn.map((batch) => ({
          ...batch,
          records: batch.records.map((record) => ({
            ...record,
            offset: batch.baseOffset + BigInt(record.offset),
          })),
        }));
        expect(decodeRecordBatches(encodeRecordBatches(given))).to.deep.equal(given);
      }),
    );
  });

  it('encodeRecordBatches() fills in what a producer without a transaction would write', () => {
    const key = Buffer.from('k');
    const records = [
      { offset: 5n, timestamp: 2000n, key, value: null, headers: [] },
      { offset: 7n, timestamp: 1000n, key, value: key, headers: [] },
    ];
    const [batch] = decodeRecordBatches(encodeRecordBatches([{ records }]));
    expect(batch).to.deep.equal({
      baseOffset: 5n,
      partitionLeaderEpoch: -1,
      compression: 'none',
      timestampType: 'create',
      transactional: false,
      control: false,
      deleteHorizon: false,
      lastOffsetDelta: 2,
      baseTimestamp: 2000n,
      maxTimestamp: 2000n,
      producerId: -1n,
      producerEpoch: -1,
      baseSequence: -1,
      records,
    });
  });

  it('decodeRecordBatches() refuses an unfinished batch at the end, or ignores it when told', () => {
    const record = { offset: 0n, timestamp: 1n, key: null, value: null, headers: [] };
    const whole = encodeRecordBatches([{ records: [record] }]);
    for (let cut = 1; cut < whole.length; cut++) {
      const stream = Buffer.concat([whole, whole.subarray(0, cut)]);
      expect(() => decodeRecordBatches(stream), `${cut} bytes`).to.throw(WireError, '[1]');
      expect(decodeRecordBatches(stream, 'ignore').length, `${cut} bytes`).to.equal(1);
    }
  });

  it('decodeRecordBatches() refuses a flipped bit anywhere behind the checksum', () => {
    const record = { offset: 0n, timestamp: 1n, key: Buffer.from('k'), value: null, headers: [] };
    const whole = encodeRecordBatches([{ records: [record] }]);
    for (let at = 16; at < whole.length; at++) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8((flipped[at] ?? 0) ^ 0x10, at);
      expect(() => decodeRecordBatches(flipped), `byte ${at}`).to.throw(WireError);
    }
  });

  it('decodeRecordBatches() stops unpacking a small block that would become huge', () => {
    const value = Buffer.alloc(70 * 1024 * 1024);
    const record = { offset: 0n, timestamp: 1n, key: null, value, headers: [] };
    const packed = encodeRecordBatches([{ compression: 'gzip', records: [record] }]);
    expect(packed.length).to.be.lessThan(100_000);
    expect(() => decodeRecordBatches(packed)).to.throw(WireError, 'do not unpack');
  });

  it('names the compressions that are not supported', () => {
    for (const compression of ['snappy', 'lz4', 'zstd'] as const) {
      const encode = () => encodeRecordBatches([{ compression, records: [] }]);
      expect(encode).to.throw(WireError, `Compression ${compression} is not supported`);
    }
  });

  it('crc32c() gives the check value of the Castagnoli polynomial', () => {
    expect(crc32c(Buffer.from('123456789'))).to.equal(0xe306_9283);
    expect(crc32c(Buffer.from('x123456789y'), 1, 10)).to.equal(0xe306_9283);
  });
});
