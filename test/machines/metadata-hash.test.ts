import { expect } from 'chai';
import { metadataHash, topicHash } from '../../machines/model/metadata-hash.ts';
import { xxh3 } from '../../machines/model/xxh3.ts';

const topic = {
  name: 'in',
  topicId: 'AAAAAAAAAAEAAAAAAAAAAg',
  partitionCount: 2,
  racks: [['a', 'b'], []],
};

describe('metadata hash (records-and-configs 17.7)', () => {
  it("topicHash() gives Kafka's hash of a topic", () => {
    expect(topicHash(topic)).to.equal(2277671750663821025n);
  });

  it("metadataHash() gives Kafka's hash of a group", () => {
    expect(metadataHash([topic])).to.equal(5653357320856213722n);
    expect(metadataHash([])).to.equal(0n);
  });

  it('metadataHash() does not depend on the order of topics or racks', () => {
    const other = { ...topic, name: 'also', racks: [['b', 'a'], []] };
    expect(metadataHash([topic, other])).to.equal(metadataHash([other, topic]));
    expect(topicHash({ ...topic, racks: [['b', 'a'], []] })).to.equal(topicHash(topic));
  });

  it('topicHash() changes with id, name, partition count and racks', () => {
    const hashes = new Set([
      topicHash(topic),
      topicHash({ ...topic, topicId: 'AAAAAAAAAAEAAAAAAAAAAw' }),
      topicHash({ ...topic, name: 'on' }),
      topicHash({ ...topic, partitionCount: 3 }),
      topicHash({ ...topic, racks: [['a'], ['b']] }),
    ]);
    expect(hashes.size).to.equal(5);
  });

  it('xxh3() agrees with an independent implementation on both sides of every length step', () => {
    const known: readonly [length: number, hash: bigint][] = [
      [0, 0x2d06800538d394c2n],
      [1, 0x4c5cca45d0f4811fn],
      [3, 0x15f7093b173d005cn],
      [4, 0xdca012f95811b6b9n],
      [8, 0xdec6a9a43575982en],
      [9, 0xa628381b3e6e5ff0n],
      [16, 0x3f55f69a41fc1748n],
      [17, 0x3726f226fa8ca7e9n],
      [128, 0x994452374edc40een],
      [129, 0x0972606709520254n],
      [240, 0x590d7a2105b5f882n],
      [241, 0xa8311fda028b1149n],
      [1024, 0x236683f6cc2dd75cn],
      [1025, 0x20ad773bf5588ad7n],
      [3000, 0x8b11a55b96e92130n],
    ];
    const hashes = known.map(([length]) => {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + 7 + (at >> 3)) & 0xff);
      return [length, BigInt.asUintN(64, xxh3(bytes))];
    });
    expect(hashes).to.deep.equal(known);
  });
});
