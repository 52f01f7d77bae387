import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { javaHashCode, shardOf } from '../../machines/model/ids.ts';
import { groupHash, topicHash } from '../../machines/model/metadata-hash.ts';
import type { TopicMetadata } from '../../machines/model/topics.ts';
import type { ApiName } from '../wire/apis.ts';
import {
  apiByKey,
  apis,
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
} from '../wire/apis.ts';
import { batchFromJson, batchToJson } from '../wire/batch-json.ts';
import { crc32c } from '../wire/crc32c.ts';
import { FrameSplitter } from '../wire/frame.ts';
import type { RequestHeader } from '../wire/headers.ts';
import {
  encodeRequestFrame,
  encodeResponseFrame,
  readRequestHeader,
  readResponseHeader,
  responseHeaderVersion,
  writeRequestHeader,
  writeResponseHeader,
} from '../wire/headers.ts';
import type { Json, JsonObject } from '../wire/json.ts';
import { bigintOf, fromJson, isObject, toJson } from '../wire/json.ts';
import { murmur2, partitionOfKey } from '../wire/murmur2.ts';
import { Reader } from '../wire/reader.ts';
import { decodeRecordBatches, encodeRecordBatches } from '../wire/record-batch.ts';
import type { RecordType } from '../wire/records/record-types.ts';
import {
  decodeRecordKey,
  decodeRecordValue,
  encodeRecordKey,
  encodeRecordValue,
  peekRecordType,
  recordTypeOf,
  recordTypes,
} from '../wire/records/record-types.ts';
import type { AnyMessage } from '../wire/schema.ts';
import { WireError } from '../wire/wire-error.ts';
import { Writer } from '../wire/writer.ts';

/** The API keys whose requests and responses {@link runCodec} reads and writes, ascending. */
export function codecKeys(): number[] {
  return Object.values(apis)
    .filter((api) => api.request !== undefined)
    .map((api) => api.key)
    .sort((one, other) => one - other);
}

/**
 * Answers JSON lines, one by one and in order, until the input ends: messages, headers, frames, records and
 * batches to bytes and back, and hashes. A line that fails is answered with `{error: {class, message}}`.
 *
 * The questions are those of `test/vectors/README.md`.
 */
export async function runCodec(input: Readable, output: Writable): Promise<void> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    if (!output.write(`${JSON.stringify(answerLine(line))}\n`)) await once(output, 'drain');
  }
}

/** The answer to one line; never throws. */
export function answerLine(line: string): JsonObject {
  try {
    const question: Json = JSON.parse(line);
    if (!isObject(question)) throw new WireError('Not a JSON object', 0);
    const answer = answerTo(question);
    return question['id'] === undefined ? answer : { id: question['id'], ...answer };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { error: { class: name, message } };
  }
}

function answerTo(question: JsonObject): JsonObject {
  switch (question['op']) {
    case 'decode':
      return decode(question);
    case 'encode':
      return { hex: encode(question).toString('hex') };
    case 'record':
      return record(question);
    case 'partition': {
      const groupId = text(question, 'groupId');
      const partition = shardOf(groupId, whole(question, 'partitions'));
      return { hash: javaHashCode(groupId), partition };
    }
    case 'murmur2': {
      const key = bytes(question, 'hex');
      return {
        hash: murmur2(key),
        partition: partitionOfKey(key, whole(question, 'partitions', 1)),
      };
    }
    case 'crc32c':
      return { crc: crc32c(bytes(question, 'hex')) };
    case 'topicHash':
      return { hash: topicHash(topicOf(question['topic'])).toString() };
    case 'groupHash': {
      const hashes = Object.entries(objectOf(question['topics']));
      return {
        hash: groupHash(new Map(hashes.map(([name, hash]) => [name, bigintOf(hash)]))).toString(),
      };
    }
    case 'metadataHash': {
      const topics = listOf(question['topics']).map(topicOf);
      const hashes = new Map(topics.map((topic) => [topic.name, topicHash(topic)]));
      const each = [...hashes].map(([name, hash]): [string, Json] => [name, hash.toString()]);
      return { topics: Object.fromEntries(each), hash: groupHash(hashes).toString() };
    }
    default:
      throw new WireError(`Unknown op: ${JSON.stringify(question['op'])}`, 0);
  }
}

function decode(question: JsonObject): JsonObject {
  const hex = bytes(question, 'hex');
  const reader = new Reader(hex);
  switch (question['kind']) {
    case 'request': {
      const name = apiNameOf(question['api']);
      const version = whole(question, 'version');
      return shown(apis[name].request, version, decodeRequest(name, version, reader), reader);
    }
    case 'response': {
      const name = apiNameOf(question['api']);
      const version = whole(question, 'version');
      return shown(apis[name].response, version, decodeResponse(name, version, reader), reader);
    }
    case 'request-header': {
      const header = readRequestHeader(reader, whole(question, 'version') === 2 ? 2 : 1);
      return { json: headerJson(header), ...leftIn(reader) };
    }
    case 'response-header': {
      const { correlationId } = readResponseHeader(
        reader,
        whole(question, 'version') === 1 ? 1 : 0,
      );
      return { json: { correlationId }, ...leftIn(reader) };
    }
    case 'request-frame':
      return decodeRequestFrame(hex);
    case 'response-frame':
      return decodeResponseFrame(hex, question);
    case 'record-key':
      return decodeKey(reader);
    case 'record-value': {
      const recordType = recordTypeNamed(question['record']);
      const { version, value } = decodeRecordValue(recordType.name, reader);
      return { version, ...shown(recordType.value, version, value, reader) };
    }
    case 'batches':
      return { json: decodeRecordBatches(hex).map(batchToJson) };
    default:
      throw new WireError(`Unknown kind: ${JSON.stringify(question['kind'])}`, 0);
  }
}

function shown(
  of: AnyMessage | undefined,
  version: number,
  value: object,
  reader: Reader,
): JsonObject {
  return { json: toJson(of?.fields ?? {}, version, value), ...leftIn(reader) };
}

function leftIn(reader: Reader): JsonObject {
  return reader.remaining > 0 ? { left: reader.remaining } : {};
}

function headerJson(header: RequestHeader): JsonObject {
  return {
    requestApiKey: header.apiKey,
    requestApiVersion: header.apiVersion,
    correlationId: header.correlationId,
    clientId: header.clientId,
  };
}

function decodeRequestFrame(stream: Buffer): JsonObject {
  const [frame] = new FrameSplitter().push(stream);
  if (frame === undefined) return { incomplete: true };
  const reader = new Reader(frame);
  const header = readRequestHeader(reader);
  const api = apiByKey(header.apiKey);
  if (api === undefined) throw new WireError(`API key ${header.apiKey} is not known here`, 0);
  const about = { api: api.name, version: header.apiVersion, header: headerJson(header) };
  const isKnown = header.apiVersion >= api.minVersion && header.apiVersion <= api.maxVersion;
  // A broker answers this one anyway, without a look at the body.
  if (api.name === 'ApiVersions' && !isKnown) return { ...about, unsupportedVersion: true };
  const value = decodeRequest(api.name, header.apiVersion, reader);
  return { ...about, ...shown(api.request, header.apiVersion, value, reader) };
}

function decodeResponseFrame(stream: Buffer, question: JsonObject): JsonObject {
  const name = apiNameOf(question['api']);
  const version = whole(question, 'version');
  const [frame] = new FrameSplitter().push(stream);
  if (frame === undefined) return { incomplete: true };
  const reader = new Reader(frame);
  const headerVersion = responseHeaderVersion(apis[name].key, version);
  const { correlationId } = readResponseHeader(reader, headerVersion);
  const value = decodeResponse(name, version, reader);
  return {
    api: name,
    version,
    header: { correlationId },
    ...shown(apis[name].response, version, value, reader),
  };
}

function encode(question: JsonObject): Buffer {
  const { json } = question;
  const writer = new Writer();
  switch (question['kind']) {
    case 'request': {
      const name = apiNameOf(question['api']);
      const body = fromJson(apis[name].request?.fields ?? {}, json);
      encodeRequest(name, whole(question, 'version'), body, writer);
      return writer.finish();
    }
    case 'response': {
      const name = apiNameOf(question['api']);
      const body = fromJson(apis[name].response.fields, json);
      encodeResponse(name, whole(question, 'version'), body, writer);
      return writer.finish();
    }
    case 'request-header': {
      const header = objectOf(json);
      const apiKey = whole(header, 'requestApiKey');
      const apiVersion = whole(header, 'requestApiVersion');
      const version = whole(question, 'version') === 2 ? 2 : 1;
      writeRequestHeader(writer, { apiKey, apiVersion, ...idsOf(header) }, version);
      return writer.finish();
    }
    case 'response-header': {
      const version = whole(question, 'version') === 1 ? 1 : 0;
      writeResponseHeader(writer, whole(objectOf(json), 'correlationId'), version);
      return writer.finish();
    }
    case 'request-frame': {
      const name = apiNameOf(question['api']);
      const body = fromJson(apis[name].request?.fields ?? {}, json);
      const ids = idsOf(objectOf(question['header']));
      return encodeRequestFrame(name, whole(question, 'version'), ids, body);
    }
    case 'response-frame': {
      const name = apiNameOf(question['api']);
      const body = fromJson(apis[name].response.fields, json);
      const correlationId = whole(objectOf(question['header']), 'correlationId');
      return encodeResponseFrame(name, whole(question, 'version'), correlationId, body);
    }
    case 'record-key': {
      const { name, key } = recordTypeNamed(question['record']);
      return encodeRecordKey(name, fromJson(key.fields, json));
    }
    case 'record-value': {
      const { name, value } = recordTypeNamed(question['record']);
      const version = whole(question, 'version', value.maxVersion);
      return encodeRecordValue(name, version, fromJson(value.fields, json));
    }
    case 'batches':
      return encodeRecordBatches(listOf(json).map(batchFromJson));
    default:
      throw new WireError(`Unknown kind: ${JSON.stringify(question['kind'])}`, 0);
  }
}

function idsOf(header: JsonObject): Pick<RequestHeader, 'correlationId' | 'clientId'> {
  const clientId = header['clientId'] === null ? null : text(header, 'clientId');
  return { correlationId: whole(header, 'correlationId'), clientId };
}

/** What a loader makes of a record: an unknown type is to be told from one that is broken (LG-6). */
function record(question: JsonObject): JsonObject {
  const { type, record: name, json } = decodeKey(new Reader(bytes(question, 'key')));
  const about = { type, record: name, key: json } as JsonObject;
  if (question['value'] === null || question['value'] === undefined)
    return { ...about, value: null };
  const recordType = recordTypeNamed(name);
  const { version, value } = decodeRecordValue(
    recordType.name,
    new Reader(bytes(question, 'value')),
  );
  return { ...about, version, value: toJson(recordType.value.fields, version, value) };
}

class UnknownRecordType extends Error {
  override readonly name = 'UnknownRecordType';
}

function decodeKey(reader: Reader): JsonObject {
  const type = peekRecordType(reader.buffer);
  const recordType = recordTypeOf(type);
  if (recordType === undefined) throw new UnknownRecordType(`Record type ${type} is not known`);
  const { name, key } = recordType;
  return { type, record: name, ...shown(key, 0, decodeRecordKey(name, reader), reader) };
}

/** An API by name, by its name in capitals or by key. */
function apiNameOf(json: Json | undefined): ApiName {
  const wanted = typeof json === 'number' ? apiByKey(json)?.name : json;
  const plain = String(wanted).replaceAll('_', '').toLowerCase();
  const api = Object.values(apis).find(({ name }) => name.toLowerCase() === plain);
  if (api === undefined) throw new WireError(`API ${JSON.stringify(json)} is not known here`, 0);
  return api.name;
}

function recordTypeNamed(json: Json | undefined): RecordType {
  const found =
    typeof json === 'number'
      ? recordTypeOf(json)
      : Object.values(recordTypes).find(({ name }) => name === json);
  if (found === undefined)
    throw new UnknownRecordType(`Record ${JSON.stringify(json)} is not known`);
  return found;
}

function topicOf(json: Json | undefined): TopicMetadata {
  const topic = objectOf(json);
  const racks = listOf(topic['racks']).map((partition) => listOf(partition).map(String));
  return {
    name: text(topic, 'name'),
    topicId: text(topic, 'id'),
    partitionCount: racks.length,
    racks,
  };
}

function objectOf(json: Json | undefined): JsonObject {
  if (!isObject(json)) throw new WireError(`Not an object: ${JSON.stringify(json)}`, 0);
  return json;
}

function listOf(json: Json | undefined): readonly Json[] {
  if (!Array.isArray(json)) throw new WireError(`Not a list: ${JSON.stringify(json)}`, 0);
  return json;
}

function text(of: JsonObject, name: string): string {
  const value = of[name] ?? '';
  if (typeof value !== 'string') throw new WireError('Not a string', 0).inside(name);
  return value;
}

function whole(of: JsonObject, name: string, absent = 0): number {
  const value = of[name] ?? absent;
  if (!Number.isSafeInteger(value)) throw new WireError('Not a whole number', 0).inside(name);
  return Number(value);
}

function bytes(of: JsonObject, name: string): Buffer {
  const hex = text(of, name);
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new WireError('Not hexadecimal', 0).inside(name);
  return Buffer.from(hex, 'hex');
}
