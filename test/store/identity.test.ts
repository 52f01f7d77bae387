import { expect } from 'chai';
import fc from 'fast-check';
import { keepIdentity } from '../../src/store/identity.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { makeUuid } from '../../src/store/uuid.ts';

const zeros = (count: number) => new Uint8Array(count);
const ones = (count: number) => new Uint8Array(count).fill(0xff);

describe('keepIdentity()', () => {
  it('makes a cluster id once and keeps it', async () => {
    const keyValues = new MemoryKeyValues();
    const first = await keepIdentity(keyValues, { random: zeros });
    expect(first).to.deep.equal({ clusterId: 'AAAAAAAAQACAAAAAAAAAAA', nodeId: 1 });
    expect(await keepIdentity(keyValues, { random: ones })).to.deep.equal(first);
  });

  it('puts what the settings name before what was kept, and keeps that', async () => {
    const keyValues = new MemoryKeyValues();
    await keepIdentity(keyValues, { random: zeros });
    const named = { clusterId: 'test-cluster', nodeId: 7 };
    expect(await keepIdentity(keyValues, { random: zeros, ...named })).to.deep.equal(named);
    expect(await keepIdentity(keyValues, { random: zeros })).to.deep.equal(named);
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
