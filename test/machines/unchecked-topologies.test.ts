import { expect } from 'chai';
import { configureTopology } from '../../machines/decide/internal-topics.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { refusalOf } from '../support/refusal-of.ts';
import { info, subtopology, topicsOf, topology } from '../support/topology-samples.ts';
import { sizesOf } from './configured-sizes.ts';

const kafka = resolveBehaviour('kafka');

describe('configureTopology() in profile kafka', () => {
  it('refuses what cannot be sized, once the sources are there (V-6, V-7, V-8)', () => {
    const unwritten = topology(
      subtopology('0', { sourceTopics: ['in'] }),
      subtopology('1', { repartitionSourceTopics: [info('r')] }),
    );
    const closed = topology(
      subtopology('0', {
        repartitionSourceTopics: [info('r')],
        repartitionSinkTopics: ['r'],
      }),
    );
    const bare = topology(subtopology('0', { sourceTopics: ['in'] }), subtopology('1'));
    for (const one of [unwritten, closed, bare]) {
      expect(refusalOf(() => configureTopology(one, topicsOf({ in: 2 }), kafka))?.error).to.equal(
        'STREAMS_INVALID_TOPOLOGY',
      );
    }
    expect(configureTopology(bare, topicsOf({}), kafka).problem?.status).to.equal(
      'MISSING_SOURCE_TOPICS',
    );
  });

  it('creates a fixed repartition topic that nobody writes (V-6)', () => {
    const one = topology(
      subtopology('0', { sourceTopics: ['in'] }),
      subtopology('1', { repartitionSourceTopics: [info('r', { partitions: 3 })] }),
    );
    expect(sizesOf(configureTopology(one, topicsOf({ in: 2 }), kafka))).to.deep.equal({
      problem: 'MISSING_INTERNAL_TOPICS',
      tasks: { '0': 2, '1': 3 },
      missing: { r: 3 },
    });
  });

  it('lets the one reader that names a size decide, and shows it to both (V-13)', () => {
    const read = (one: number, other: number) =>
      topology(
        subtopology('0', { sourceTopics: ['in'], repartitionSinkTopics: ['r'] }),
        subtopology('1', { repartitionSourceTopics: [info('r', { partitions: one })] }),
        subtopology('2', { repartitionSourceTopics: [info('r', { partitions: other })] }),
      );
    for (const one of [read(5, 0), read(0, 5)]) {
      const configured = configureTopology(one, topicsOf({ in: 2 }), kafka);
      expect(sizesOf(configured)).to.deep.equal({
        problem: 'MISSING_INTERNAL_TOPICS',
        tasks: { '0': 2, '1': 5, '2': 5 },
        missing: { r: 5 },
      });
      const sized = info('r', { partitions: 5 });
      expect(configured.subtopologies.flatMap((sub) => sub.repartitionSourceTopics)).to.deep.equal([
        sized,
        sized,
      ]);
    }
  });

  it('uses topics in two roles as they are (V-2, V-3, V-4)', () => {
    const alsoSource = topology(
      subtopology('0', { sourceTopics: ['in'], repartitionSinkTopics: ['r'] }),
      subtopology('1', { repartitionSourceTopics: [info('r')] }),
      subtopology('2', { sourceTopics: ['r'] }),
    );
    expect(configureTopology(alsoSource, topicsOf({ in: 2 }), kafka).problem?.status).to.equal(
      'MISSING_SOURCE_TOPICS',
    );
    expect(
      sizesOf(configureTopology(alsoSource, topicsOf({ in: 2, r: 2 }), kafka)).tasks,
    ).to.deep.equal({ '0': 2, '1': 2, '2': 2 });
    const alsoChangelog = topology(
      subtopology('0', { sourceTopics: ['in'], repartitionSinkTopics: ['r', 'c'] }),
      subtopology('1', {
        repartitionSourceTopics: [info('r')],
        stateChangelogTopics: [info('r'), info('c')],
      }),
    );
    expect(
      sizesOf(configureTopology(alsoChangelog, topicsOf({ in: 2 }), kafka)).missing,
    ).to.deep.equal({ c: 2, r: 2 });
  });

  it('creates with the default what asks for -1 replicas (V-12)', () => {
    const one = topology(
      subtopology('0', {
        sourceTopics: ['in'],
        stateChangelogTopics: [info('c', { replicationFactor: -1 })],
      }),
    );
    const configured = configureTopology(one, topicsOf({ in: 2 }), kafka);
    expect(configured.missingInternalTopics).to.deep.equal([
      { name: 'c', partitions: 2, replicationFactor: -1, configs: [] },
    ]);
    expect(configured.subtopologies[0]?.stateChangelogTopics).to.deep.equal([
      info('c', { partitions: 2, replicationFactor: -1 }),
    ]);
  });
});
