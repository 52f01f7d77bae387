import { expect } from 'chai';
import fc from 'fast-check';
import type { Api } from '../../src/wire/apis.ts';
import { apis } from '../../src/wire/apis.ts';
import { compileDecoder, compileEncoder } from '../../src/wire/compile.ts';
import { Reader } from '../../src/wire/reader.ts';
import { recordTypes } from '../../src/wire/records/record-types.ts';
import type { AnyMessage } from '../../src/wire/schema.ts';
import { array, i32, i64, message, records, str, struct } from '../../src/wire/schema.ts';
import { WireError } from '../../src/wire/wire-error.ts';
import { Writer } from '../../src/wire/writer.ts';
import { valueOfMessage } from './arbitraries.ts';

const RUNS = { numRuns: 25 };

function encoded(of: AnyMessage, version: number, value: object): Buffer {
  const writer = new Writer(1);
  compileEncoder(of, version)(writer, value);
  return writer.copy();
}

function decoded(of: AnyMessage, version: number, bytes: Buffer): unknown {
  const reader = new Reader(bytes);
  const value = compileDecoder(of, version)(reader);
  expect(reader.remaining).to.equal(0);
  return value;
}

function giveBackWhatWasEncoded(of: AnyMessage): void {
  for (let version = of.minVersion; version <= of.maxVersion; version++) {
    const encode = compileEncoder(of, version);
    const decode = compileDecoder(of, version);
    const property = fc.property(valueOfMessage(of, version), (value) => {
      const writer = new Writer(1);
      encode(writer, value);
      const reader = new Reader(writer.copy());
      expect(decode(reader)).to.deep.equal(value);
      expect(reader.remaining).to.equal(0);
    });
    fc.assert(property, RUNS);
  }
}

describe('messages', () => {
  for (const api of Object.values<Api>(apis)) {
    it(`${api.name}: decode(encode(x)) = x in versions ${api.minVersion} to ${api.maxVersion}`, () => {
      if (api.request !== undefined) giveBackWhatWasEncoded(api.request);
      giveBackWhatWasEncoded(api.response);
    });
  }

  for (const { name, key, value } of Object.values(recordTypes)) {
    it(`record ${name}: decode(encode(x)) = x for key and value`, () => {
      giveBackWhatWasEncoded(key);
      giveBackWhatWasEncoded(value);
    });
  }

  it('request and response of an API have the same versions', () => {
    for (const { name, request, response } of Object.values<Api>(apis)) {
      if (request === undefined) continue;
      const versionsOf = ({ minVersion, maxVersion, flexibleSince }: AnyMessage) => {
        return { minVersion, maxVersion, flexibleSince };
      };
      expect(versionsOf(request), name).to.deep.equal(versionsOf(response));
    }
  });
});

describe('compileEncoder()', () => {
  const one = message(
    { versions: [0, 2], flexibleSince: 1 },
    {
      name: str,
      since1: i32.since(1).default(-1),
      dropped: i64.since(2).default(-1n).ignorable(),
      list: array(struct({ item: str.orNull() })).nullable(),
      tag3: i32.since(1).tagged(3).default(7),
      tag1: array(i32).orNull().since(1).tagged(1),
      tag2: struct({ a: i32.default(-1), b: str })
        .since(1)
        .tagged(2),
    },
  );
  const hex = (version: number, value: object) => encoded(one, version, value).toString('hex');

  it('gives fields that are left out their defaults', () => {
    expect(hex(0, {})).to.equal('0000ffffffff');
    expect(hex(2, { name: undefined })).to.equal(`01${'ffffffff'}${'ffffffffffffffff'}0000`);
  });

  it('drops an ignorable field that the version lacks and refuses another (1.5)', () => {
    expect(hex(0, { dropped: 5n })).to.equal('0000ffffffff');
    expect(hex(0, { since1: -1 })).to.equal('0000ffffffff');
    expect(() => hex(0, { since1: 5 })).to.throw(WireError, 'since1: Version 0 has no such field');
  });

  it('writes tags in ascending order and leaves out those at their default (1.4)', () => {
    expect(hex(1, { tag3: 8, tag1: [1], tag2: { b: 'x' } })).to.equal(
      `01ffffffff0003${'010502000000010207ffffffff0278000304'}00000008`,
    );
    expect(hex(1, { tag3: 7, tag1: [], tag2: { a: -1, b: '' } })).to.equal('01ffffffff0000');
  });

  it('writes a tagged null as a value of its own where the default is empty (LG-8)', () => {
    expect(hex(1, { tag1: null })).to.equal('01ffffffff0001010100');
    expect(decoded(one, 1, encoded(one, 1, { tag1: null }))).to.deep.include({ tag1: null });
    expect(decoded(one, 1, encoded(one, 1, {}))).to.deep.include({ tag1: [] });
  });

  it('writes the size of a tagged value longer than one byte can say', () => {
    for (const length of [30, 31, 32, 4095, 4096, 600_000]) {
      const value = { tag1: Array.from({ length }, (_, index) => index) };
      expect(decoded(one, 1, encoded(one, 1, value)), `${length} items`).to.deep.include(value);
    }
  });

  it('names the field that cannot be written, from the outside in', () => {
    const refusal = (value: object) => {
      try {
        hex(1, value);
      } catch (error) {
        return error instanceof WireError ? error.path : error;
      }
      return 'accepted';
    };
    expect(refusal({ name: null })).to.equal('name');
    expect(refusal({ since1: 2 ** 31 })).to.equal('since1');
    expect(refusal({ since1: 1.5 })).to.equal('since1');
    expect(refusal({ list: [{ item: null }, { item: 5 }] })).to.equal('list[1].item');
    expect(refusal({ list: [null] })).to.equal('list[0]');
    expect(refusal({ list: [{ item: 'x'.repeat(32_768) }] })).to.equal('list[0].item');
    expect(refusal({ list: [{ item: 'é'.repeat(16_384) }] })).to.equal('list[0].item');
    expect(refusal({ list: [{ item: 'x'.repeat(32_767) }] })).to.equal('accepted');
  });

  it('wants records to be set where they may not be null (1.5)', () => {
    const fetched = message({ versions: [0, 0], flexibleSince: 0 }, { records });
    expect(() => encoded(fetched, 0, {})).to.throw(WireError, 'records: Not a value');
    expect(encoded(fetched, 0, { records: Buffer.alloc(0) }).toString('hex')).to.equal('0100');
  });
});

describe('compileDecoder()', () => {
  const one = message(
    { versions: [0, 0], flexibleSince: 0 },
    { topics: array(struct({ name: str, partitions: array(i32) })), tag: i32.tagged(0) },
  );

  it('names the field that cannot be read and the byte, from the outside in', () => {
    const bytes = Buffer.from('0302610100027805', 'hex');
    try {
      decoded(one, 0, bytes);
      expect.fail('accepted');
    } catch (error) {
      expect(error).to.be.instanceOf(WireError);
      const { path, offset, message: text } = error as WireError;
      expect({ path, offset }).to.deep.equal({ path: 'topics[1].partitions', offset: 8 });
      expect(text).to.equal(
        'topics[1].partitions: An array claims 4 items, 0 bytes are left (byte 8)',
      );
    }
  });

  it('skips tags that it does not know and keeps those that it does (1.4)', () => {
    const bytes = Buffer.from('01' + '03' + '000400000007' + '0501ff' + '0600', 'hex');
    expect(decoded(one, 0, bytes)).to.deep.equal({ topics: [], tag: 7 });
  });

  it('refuses a known tag whose value does not end where its size says', () => {
    const bytes = Buffer.from('0101000500000007ff', 'hex');
    expect(() => decoded(one, 0, bytes)).to.throw(WireError, 'tag: A tagged field should end');
  });

  it('gives all versions of a message the same fields', () => {
    for (const { request } of Object.values<Api>(apis)) {
      if (request === undefined) continue;
      const names = new Set<string>();
      for (let version = request.minVersion; version <= request.maxVersion; version++) {
        const bytes = encoded(request, version, {});
        names.add(Object.keys(decoded(request, version, bytes) as object).join());
      }
      expect([...names]).to.deep.equal([Object.keys(request.fields).join()]);
    }
  });
});
