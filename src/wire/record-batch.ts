import { gunzipSync, gzipSync } from 'node:zlib';
import { crc32c } from './crc32c.ts';
import { Reader } from './reader.ts';
import { inside, WireError } from './wire-error.ts';
import { Writer } from './writer.ts';

export type Compression = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';

export type LogRecord = {
  readonly offset: bigint;
  /** Wall clock, ms. */
  readonly timestamp: bigint;
  readonly key: Buffer | null;
  /** Null = tombstone. */
  readonly value: Buffer | null;
  readonly headers: readonly { readonly key: string; readonly value: Buffer | null }[];
};

/** A batch of records with magic 2. Source: wire.md 3.4. */
export type RecordBatch = {
  readonly baseOffset: bigint;
  readonly partitionLeaderEpoch: number;
  readonly compression: Compression;
  /** With `append` every record has the batch's `maxTimestamp`. */
  readonly timestampType: 'create' | 'append';
  readonly transactional: boolean;
  /** It holds one marker of a transaction's end instead of records. */
  readonly control: boolean;
  /** `baseTimestamp` is the time from which tombstones may go. */
  readonly deleteHorizon: boolean;
  /** Of the last record when the batch was made; can exceed what compaction left. */
  readonly lastOffsetDelta: number;
  readonly baseTimestamp: bigint;
  readonly maxTimestamp: bigint;
  /** -1 = none, as the next two. */
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly records: readonly LogRecord[];
};

/** What a batch is made of; what is left out is as a producer without a transaction would have it. */
export type RecordBatchInput = Partial<RecordBatch> & Pick<RecordBatch, 'records'>;

const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
const COMPRESSION_BITS = 0x07;
const APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
const DELETE_HORIZON = 0x40;

const MAGIC = 2;
/** Base offset and length. */
const PREFIX_BYTES = 12;
/** From leader epoch to record count. */
const FIXED_BYTES = 49;
const CHECKED_FROM = 21;
const NO_ID = -1;
/** The most that the records of one batch may unpack to. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Reads a `records` field: batches one after the other. Keys and values are views of the bytes.
 *
 * @param tail what to do with an unfinished batch at the end. A fetch may well end with one: `ignore` it there.
 * @throws WireError for another magic, a checksum that does not fit, records that do not parse, leave bytes over
 *   or unpack to more than 64 MiB, and for snappy, lz4 and zstd, which are not supported.
 */
export function decodeRecordBatches(
  bytes: Buffer,
  tail: 'refuse' | 'ignore' = 'refuse',
): RecordBatch[] {
  const reader = new Reader(bytes);
  const batches: RecordBatch[] = [];
  try {
    while (reader.remaining > 0) {
      if (tail === 'ignore' && isUnfinished(reader)) break;
      batches.push(decodeBatch(reader));
    }
  } catch (error) {
    throw inside(error, `[${batches.length}]`);
  }
  return batches;
}

function isUnfinished(reader: Reader): boolean {
  const { buffer, offset, remaining } = reader;
  return remaining < PREFIX_BYTES || remaining - PREFIX_BYTES < buffer.readInt32BE(offset + 8);
}

function decodeBatch(reader: Reader): RecordBatch {
  const start = reader.offset;
  const baseOffset = reader.i64();
  const length = reader.i32();
  if (length < FIXED_BYTES)
    throw reader.error(`A batch claims ${length} bytes, it has ${FIXED_BYTES}`);
  const end = reader.offset + length;
  if (length > reader.remaining) {
    throw reader.error(`A batch claims ${length} bytes, ${reader.remaining} are left`);
  }
  const partitionLeaderEpoch = reader.i32();
  const magic = reader.i8();
  if (magic !== MAGIC) throw reader.error(`A batch has magic ${magic}, ${MAGIC} wanted`);
  const claimed = reader.u32();
  const actual = crc32c(reader.buffer, start + CHECKED_FROM, end);
  if (claimed !== actual)
    throw reader.error(`A batch has checksum ${actual}, it claims ${claimed}`);
  const attributes = reader.i16();
  const fixed = {
    baseOffset,
    partitionLeaderEpoch,
    compression: compressionOf(attributes, reader),
    timestampType: attributes & APPEND_TIME ? ('append' as const) : ('create' as const),
    transactional: (attributes & TRANSACTIONAL) !== 0,
    control: (attributes & CONTROL) !== 0,
    deleteHorizon: (attributes & DELETE_HORIZON) !== 0,
    lastOffsetDelta: reader.i32(),
    baseTimestamp: reader.i64(),
    maxTimestamp: reader.i64(),
    producerId: reader.i64(),
    producerEpoch: reader.i16(),
    baseSequence: reader.i32(),
  };
  const count = reader.i32();
  const block = reader.view(end - reader.offset);
  const records = decodeRecords(unpack(fixed.compression, block), count, fixed);
  return { ...fixed, records };
}

function compressionOf(attributes: number, reader: Reader): Compression {
  const compression = COMPRESSIONS[attributes & COMPRESSION_BITS];
  if (compression === undefined) {
    throw reader.error(`A batch has compression ${attributes & COMPRESSION_BITS}, which is none`);
  }
  return compression;
}

function unpack(compression: Compression, block: Buffer): Buffer {
  if (compression === 'none') return block;
  if (compression !== 'gzip') throw unsupported(compression);
  try {
    return gunzipSync(block, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch (cause) {
    throw new WireError(`The records of a batch do not unpack: ${String(cause)}`, 0);
  }
}

function unsupported(compression: Compression): WireError {
  return new WireError(`Compression ${compression} is not supported, only none and gzip are`, 0);
}

function decodeRecords(
  block: Buffer,
  count: number,
  batch: Omit<RecordBatch, 'records'>,
): LogRecord[] {
  const reader = new Reader(block);
  // A record takes seven bytes at least.
  if (count < 0 || count > reader.remaining) {
    throw reader.error(`A batch claims ${count} records in ${reader.remaining} bytes`);
  }
  const records: LogRecord[] = [];
  try {
    while (records.length < count) records.push(decodeRecord(reader, batch));
  } catch (error) {
    throw inside(error, `records[${records.length}]`);
  }
  if (reader.remaining > 0)
    throw reader.error(`${reader.remaining} bytes are left after the records`);
  return records;
}

function decodeRecord(reader: Reader, batch: Omit<RecordBatch, 'records'>): LogRecord {
  const length = reader.varint();
  if (length < 0 || length > reader.remaining) {
    throw reader.error(`A record claims ${length} bytes, ${reader.remaining} are left`);
  }
  const end = reader.offset + length;
  reader.i8();
  const timestampDelta = reader.varlong();
  const offsetDelta = reader.varint();
  const key = nullable(reader);
  const value = nullable(reader);
  const headers = decodeHeaders(reader);
  if (reader.offset !== end) throw reader.error(`A record should end at byte ${end}`);
  const { baseOffset, baseTimestamp, maxTimestamp, timestampType } = batch;
  return {
    offset: BigInt.asIntN(64, baseOffset + BigInt(offsetDelta)),
    timestamp:
      timestampType === 'append' ? maxTimestamp : BigInt.asIntN(64, baseTimestamp + timestampDelta),
    key,
    value,
    headers,
  };
}

function nullable(reader: Reader): Buffer | null {
  const length = reader.varint();
  if (length < -1) throw reader.error(`A length of ${length}`);
  return length === -1 ? null : reader.view(length);
}

function decodeHeaders(reader: Reader): LogRecord['headers'] {
  const count = reader.varint();
  if (count < 0 || count > reader.remaining) {
    throw reader.error(`A record claims ${count} headers, ${reader.remaining} bytes are left`);
  }
  const headers: { key: string; value: Buffer | null }[] = [];
  while (headers.length < count) {
    const key = reader.view(reader.varint()).toString('utf8');
    headers.push({ key, value: nullable(reader) });
  }
  return headers;
}

/**
 * Writes batches one after the other, as a `records` field or a piece of a log holds them.
 *
 * @throws WireError for snappy, lz4 and zstd.
 */
export function encodeRecordBatches(batches: readonly RecordBatchInput[]): Buffer {
  const writer = new Writer();
  for (const batch of batches) encodeBatch(writer, batch);
  return writer.finish();
}

function encodeBatch(writer: Writer, input: RecordBatchInput): void {
  const batch = complete(input);
  const start = writer.offset;
  writer.i64(batch.baseOffset);
  const lengthAt = writer.reserveI32();
  writer.i32(batch.partitionLeaderEpoch);
  writer.i8(MAGIC);
  const checksumAt = writer.reserveI32();
  writer.i16(attributesOf(batch));
  writer.i32(batch.lastOffsetDelta);
  writer.i64(batch.baseTimestamp);
  writer.i64(batch.maxTimestamp);
  writer.i64(batch.producerId);
  writer.i16(batch.producerEpoch);
  writer.i32(batch.baseSequence);
  writer.i32(batch.records.length);
  writer.raw(pack(batch.compression, encodeRecords(batch)));
  writer.patchI32(lengthAt, writer.offset - start - PREFIX_BYTES);
  // Signed: the same four bytes.
  writer.patchI32(checksumAt, crc32c(writer.finish(), start + CHECKED_FROM) | 0);
}

function complete(input: RecordBatchInput): RecordBatch {
  const { records, baseOffset = records[0]?.offset ?? 0n } = input;
  const last = records.at(-1);
  return {
    baseOffset,
    partitionLeaderEpoch: NO_ID,
    compression: 'none',
    timestampType: 'create',
    transactional: false,
    control: false,
    deleteHorizon: false,
    lastOffsetDelta: last === undefined ? 0 : Number(last.offset - baseOffset),
    baseTimestamp: records[0]?.timestamp ?? -1n,
    maxTimestamp: latestOf(records),
    producerId: BigInt(NO_ID),
    producerEpoch: NO_ID,
    baseSequence: NO_ID,
    ...input,
  };
}

function latestOf(records: readonly LogRecord[]): bigint {
  let latest = -1n;
  for (const { timestamp } of records) if (timestamp > latest) latest = timestamp;
  return latest;
}

function attributesOf(batch: RecordBatch): number {
  return (
    COMPRESSIONS.indexOf(batch.compression) |
    (batch.timestampType === 'append' ? APPEND_TIME : 0) |
    (batch.transactional ? TRANSACTIONAL : 0) |
    (batch.control ? CONTROL : 0) |
    (batch.deleteHorizon ? DELETE_HORIZON : 0)
  );
}

function pack(compression: Compression, block: Buffer): Buffer {
  if (compression === 'none') return block;
  if (compression !== 'gzip') throw unsupported(compression);
  return gzipSync(block);
}

function encodeRecords(batch: RecordBatch): Buffer {
  const writer = new Writer();
  const body = new Writer();
  for (const record of batch.records) {
    body.reset();
    body.i8(0);
    body.varlong(record.timestamp - batch.baseTimestamp);
    body.varint(Number(record.offset - batch.baseOffset));
    putNullable(body, record.key);
    putNullable(body, record.value);
    body.varint(record.headers.length);
    for (const { key, value } of record.headers) {
      putNullable(body, Buffer.from(key));
      putNullable(body, value);
    }
    writer.varint(body.offset);
    writer.raw(body.finish());
  }
  return writer.finish();
}

function putNullable(writer: Writer, bytes: Buffer | null): void {
  writer.varint(bytes === null ? -1 : bytes.length);
  if (bytes !== null) writer.raw(bytes);
}
