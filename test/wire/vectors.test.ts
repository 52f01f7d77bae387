import { expect } from 'chai';
import { answerLine, codecKeys } from '../../src/cli/codec.ts';
import type { Json, JsonObject } from '../../src/wire/json.ts';
import { readVectors } from './vectors.ts';

const KNOWN_KEYS = new Set<Json>(codecKeys());
/** Of these APIs only the responses are known. */
const RESPONSES_ONLY = new Set<Json>([78, 79]);
const UNSUPPORTED = new Set<Json>(['snappy', 'lz4', 'zstd']);

const keyOfApi = new Map(
  readVectors('messages.jsonl').map(({ api, key }): [Json | undefined, Json | undefined] => [
    api,
    key,
  ]),
);

function ask(question: JsonObject): JsonObject {
  // As the process does, so that the answer is what JSON can carry.
  return JSON.parse(JSON.stringify(answerLine(JSON.stringify(question))));
}

function isKnown(vector: JsonObject): boolean {
  const key = typeof vector['key'] === 'number' ? vector['key'] : keyOfApi.get(vector['api']);
  if (key === undefined) return true;
  return KNOWN_KEYS.has(key) || (RESPONSES_ONLY.has(key) && vector['direction'] === 'response');
}

/** Only what `like` names. */
function pick(from: JsonObject, like: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(like).map((name) => [name, from[name] ?? null]));
}

describe("byte vectors of Kafka's own classes", () => {
  it('messages.jsonl: every message of a known API decodes and encodes', () => {
    let checks = 0;
    for (const vector of readVectors('messages.jsonl').filter(isKnown)) {
      const { api, version, direction, json, hex, note } = vector;
      const about = { kind: direction ?? '', api: api ?? '', version: version ?? 0 };
      const where = `${api} v${version} ${direction}: ${note}`;
      if (vector['encodeOnly'] !== true) {
        const answer = ask({ op: 'decode', ...about, hex: hex ?? '' });
        expect(answer, where).to.deep.equal({ json });
        checks++;
      }
      if (vector['decodeOnly'] !== true) {
        const answer = ask({ op: 'encode', ...about, json: json ?? null });
        expect(answer, where).to.deep.equal({ hex });
        checks++;
      }
    }
    expect(checks).to.be.greaterThan(3500);
  });

  it('headers.jsonl: headers and whole frames', () => {
    let checks = 0;
    for (const vector of readVectors('headers.jsonl')) {
      const { note, json, hex, header, decodeOnly, unsupportedVersion, ...about } = vector;
      const where = `${JSON.stringify(about)}: ${note}`;
      const decoded = ask({ op: 'decode', ...about, hex: hex ?? '' });
      expect(decoded['error'], where).to.equal(undefined);
      expect(decoded['json'], where).to.deep.equal(json);
      expect(decoded['unsupportedVersion'], where).to.equal(unsupportedVersion);
      if (header !== undefined) {
        const wanted = header as JsonObject;
        expect(pick(decoded['header'] as JsonObject, wanted), where).to.deep.equal(wanted);
      }
      checks++;
      if (decodeOnly === true || unsupportedVersion === true) continue;
      const question = { op: 'encode', ...about, json: json ?? null, header: header ?? null };
      expect(ask(question), where).to.deep.equal({ hex });
      checks++;
    }
    expect(checks).to.be.greaterThan(150);
  });

  it('records.jsonl: keys, values, tombstones, unknown types (LG-3 to LG-8)', () => {
    let checks = 0;
    for (const vector of readVectors('records.jsonl')) {
      const { record, type, version, error, note, decodeOnly } = vector;
      const key = vector['key'] as JsonObject;
      const value = vector['value'] as JsonObject | null;
      const where = `${record ?? type} v${version}: ${note}`;
      const answer = ask({ op: 'record', key: key['hex'] ?? '', value: value?.['hex'] ?? null });
      checks++;
      if (error !== undefined) {
        const failure = answer['error'] as JsonObject;
        const wanted = error === 'UnknownRecordTypeException' ? 'UnknownRecordType' : 'WireError';
        expect(failure?.['class'], where).to.equal(wanted);
        continue;
      }
      expect(pick(answer, { type: 0, key: 0, value: 0 }), where).to.deep.equal({
        type,
        key: key['json'],
        value: value?.['json'] ?? null,
      });
      const about = { op: 'encode', record: record ?? '' };
      expect(ask({ ...about, kind: 'record-key', json: key['json'] ?? null }), where).to.deep.equal(
        {
          hex: key['hex'],
        },
      );
      if (value === null || decodeOnly === true) continue;
      const question = { ...about, kind: 'record-value', version: version ?? 0 };
      expect(ask({ ...question, json: value['json'] ?? null }), where).to.deep.equal({
        hex: value['hex'],
      });
      checks++;
    }
    expect(checks).to.be.greaterThan(300);
  });

  it('batches.jsonl: batches, plain and gzip', () => {
    let plain = 0;
    let packed = 0;
    for (const vector of readVectors('batches.jsonl')) {
      const { json, hex, note, decodeOnly } = vector;
      const compression = (json as readonly JsonObject[])[0]?.['compression'] ?? 'none';
      if (UNSUPPORTED.has(compression)) continue;
      const where = String(note);
      const question = { kind: 'batches' };
      expect(ask({ op: 'decode', ...question, hex: hex ?? '' }), where).to.deep.equal({ json });
      if (decodeOnly === true) continue;
      const encoded = ask({ op: 'encode', ...question, json: json ?? null });
      if (decodeOnly === 'compressed') {
        const again = ask({ op: 'decode', ...question, hex: encoded['hex'] ?? '' });
        expect(again, where).to.deep.equal({ json });
        packed++;
      } else {
        expect(encoded, where).to.deep.equal({ hex });
        plain++;
      }
    }
    expect(plain).to.be.greaterThan(20);
    expect(packed).to.be.greaterThan(0);
  });

  it('hashes.jsonl: partitions, murmur2, CRC-32C, topic and metadata hashes', () => {
    const ops = new Set<Json | undefined>();
    for (const { expect: wanted, note, ...question } of readVectors('hashes.jsonl')) {
      const like = wanted as JsonObject;
      expect(pick(ask(question), like), JSON.stringify(question)).to.deep.equal(like);
      ops.add(question['op']);
    }
    expect(ops.size).to.equal(6);
  });

  it('malformed.jsonl: damaged input is refused or read as Kafka reads it (wire.md 1.3 to 1.6)', () => {
    const refused = new Map<Json | undefined, number>();
    for (const vector of readVectors('malformed.jsonl').filter(isKnown)) {
      const { expect: wanted, kafka, note, read, ...question } = vector;
      const answer = ask({ op: 'decode', ...question });
      const where = `${note} (Kafka: ${kafka}): ${JSON.stringify(answer)}`;
      const isRefused = answer['error'] !== undefined;
      refused.set(wanted, (refused.get(wanted) ?? 0) + (isRefused ? 1 : 0));
      if (isRefused) {
        expect(wanted, where).to.be.oneOf(['error', 'either', 'any', 'incomplete']);
      } else if (wanted === 'incomplete') {
        expect(answer, where).to.deep.equal({ incomplete: true });
      } else if (wanted !== 'any') {
        const like = read as JsonObject;
        expect(pick(answer, like ?? {}), where).to.deep.equal(like);
      }
    }
    expect(refused.get('error')).to.be.greaterThan(150);
    expect(refused.get('accept')).to.equal(0);
  });
});
