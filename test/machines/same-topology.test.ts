import { expect } from 'chai';
import fc from 'fast-check';
import { sameTopology } from '../../machines/decide/topology.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import type { Subtopology, Topology } from '../../machines/model/topology.ts';
import { copartition, info, reading, subtopology, topology } from '../support/topology-samples.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');

describe('sameTopology()', () => {
  const joined = reading('1', {
    sourceTopics: ['a', 'b'],
    sourceTopicRegex: ['x.*', 'y.*'],
    repartitionSourceTopics: [
      info('r1', {
        topicConfigs: [
          { key: 'k', value: '1' },
          { key: 'l', value: '2' },
        ],
      }),
      info('r2', { partitions: 3 }),
    ],
    stateChangelogTopics: [info('c1'), info('c2')],
    repartitionSinkTopics: ['r1', 'r2'],
    copartitionGroups: [
      copartition({ sourceTopics: [0], repartitionSourceTopics: [0, 1] }),
      copartition({ sourceTopics: [1], sourceTopicRegex: [1] }),
    ],
  });
  const one = topology(reading('0'), joined);

  const turned = reading('1', {
    sourceTopics: ['b', 'a'],
    sourceTopicRegex: ['y.*', 'x.*'],
    repartitionSourceTopics: [
      info('r2', { partitions: 3 }),
      info('r1', {
        topicConfigs: [
          { key: 'l', value: '2' },
          { key: 'k', value: '1' },
        ],
      }),
    ],
    stateChangelogTopics: [info('c2'), info('c1')],
    repartitionSinkTopics: ['r2', 'r1'],
    copartitionGroups: [
      copartition({ sourceTopics: [0], sourceTopicRegex: [0] }),
      copartition({ sourceTopics: [1], repartitionSourceTopics: [0, 1] }),
    ],
  });

  it('S24 A topology changes only through its epoch (step 4): no list order counts (E-2, vector 20)', () => {
    expect(sameTopology(one, topology(turned, reading('0')), kip)).to.equal(true);
  });

  it('S24 in profile kafka: only the order of the subtopologies is free (E-2)', () => {
    expect(sameTopology(one, topology(joined, reading('0')), kafka)).to.equal(true);
    expect(sameTopology(one, topology(turned, reading('0')), kafka)).to.equal(false);
    const orders: Partial<Subtopology>[] = [
      { sourceTopics: ['b', 'a'] },
      { stateChangelogTopics: joined.stateChangelogTopics.toReversed() },
      { repartitionSinkTopics: ['r2', 'r1'] },
      { copartitionGroups: joined.copartitionGroups.toReversed() },
      {
        copartitionGroups: joined.copartitionGroups.with(
          0,
          copartition({ sourceTopics: [0], repartitionSourceTopics: [1, 0] }),
        ),
      },
    ];
    for (const order of orders) {
      expect(sameTopology(one, topology(reading('0'), { ...joined, ...order }), kafka)).to.equal(
        false,
      );
    }
  });

  it('tells every difference in content, in both profiles (E-2, E-4)', () => {
    const others: Topology[] = [
      { ...one, epoch: 1 },
      topology(reading('0')),
      topology(reading('0'), { ...joined, subtopologyId: '2' }),
      topology(reading('0'), { ...joined, sourceTopics: ['a', 'b', 'c'] }),
      topology(reading('0'), { ...joined, sourceTopicRegex: ['x.*', 'z.*'] }),
      topology(reading('0'), { ...joined, repartitionSinkTopics: ['r1'] }),
      topology(reading('0'), { ...joined, stateChangelogTopics: [info('c1')] }),
      topology(reading('0'), {
        ...joined,
        stateChangelogTopics: [info('c1'), info('c2', { replicationFactor: 2 })],
      }),
      topology(reading('0'), {
        ...joined,
        repartitionSourceTopics: [info('r1'), info('r2', { partitions: 3 })],
      }),
      topology(reading('0'), {
        ...joined,
        repartitionSourceTopics: joined.repartitionSourceTopics.with(1, info('r2')),
      }),
      topology(reading('0'), { ...joined, copartitionGroups: [] }),
      topology(reading('0'), {
        ...joined,
        copartitionGroups: joined.copartitionGroups.with(0, copartition({ sourceTopics: [0] })),
      }),
    ];
    for (const other of others) {
      for (const behaviour of [kip, kafka]) {
        expect(sameTopology(one, other, behaviour), JSON.stringify(other)).to.equal(false);
        expect(sameTopology(other, one, behaviour), JSON.stringify(other)).to.equal(false);
      }
    }
  });

  it('knows a copy, and two names in other groups apart, whatever the topology', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });
    fc.assert(
      fc.property(names, fc.nat({ max: 3 }), fc.nat({ max: 3 }), (sourceTopics, i, j) => {
        const grouped = (index: number) =>
          topology(
            subtopology('0', {
              sourceTopics,
              copartitionGroups: [copartition({ sourceTopics: [index % sourceTopics.length] })],
            }),
          );
        const [left, right] = [grouped(i), grouped(j)];
        expect(sameTopology(left, structuredClone(left), kafka)).to.equal(true);
        expect(sameTopology(left, right, kip)).to.equal(
          i % sourceTopics.length === j % sourceTopics.length,
        );
      }),
    );
  });
});
