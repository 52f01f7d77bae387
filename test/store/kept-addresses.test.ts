import { expect } from 'chai';
import { KeptAddresses } from '../../src/store/kept-addresses.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import type { AddressBook } from '../../src/upstream/cluster-map.ts';

describe('KeptAddresses', () => {
  it('load() gives what save() kept, the last of each node', async () => {
    const keyValues = new MemoryKeyValues();
    const addresses: AddressBook = new KeptAddresses(keyValues);
    expect(await addresses.load()).to.deep.equal([]);
    await addresses.save({ nodeId: 1, index: 0, port: 9093 });
    await addresses.save({ nodeId: 2, index: 1, port: 9094 });
    await addresses.save({ nodeId: 2, index: 1, port: 9095 });
    expect(await new KeptAddresses(keyValues).load()).to.deep.equal([
      { nodeId: 1, index: 0, port: 9093 },
      { nodeId: 2, index: 1, port: 9095 },
    ]);
  });
});
