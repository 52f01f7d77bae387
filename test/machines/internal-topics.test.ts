import { expect } from 'chai';
import { configureTopology, topicsHash } from '../../machines/decide/internal-topics.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import {
  info,
  REPARTITIONED,
  STATEFUL,
  subtopology,
  topicsOf,
  topology,
} from '../support/topology-samples.ts';
import { sizesOf } from './configured-sizes.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');

describe('configureTopology()', () => {
  it('S22 A subtopology fed only by a repartition topic gets its partition count from it (6.4, 6.6, 6.10, vector 3)', () => {
    const missing = configureTopology(REPARTITIONED, topicsOf({ in: 4 }), kip);
    expect(missing).to.deep.equal({
      topologyEpoch: 0,
      metadataHash: topicsHash(REPARTITIONED, topicsOf({ in: 4 })),
      problem: {
        status: 'MISSING_INTERNAL_TOPICS',
        detail: 'Internal topics are missing: app-agg-changelog, app-r-repartition',
      },
      subtopologies: [
        {
          subtopologyId: '0',
          taskCount: 4,
          stateful: false,
          sourceTopics: ['in'],
          repartitionSinkTopics: ['app-r-repartition'],
          stateChangelogTopics: [],
          repartitionSourceTopics: [],
        },
        {
          subtopologyId: '1',
          taskCount: 4,
          stateful: true,
          sourceTopics: [],
          repartitionSinkTopics: [],
          stateChangelogTopics: [info('app-agg-changelog', { partitions: 4 })],
          repartitionSourceTopics: [info('app-r-repartition', { partitions: 4 })],
        },
      ],
      missingInternalTopics: [
        { name: 'app-agg-changelog', partitions: 4, replicationFactor: -1, configs: [] },
        { name: 'app-r-repartition', partitions: 4, replicationFactor: -1, configs: [] },
      ],
    });
    const all = topicsOf({ in: 4, 'app-r-repartition': 4, 'app-agg-changelog': 4 });
    expect(configureTopology(REPARTITIONED, all, kip)).to.deep.equal({
      ...missing,
      metadataHash: topicsHash(REPARTITIONED, all),
      problem: undefined,
      missingInternalTopics: [],
    });
  });

  it('S23 While a source is missing nothing is created and nothing is handed out (6.1, vector 8)', () => {
    expect(configureTopology(REPARTITIONED, topicsOf({}), kip)).to.deep.equal({
      topologyEpoch: 0,
      metadataHash: 0n,
      problem: { status: 'MISSING_SOURCE_TOPICS', detail: 'Source topics are missing: in' },
      subtopologies: [],
      missingInternalTopics: [],
    });
    expect(
      sizesOf(configureTopology(REPARTITIONED, topicsOf({ in: 3 }), kip)).missing,
    ).to.deep.equal({
      'app-agg-changelog': 3,
      'app-r-repartition': 3,
    });
  });

  it('names three missing sources and counts the rest; patterns count as missing (6.1)', () => {
    const one = topology(
      subtopology('0', { sourceTopics: ['e', 'd', 'c', 'b', 'a'], sourceTopicRegex: ['x.*'] }),
    );
    expect(configureTopology(one, topicsOf({ b: 1 }), kip).problem).to.deep.equal({
      status: 'MISSING_SOURCE_TOPICS',
      detail: 'Source topics are missing: a, c, d and 2 more',
    });
  });

  it('takes the widest source for tasks and changelogs (6.6, 6.10, vector 1)', () => {
    const one = topology(
      subtopology('0', { sourceTopics: ['a', 'b'], stateChangelogTopics: [info('c')] }),
    );
    expect(sizesOf(configureTopology(one, topicsOf({ a: 3, b: 5 }), kip))).to.deep.equal({
      problem: 'MISSING_INTERNAL_TOPICS',
      tasks: { '0': 5 },
      missing: { c: 5 },
    });
  });

  it('lets a fixed count of a repartition topic win over its writer (6.3, vector 4)', () => {
    const one = topology(
      subtopology('0', { sourceTopics: ['in'], repartitionSinkTopics: ['r'] }),
      subtopology('1', {
        repartitionSourceTopics: [info('r', { partitions: 8 })],
        stateChangelogTopics: [info('c')],
      }),
    );
    expect(sizesOf(configureTopology(one, topicsOf({ in: 4 }), kip))).to.deep.equal({
      problem: 'MISSING_INTERNAL_TOPICS',
      tasks: { '0': 4, '1': 8 },
      missing: { c: 8, r: 8 },
    });
  });

  it('takes the widest writer of a repartition topic, in whatever order they come (6.4)', () => {
    const written = (first: string, second: string) =>
      topology(
        subtopology('0', { sourceTopics: [first], repartitionSinkTopics: ['r'] }),
        subtopology('1', { sourceTopics: [second], repartitionSinkTopics: ['r'] }),
        subtopology('2', { repartitionSourceTopics: [info('r')] }),
      );
    const topics = topicsOf({ narrow: 2, wide: 5 });
    const narrowFirst = written('narrow', 'wide');
    const wideFirst = written('wide', 'narrow');
    for (const behaviour of [kip, kafka]) {
      for (const one of [narrowFirst, wideFirst]) {
        expect(sizesOf(configureTopology(one, topics, behaviour)).missing).to.deep.equal({ r: 5 });
      }
    }
  });

  it('sends what is wide down a chain, whatever the order of the ids (6.4)', () => {
    const one = topology(
      subtopology('2', { sourceTopics: ['a'], repartitionSinkTopics: ['r1'] }),
      subtopology('1', {
        sourceTopics: ['b'],
        repartitionSourceTopics: [info('r1')],
        repartitionSinkTopics: ['r2'],
      }),
      subtopology('0', { repartitionSourceTopics: [info('r2')] }),
    );
    for (const behaviour of [kip, kafka]) {
      expect(sizesOf(configureTopology(one, topicsOf({ a: 2, b: 5 }), behaviour))).to.deep.equal({
        problem: 'MISSING_INTERNAL_TOPICS',
        tasks: { '0': 5, '1': 5, '2': 2 },
        missing: { r1: 2, r2: 5 },
      });
    }
  });

  it('sizes a subtopology that reads what it writes, and a ring fed from outside (6.4)', () => {
    const loop = topology(
      subtopology('0', {
        sourceTopics: ['in'],
        repartitionSourceTopics: [info('r1')],
        repartitionSinkTopics: ['r1'],
      }),
    );
    const ring = topology(
      subtopology('0', {
        sourceTopics: ['in'],
        repartitionSourceTopics: [info('r3')],
        repartitionSinkTopics: ['r4'],
      }),
      subtopology('1', {
        repartitionSourceTopics: [info('r4')],
        repartitionSinkTopics: ['r3'],
      }),
    );
    for (const behaviour of [kip, kafka]) {
      expect(sizesOf(configureTopology(loop, topicsOf({ in: 3 }), behaviour)).tasks).to.deep.equal({
        '0': 3,
      });
      expect(
        sizesOf(configureTopology(ring, topicsOf({ in: 2 }), behaviour)).missing,
      ).to.deep.equal({
        r3: 2,
        r4: 2,
      });
    }
  });

  it('names an internal topic that exists with another width (6.7, vector 7)', () => {
    const topics = topicsOf({ in: 4, 'app-r-repartition': 3 });
    expect(configureTopology(REPARTITIONED, topics, kip).problem).to.deep.equal({
      status: 'INCORRECTLY_PARTITIONED_TOPICS',
      detail: 'Internal topic app-r-repartition does not fit: it has 3 partitions, expected 4',
    });
  });

  it('S26 Growth of a source is noticed without a join; a changelog that does not fit stops the group (6.7)', () => {
    const before = topicsOf({ in: 2, 'app-store-changelog': 2 });
    expect(sizesOf(configureTopology(STATEFUL, before, kip))).to.deep.equal({
      problem: undefined,
      tasks: { '0': 2 },
      missing: {},
    });
    const grown = topicsOf({ in: 4, 'app-store-changelog': 2 });
    expect(configureTopology(STATEFUL, grown, kip)).to.deep.include({
      problem: {
        status: 'INCORRECTLY_PARTITIONED_TOPICS',
        detail: 'Internal topic app-store-changelog does not fit: it has 2 partitions, expected 4',
      },
      subtopologies: [],
      missingInternalTopics: [],
    });
    expect(topicsHash(STATEFUL, grown)).not.to.equal(topicsHash(STATEFUL, before));
  });

  it('creates nothing for a source that doubles as changelog, but wants it wide enough (6.6, vector 11)', () => {
    const one = topology(
      subtopology('0', { sourceTopics: ['in', 'wide'], stateChangelogTopics: [info('in')] }),
    );
    expect(sizesOf(configureTopology(one, topicsOf({ in: 5, wide: 5 }), kip))).to.deep.equal({
      problem: undefined,
      tasks: { '0': 5 },
      missing: {},
    });
    expect(configureTopology(one, topicsOf({ in: 3, wide: 5 }), kip).problem).to.deep.equal({
      status: 'INCORRECTLY_PARTITIONED_TOPICS',
      detail: 'Internal topic in does not fit: it has 3 partitions, expected 5',
    });
  });

  it('creates a topic once, with its replicas and configs, three named and the rest counted (6.8, 6.9)', () => {
    const configs = [{ key: 'cleanup.policy', value: 'compact' }];
    const one = topology(
      subtopology('0', {
        sourceTopics: ['in'],
        repartitionSinkTopics: ['r'],
        stateChangelogTopics: [
          info('shared'),
          info('c', { replicationFactor: 3, topicConfigs: configs }),
        ],
      }),
      subtopology('1', {
        repartitionSourceTopics: [info('r')],
        stateChangelogTopics: [info('shared'), info('d')],
      }),
    );
    expect(configureTopology(one, topicsOf({ in: 2 }), kip)).to.deep.include({
      problem: {
        status: 'MISSING_INTERNAL_TOPICS',
        detail: 'Internal topics are missing: c, d, r and 1 more',
      },
      missingInternalTopics: [
        { name: 'c', partitions: 2, replicationFactor: 3, configs },
        { name: 'd', partitions: 2, replicationFactor: -1, configs: [] },
        { name: 'r', partitions: 2, replicationFactor: -1, configs: [] },
        { name: 'shared', partitions: 2, replicationFactor: -1, configs: [] },
      ],
    });
  });

  it('is ready at once without subtopologies (6.12)', () => {
    expect(configureTopology(topology(), topicsOf({}), kip)).to.deep.equal({
      topologyEpoch: 0,
      metadataHash: 0n,
      problem: undefined,
      subtopologies: [],
      missingInternalTopics: [],
    });
  });
});

describe('topicsHash()', () => {
  it('covers existing required topics only (H-1, H-3)', () => {
    const hash = (counts: Record<string, number>) => topicsHash(REPARTITIONED, topicsOf(counts));
    expect(hash({})).to.equal(0n);
    expect(hash({ other: 7 })).to.equal(0n);
    expect(hash({ in: 2, other: 7 })).to.equal(hash({ in: 2 }));
    expect(hash({ in: 2 })).not.to.equal(hash({ in: 3 }));
    expect(hash({ in: 2, 'app-r-repartition': 2 })).not.to.equal(hash({ in: 2 }));
  });
});
