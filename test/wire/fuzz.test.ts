import { expect } from 'chai';
import fc from 'fast-check';
import { apis, decodeRequest, decodeResponse } from '../../src/wire/apis.ts';
import { FrameSplitter } from '../../src/wire/frame.ts';
import { decodeRequestHeader } from '../../src/wire/headers.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { Reader } from '../../src/wire/reader.ts';
import { decodeRecordBatches } from '../../src/wire/record-batch.ts';
import { decodeRecord } from '../../src/wire/records/group-record.ts';
import { WireError } from '../../src/wire/wire-error.ts';
import { readVectors } from './vectors.ts';

/** Damage: a cut, or some bytes overwritten with values that hurt. */
type Damage = {
  readonly cut: number | undefined;
  readonly writes: readonly { readonly at: number; readonly byte: number }[];
};

const damages: fc.Arbitrary<Damage> = fc.record({
  cut: fc.option(fc.nat(), { nil: undefined, freq: 2 }),
  writes: fc.array(
    fc.record({
      at: fc.nat(),
      byte: fc.oneof(fc.constantFrom(0x00, 0xff, 0x7f, 0x80), fc.nat(255)),
    }),
    { maxLength: 4 },
  ),
});

function damaged(bytes: Buffer, { cut, writes }: Damage): Buffer {
  const copy = Buffer.from(bytes);
  for (const { at, byte } of copy.length === 0 ? [] : writes) copy[at % copy.length] = byte;
  return cut === undefined ? copy : copy.subarray(0, cut % (copy.length + 1));
}

const SMALL = 4000;
const sampleOf = (vectors: readonly JsonObject[]) =>
  fc.constantFrom(...vectors.filter(({ hex }) => String(hex).length < SMALL));

/** A decoder may give a value or a WireError, and nothing else. */
function survives(decode: () => unknown): void {
  try {
    decode();
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
}

/** Decoders make views, so whatever a message claims, no memory is set aside for it. */
function allocatesLittle(run: () => void): void {
  const before = process.memoryUsage().arrayBuffers;
  run();
  expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(64 * 1024 * 1024);
}

describe('damaged bytes', () => {
  it('messages decode to a value or a WireError', () => {
    const known = readVectors('messages.jsonl').filter(({ api, direction }) => {
      const entry = Object.values(apis).find(({ name }) => name === api);
      return direction === 'request' ? entry?.request !== undefined : entry !== undefined;
    });
    const property = fc.property(sampleOf(known), damages, (vector, damage) => {
      const api = Object.values(apis).find(({ name }) => name === vector['api']);
      const reader = new Reader(damaged(Buffer.from(String(vector['hex']), 'hex'), damage));
      const decode = vector['direction'] === 'request' ? decodeRequest : decodeResponse;
      survives(() => decode(api?.name ?? 'Heartbeat', Number(vector['version']), reader));
    });
    allocatesLittle(() => fc.assert(property, { numRuns: 5000 }));
  });

  it('noise decodes to a value or a WireError in every message', () => {
    const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
    const property = fc.property(fc.constantFrom(...Object.values(apis)), bytes, (api, noise) => {
      for (let version = api.minVersion; version <= api.maxVersion; version++) {
        survives(() => decodeRequest(api.name, version, new Reader(noise)));
        survives(() => decodeResponse(api.name, version, new Reader(noise)));
      }
    });
    allocatesLittle(() => fc.assert(property, { numRuns: 1000 }));
  });

  it('frames and headers decode to a value or a WireError', () => {
    const frames = readVectors('headers.jsonl').filter(({ kind }) => kind === 'request-frame');
    const property = fc.property(sampleOf(frames), damages, (vector, damage) => {
      const stream = damaged(Buffer.from(String(vector['hex']), 'hex'), damage);
      survives(() => new FrameSplitter().push(stream).map(decodeRequestHeader));
    });
    allocatesLittle(() => fc.assert(property, { numRuns: 2000 }));
  });

  it('records decode to a value or a WireError', () => {
    const property = fc.property(
      fc.constantFrom(...readVectors('records.jsonl')),
      damages,
      damages,
      (vector, keyDamage, valueDamage) => {
        const key = damaged(hexOf(vector['key']), keyDamage);
        survives(() => decodeRecord(key, damaged(hexOf(vector['value']), valueDamage)));
      },
    );
    allocatesLittle(() => fc.assert(property, { numRuns: 3000 }));
  });

  it('record batches decode to a value or a WireError', () => {
    const property = fc.property(
      sampleOf(readVectors('batches.jsonl')),
      damages,
      fc.boolean(),
      (vector, damage, ignoreTail) => {
        const bytes = damaged(Buffer.from(String(vector['hex']), 'hex'), damage);
        survives(() => decodeRecordBatches(bytes, ignoreTail ? 'ignore' : 'refuse'));
      },
    );
    allocatesLittle(() => fc.assert(property, { numRuns: 3000 }));
  });
});

function hexOf(part: unknown): Buffer {
  const { hex } = (part ?? { hex: '' }) as { readonly hex: string };
  return Buffer.from(hex, 'hex');
}
