import { expect } from 'chai';
import { configureTopology } from '../../machines/decide/internal-topics.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { copartition, info, subtopology, topicsOf, topology } from '../support/topology-samples.ts';
import { sizesOf } from './configured-sizes.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');

const JOINED = (fixed: number) =>
  topology(
    subtopology('0', { sourceTopics: ['in'], repartitionSinkTopics: ['r'] }),
    subtopology('1', {
      sourceTopics: ['table'],
      repartitionSourceTopics: [info('r', { partitions: fixed })],
      stateChangelogTopics: [info('c')],
      copartitionGroups: [copartition({ sourceTopics: [0], repartitionSourceTopics: [0] })],
    }),
  );

describe('configureTopology(): topics that are joined (6.5)', () => {
  it('refuses copartitioned sources that differ (6.5.2, vector 2)', () => {
    const one = topology(
      subtopology('0', {
        sourceTopics: ['b', 'a'],
        copartitionGroups: [copartition({ sourceTopics: [0, 1] })],
      }),
    );
    expect(configureTopology(one, topicsOf({ a: 3, b: 5 }), kip).problem).to.deep.equal({
      status: 'INCORRECTLY_PARTITIONED_TOPICS',
      detail: 'Topics that are joined differ in their partitions: a=3, b=5',
    });
  });

  it('makes a repartition topic as wide as what it is joined with (6.2, 6.5.4, vector 5)', () => {
    for (const table of [6, 3]) {
      expect(sizesOf(configureTopology(JOINED(0), topicsOf({ in: 4, table }), kip))).to.deep.equal({
        problem: 'MISSING_INTERNAL_TOPICS',
        tasks: { '0': 4, '1': table },
        missing: { c: table, r: table },
      });
    }
  });

  it('refuses a fixed repartition topic that does not fit its partners (6.5.4, vector 6)', () => {
    expect(configureTopology(JOINED(4), topicsOf({ in: 4, table: 6 }), kip)).to.deep.include({
      problem: {
        status: 'INCORRECTLY_PARTITIONED_TOPICS',
        detail:
          'Repartition topic r does not fit the topics it is joined with: ' +
          'it is to have 4 partitions, expected 6',
      },
      subtopologies: [],
      missingInternalTopics: [],
    });
    expect(
      sizesOf(configureTopology(JOINED(6), topicsOf({ in: 4, table: 6 }), kip)).tasks,
    ).to.deep.equal({ '0': 4, '1': 6 });
  });

  it('gives joined repartition topics the widest of them (6.5.3)', () => {
    const one = topology(
      subtopology('0', { sourceTopics: ['a'], repartitionSinkTopics: ['r1'] }),
      subtopology('1', { sourceTopics: ['b'], repartitionSinkTopics: ['r2'] }),
      subtopology('2', {
        repartitionSourceTopics: [info('r1'), info('r2')],
        copartitionGroups: [copartition({ repartitionSourceTopics: [0, 1] })],
      }),
    );
    expect(sizesOf(configureTopology(one, topicsOf({ a: 2, b: 5 }), kip))).to.deep.equal({
      problem: 'MISSING_INTERNAL_TOPICS',
      tasks: { '0': 2, '1': 5, '2': 5 },
      missing: { r1: 5, r2: 5 },
    });
  });

  const apart = (s1: number, s2: number, x: number) =>
    topology(
      subtopology('0', { sourceTopics: ['a'], repartitionSinkTopics: ['s1', 's2', 'x'] }),
      subtopology('1', {
        repartitionSourceTopics: [info('s1', { partitions: s1 }), info('s2', { partitions: s2 })],
        copartitionGroups: [copartition({ repartitionSourceTopics: [0, 1] })],
      }),
      subtopology('2', { repartitionSourceTopics: [info('x', { partitions: x })] }),
    );

  it('lets the fixed one of joined repartition topics decide, and refuses two that clash (6.5.3)', () => {
    expect(
      sizesOf(configureTopology(apart(4, 0, 0), topicsOf({ a: 2 }), kip)).missing,
    ).to.deep.equal({ s1: 4, s2: 4, x: 2 });
    expect(configureTopology(apart(4, 6, 0), topicsOf({ a: 2 }), kip).problem).to.deep.equal({
      status: 'INCORRECTLY_PARTITIONED_TOPICS',
      detail: 'Topics that are joined differ in their partitions: s1=4, s2=6',
    });
  });

  it('does not look at fixed topics outside the group; in profile kafka it does (6.5.3)', () => {
    const topics = topicsOf({ a: 2 });
    expect(sizesOf(configureTopology(apart(0, 0, 7), topics, kip)).missing).to.deep.equal({
      s1: 2,
      s2: 2,
      x: 7,
    });
    expect(sizesOf(configureTopology(apart(0, 0, 7), topics, kafka)).missing).to.deep.equal({
      s1: 7,
      s2: 7,
      x: 7,
    });
    expect(sizesOf(configureTopology(apart(4, 0, 7), topics, kip)).problem).to.equal(
      'MISSING_INTERNAL_TOPICS',
    );
    expect(sizesOf(configureTopology(apart(4, 0, 7), topics, kafka)).problem).to.equal(
      'INCORRECTLY_PARTITIONED_TOPICS',
    );
  });
});
