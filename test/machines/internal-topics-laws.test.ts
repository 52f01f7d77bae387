import { expect } from 'chai';
import fc from 'fast-check';
import { configureTopology } from '../../machines/decide/internal-topics.ts';
import { refuseInvalidTopology } from '../../machines/decide/topology.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import type {
  ConfiguredTopology,
  CopartitionGroup,
  Subtopology,
  TopicInfo,
  Topology,
} from '../../machines/model/topology.ts';
import { refusalOf } from '../support/refusal-of.ts';
import { copartition, info, subtopology, topicsOf, topology } from '../support/topology-samples.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');

/** Sources s0..s2, repartition topics r0..r2, changelogs c0..c1; subtopology i writes what it likes. */
const counts = fc.record({
  s0: fc.integer({ min: 1, max: 4 }),
  s1: fc.integer({ min: 1, max: 4 }),
  r0: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  c0: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
});
const fixedCounts = fc.record({
  r0: fc.constantFrom(0, 0, 3),
  r1: fc.constantFrom(0, 0, 2),
  r2: fc.constant(0),
});
const part = fc.record({
  sources: fc.subarray(['s0', 's1']),
  reads: fc.subarray(['r0', 'r1', 'r2']),
  writes: fc.subarray(['r0', 'r1', 'r2']),
  keeps: fc.subarray(['c0', 'c1']),
  joined: fc.boolean(),
});
const anyTopology = fc
  .record({ parts: fc.array(part, { minLength: 1, maxLength: 4 }), fixed: fixedCounts })
  .map(({ parts, fixed }) => {
    const subtopologies = parts.map(({ sources, reads, writes, keeps, joined }, at) =>
      subtopology(String(at), {
        sourceTopics: sources,
        repartitionSourceTopics: reads.map((name) =>
          info(name, { partitions: fixed[name as keyof typeof fixed] }),
        ),
        repartitionSinkTopics: writes,
        stateChangelogTopics: keeps.map((name) => info(name)),
        copartitionGroups: joined
          ? [
              copartition({
                sourceTopics: sources.map((_, index) => index),
                repartitionSourceTopics: reads.map((_, index) => index),
              }),
            ]
          : [],
      }),
    );
    return topology(...subtopologies);
  })
  .filter((one) => refusalOf(() => refuseInvalidTopology(one, kip)) === undefined);
const anyCounts = counts.map(
  (given) =>
    Object.fromEntries(Object.entries(given).filter(([, count]) => count !== undefined)) as Record<
      string,
      number
    >,
);

/** Another way to write the same subtopology down: every list turned round, indexes following. */
function turned(one: Subtopology): Subtopology {
  const flip = (length: number) => (index: number) => length - 1 - index;
  const group = (given: CopartitionGroup): CopartitionGroup => ({
    sourceTopics: given.sourceTopics.map(flip(one.sourceTopics.length)).reverse(),
    sourceTopicRegex: [],
    repartitionSourceTopics: given.repartitionSourceTopics.map(
      flip(one.repartitionSourceTopics.length),
    ),
  });
  return {
    ...one,
    sourceTopics: one.sourceTopics.toReversed(),
    repartitionSinkTopics: one.repartitionSinkTopics.toReversed(),
    repartitionSourceTopics: one.repartitionSourceTopics.toReversed(),
    stateChangelogTopics: one.stateChangelogTopics.toReversed(),
    copartitionGroups: one.copartitionGroups.map(group),
  };
}

/** Says what is wrong with decided counts, by the definitions alone. */
function faultsOf(one: Topology, configured: ConfiguredTopology, real: Record<string, number>) {
  const faults: string[] = [];
  const decided = new Map<string, number>();
  const note = (topic: TopicInfo) => {
    const other = decided.get(topic.name) ?? topic.partitions;
    if (other !== topic.partitions) faults.push(`${topic.name} has two sizes`);
    decided.set(topic.name, topic.partitions);
    const found = real[topic.name];
    if (found !== undefined && found !== topic.partitions) faults.push(`${topic.name} misfits`);
  };
  for (const sub of configured.subtopologies) sub.repartitionSourceTopics.forEach(note);
  const countOf = (name: string) => real[name] ?? decided.get(name) ?? 0;
  for (const sub of configured.subtopologies) {
    const sent = one.subtopologies.find((each) => each.subtopologyId === sub.subtopologyId);
    const inputs = [
      ...(sent?.sourceTopics ?? []),
      ...(sent?.repartitionSourceTopics ?? []).map((topic) => topic.name),
    ];
    if (sub.taskCount !== Math.max(...inputs.map(countOf))) faults.push('tasks are not the widest');
    for (const topic of sub.stateChangelogTopics) {
      if (topic.partitions < sub.taskCount) faults.push(`${topic.name} is too narrow`);
    }
    for (const topic of sent?.repartitionSourceTopics ?? []) {
      if (topic.partitions > 0 && countOf(topic.name) !== topic.partitions) {
        faults.push(`${topic.name} is not as fixed`);
      }
    }
    for (const group of sent?.copartitionGroups ?? []) {
      const joined = [
        ...group.sourceTopics.map((index) => sent?.sourceTopics[index] ?? ''),
        ...group.repartitionSourceTopics.map(
          (index) => sent?.repartitionSourceTopics[index]?.name ?? '',
        ),
      ];
      if (new Set(joined.map(countOf)).size > 1) faults.push(`${joined} are not copartitioned`);
    }
  }
  const missing = configured.missingInternalTopics;
  for (const topic of missing) {
    if (real[topic.name] !== undefined) faults.push(`${topic.name} exists`);
    if (topic.partitions < 1) faults.push(`${topic.name} is to have no partition`);
  }
  if (new Set(missing.map((topic) => topic.name)).size !== missing.length) {
    faults.push('a topic is created twice');
  }
  return faults;
}

describe('configureTopology() for any topology', () => {
  it('does not depend on the order in which subtopologies and lists are written (6.4, E-2)', () => {
    fc.assert(
      fc.property(anyTopology, anyCounts, (one, real) => {
        const other = topology(...one.subtopologies.map(turned).toReversed());
        const topics = topicsOf(real);
        expect(configureTopology(other, topics, kip)).to.deep.equal(
          configureTopology(one, topics, kip),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('decides counts that a slow checker finds no fault with (6.3 to 6.11)', () => {
    fc.assert(
      fc.property(anyTopology, anyCounts, (one, real) => {
        // Only one group may move a topic: a second one is not fed back (6.5).
        fc.pre(one.subtopologies.filter((sub) => sub.copartitionGroups.length > 0).length <= 1);
        const configured = configureTopology(one, topicsOf(real), kip);
        expect(faultsOf(one, configured, real)).to.deep.equal([]);
      }),
      { numRuns: 500 },
    );
  });

  it('is ready once what it asks for is created as asked (6.8, 6.12)', () => {
    fc.assert(
      fc.property(anyTopology, anyCounts, (one, real) => {
        for (const behaviour of [kip, kafka]) {
          // Only one group may move a topic: a second one is not fed back (6.5).
          fc.pre(one.subtopologies.filter((sub) => sub.copartitionGroups.length > 0).length <= 1);
          const first = configureTopology(one, topicsOf(real), behaviour);
          if (first.problem?.status !== 'MISSING_INTERNAL_TOPICS') continue;
          const made = first.missingInternalTopics.map((topic) => [topic.name, topic.partitions]);
          const second = configureTopology(
            one,
            topicsOf({ ...real, ...Object.fromEntries(made) }),
            behaviour,
          );
          expect(second.problem).to.equal(undefined);
          expect(second.subtopologies).to.deep.equal(first.subtopologies);
        }
      }),
      { numRuns: 500 },
    );
  });
});
