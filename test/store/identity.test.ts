import { expect } from 'chai';
import fc from 'fast-check';
import { keepIdentity, keepUpstream } from '../../src/store/identity.ts';
import { keyOf, prefixes } from '../../src/store/layout.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { makeUuid } from '../../src/store/uuid.ts';
import { rejectionOf } from '../support/rejection-of.ts';

const zeros = (count: number) => new Uint8Array(count);
const ones = (count: number) => new Uint8Array(count).fill(0xff);

const kept = { random: zeros, mode: 'standalone', place: 'data' } as const;

describe('keepIdentity()', () => {
  it('makes a cluster id once and keeps it', async () => {
    const keyValues = new MemoryKeyValues();
    const first = await keepIdentity(keyValues, kept);
    expect(first).to.deep.equal({
      clusterId: 'AAAAAAAAQACAAAAAAAAAAA',
      nodeId: 1,
      mode: 'standalone',
    });
    expect(await keepIdentity(keyValues, { ...kept, random: ones })).to.deep.equal(first);
  });

  it('puts what the settings name before what was kept, and keeps that', async () => {
    const keyValues = new MemoryKeyValues();
    await keepIdentity(keyValues, kept);
    const named = { clusterId: 'test-cluster', nodeId: 7 };
    const identity = { ...named, mode: 'standalone' };
    expect(await keepIdentity(keyValues, { ...kept, ...named })).to.deep.equal(identity);
    expect(await keepIdentity(keyValues, kept)).to.deep.equal(identity);
  });
});

describe('keepIdentity() of a store of the other mode', () => {
  for (const [mode, other] of [
    ['standalone', 'gateway'],
    ['gateway', 'standalone'],
  ] as const) {
    it(`refuses a ${other} coordinator on the store of a ${mode} one`, async () => {
      const keyValues = new MemoryKeyValues();
      const first = await keepIdentity(keyValues, { ...kept, mode });
      const refused = keepIdentity(keyValues, { ...kept, mode: other, nodeId: 9 });
      expect(await rejectionOf(refused)).to.include({
        fault: 'wrongMode',
        message: `Open the store in data: it belongs to a ${mode} coordinator, and this is a ${other} one; give it a folder of its own (--data-dir)`,
      });
      expect(await keepIdentity(keyValues, { ...kept, mode })).to.deep.equal(first);
    });
  }

  it('takes the mode for a store that has none yet', async () => {
    const keyValues = new MemoryKeyValues();
    const value = Buffer.from('{"clusterId":"old","nodeId":3}');
    await keyValues.write([{ type: 'put', key: keyOf(prefixes.identity), value }]);
    const identity = { clusterId: 'old', nodeId: 3, mode: 'gateway' };
    expect(await keepIdentity(keyValues, { ...kept, mode: 'gateway' })).to.deep.equal(identity);
    expect(await rejectionOf(keepIdentity(keyValues, kept))).to.include({ fault: 'wrongMode' });
  });
});

describe('keepUpstream()', () => {
  it('keeps the first cluster, beside the identity, and refuses another', async () => {
    const keyValues = new MemoryKeyValues();
    const identity = await keepIdentity(keyValues, { ...kept, mode: 'gateway' });
    await keepUpstream(keyValues, { clusterId: 'one', place: 'data' });
    await keepUpstream(keyValues, { clusterId: 'one', place: 'data' });
    const refused = keepUpstream(keyValues, { clusterId: 'two', place: 'data' });
    const wanted = {
      fault: 'wrongCluster',
      message:
        'Use the store in data: it goes with the cluster one, and upstream is two; give it a folder of its own (--data-dir)',
    };
    expect(await rejectionOf(refused)).to.include(wanted);
    const renamed = await keepIdentity(keyValues, { ...kept, mode: 'gateway', nodeId: 4 });
    expect(renamed).to.deep.equal({ ...identity, nodeId: 4 });
    const again = keepUpstream(keyValues, { clusterId: 'two', place: 'data' });
    expect(await rejectionOf(again)).to.include(wanted);
  });
});

describe('makeUuid()', () => {
  it('gives 22 URL-safe characters of 16 bytes that never begin with a dash', () => {
    const random = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(random, (bytes) => {
        const uuid = makeUuid(() => bytes);
        expect(uuid).to.match(/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
        expect(Buffer.from(uuid, 'base64url').toString('base64url')).to.equal(uuid);
      }),
      { examples: [[ones(16)], [zeros(16)]] },
    );
  });
});
