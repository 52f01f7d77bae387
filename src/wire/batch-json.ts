import type { Json, JsonObject } from './json.ts';
import { bigintOf, isObject } from './json.ts';
import type { LogRecord, RecordBatch, RecordBatchInput } from './record-batch.ts';
import { WireError } from './wire-error.ts';

/** A record batch as JSON, with the conventions of `json.ts`. */
export function batchToJson(batch: RecordBatch): JsonObject {
  return {
    ...batch,
    baseOffset: batch.baseOffset.toString(),
    baseTimestamp: batch.baseTimestamp.toString(),
    maxTimestamp: batch.maxTimestamp.toString(),
    producerId: batch.producerId.toString(),
    records: batch.records.map(recordToJson),
  };
}

function recordToJson(record: LogRecord): JsonObject {
  return {
    offset: record.offset.toString(),
    timestamp: record.timestamp.toString(),
    key: base64(record.key),
    value: base64(record.value),
    headers: record.headers.map(({ key, value }) => ({ key, value: base64(value) })),
  };
}

function base64(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.toString('base64');
}

/** A batch to encode, from JSON as {@link batchToJson} makes it; what is left out has its default. */
export function batchFromJson(json: Json): RecordBatchInput {
  const batch = objectOf(json, 'batch');
  const records = listOf(batch['records'] ?? []).map(recordFromJson);
  const whole: Record<string, unknown> = { ...batch, records };
  for (const name of ['baseOffset', 'baseTimestamp', 'maxTimestamp', 'producerId']) {
    if (batch[name] !== undefined) whole[name] = bigintOf(batch[name]);
  }
  return whole as RecordBatchInput;
}

function recordFromJson(json: Json): LogRecord {
  const record = objectOf(json, 'record');
  return {
    offset: bigintOf(record['offset']),
    timestamp: bigintOf(record['timestamp']),
    key: bytesOf(record['key']),
    value: bytesOf(record['value']),
    headers: listOf(record['headers'] ?? []).map((header) => {
      const { key, value } = objectOf(header, 'header');
      return { key: String(key), value: bytesOf(value) };
    }),
  };
}

function bytesOf(json: Json | undefined): Buffer | null {
  return typeof json === 'string' ? Buffer.from(json, 'base64') : null;
}

function objectOf(json: Json, what: string): JsonObject {
  if (!isObject(json)) throw new WireError(`Not a ${what}: ${JSON.stringify(json)}`, 0);
  return json;
}

function listOf(json: Json): readonly Json[] {
  if (!Array.isArray(json)) throw new WireError(`Not a list: ${JSON.stringify(json)}`, 0);
  return json;
}
