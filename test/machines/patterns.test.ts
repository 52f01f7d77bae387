import { expect } from 'chai';
import fc from 'fast-check';
import type { HeartbeatRequest } from '../../machines/commands.ts';
import { decideSearch, decideSearchOver } from '../../machines/decide/patterns.ts';
import { resolveTopology } from '../../machines/decide/resolve-topology.ts';
import { copartitionedTopics } from '../../machines/decide/topology.ts';
import type { Effect } from '../../machines/decision.ts';
import type { PatternSearch } from '../../machines/model/patterns.ts';
import type { Subtopology } from '../../machines/model/topology.ts';
import { keepingAssignor } from '../support/keeping-assignor.ts';
import { GROUP_ID, LoneCoordinator } from '../support/lone-coordinator.ts';
import { copartition, subtopology, topicsOf, topology } from '../support/topology-samples.ts';

const READS_PATTERN = topology(subtopology('0', { sourceTopicRegex: ['in-.*'] }));
const client = { clientId: 'c', clientHost: '/127.0.0.1', apiVersion: 1 };

function join(overrides: Partial<HeartbeatRequest> = {}): HeartbeatRequest {
  return {
    groupId: GROUP_ID,
    memberId: 'A',
    memberEpoch: 0,
    endpointInformationEpoch: 0,
    instanceId: null,
    rackId: null,
    rebalanceTimeoutMs: 60_000,
    topology: READS_PATTERN,
    activeTasks: [],
    standbyTasks: [],
    warmupTasks: [],
    processId: 'p',
    userEndpoint: null,
    clientTags: null,
    taskOffsets: null,
    taskEndOffsets: null,
    shutdownApplication: false,
    ...overrides,
  };
}

const beat = (memberEpoch: number): HeartbeatRequest =>
  join({
    memberEpoch,
    topology: null,
    activeTasks: null,
    standbyTasks: null,
    warmupTasks: null,
    rebalanceTimeoutMs: -1,
  });

/** A group of one member that reads `in-a` through a pattern. */
function joined(): LoneCoordinator {
  const coordinator = new LoneCoordinator(keepingAssignor);
  coordinator.setTopic('in-a', 2);
  coordinator.heartbeat(join(), client);
  return coordinator;
}

const found = (topicsVersion: number, ...topics: readonly string[]): PatternSearch => ({
  kind: 'found',
  topicsVersion,
  matches: [{ pattern: 'in-.*', topics }],
});

/** What the group is told it reads. */
const sources = ({ slot }: LoneCoordinator) => slot.soft.configured?.subtopologies[0]?.sourceTopics;

describe('decideHeartbeat() with patterns', () => {
  it('takes a newer search of a join, and leaves an older one (R-6)', () => {
    const coordinator = joined();
    coordinator.setTopic('in-b', 2);
    coordinator.heartbeat(join({ memberId: 'B', patternSearch: found(0) }), client);
    expect(sources(coordinator)).to.deep.equal(['in-a']);
    coordinator.heartbeat(join({ memberId: 'C' }), client);
    expect(sources(coordinator)).to.deep.equal(['in-a', 'in-b']);
  });

  it('has a new group come again while nobody can search, and makes no group (R-7)', () => {
    const coordinator = new LoneCoordinator(keepingAssignor);
    coordinator.searchFailure = 'away';
    const { answer, records } = coordinator.heartbeat(join(), client);
    expect([answer?.error, answer?.errorMessage, records, coordinator.slotOrNone]).to.deep.equal([
      'COORDINATOR_LOAD_IN_PROGRESS',
      'Source topic patterns are not resolved yet: away',
      [],
      undefined,
    ]);
  });

  it('lets a member into a group whose patterns are known, whatever its own search came to', () => {
    const coordinator = joined();
    const patternSearch = { kind: 'failed', reason: 'away' } as const;
    const { answer } = coordinator.heartbeat(join({ memberId: 'B', patternSearch }), client);
    expect(answer?.error).to.equal('NONE');
  });

  it('says why a pattern can stand for nothing, and mends when it can (6.1)', () => {
    const coordinator = new LoneCoordinator(keepingAssignor);
    coordinator.setTopic('in-a', 2);
    const patternSearch = { kind: 'unusable', reason: 'pattern in-.* matches 7 topics' } as const;
    const { answer } = coordinator.heartbeat(join({ patternSearch }), client);
    expect(answer?.statuses).to.deep.equal([
      {
        status: 'MISSING_SOURCE_TOPICS',
        detail: 'Source topics are missing: pattern in-.*: pattern in-.* matches 7 topics',
      },
    ]);
    coordinator.heartbeat(join(), client);
    expect(sources(coordinator)).to.deep.equal(['in-a']);
  });

  it('tells of a fault as long as it lasts, though no topic changed', () => {
    const coordinator = new LoneCoordinator(keepingAssignor);
    const patternSearch = { kind: 'unusable', reason: 'it is too much' } as const;
    coordinator.heartbeat(join({ patternSearch }), client);
    const { answer } = coordinator.heartbeat(join({ patternSearch: found(1) }), client);
    expect(answer?.statuses.map(({ detail }) => detail)).to.deep.equal([
      'Source topics are missing: pattern in-.*',
    ]);
  });
});

describe('decideSearchOver()', () => {
  const search = found(99, 'in-a', 'in-b');
  const outcomeFor = ({ slot }: LoneCoordinator) => ({
    incarnation: slot.soft.incarnation,
    topologyEpoch: 0,
    search,
  });

  it('marks the group to look at its topics, and writes nothing (R-6, R-7)', () => {
    const coordinator = joined();
    const { slot } = coordinator;
    const decision = decideSearchOver(slot, outcomeFor(coordinator), coordinator.context());
    expect(decision?.records).to.deep.equal([]);
    expect(decision?.soft.refreshDue).to.equal(true);
    expect(decision?.because).to.deep.equal(['Source topic patterns match in-b as well']);
  });

  it('changes nothing but the version when it finds what is known', () => {
    const coordinator = joined();
    const { slot } = coordinator;
    const outcome = { ...outcomeFor(coordinator), search: found(99, 'in-a') };
    const decision = decideSearchOver(slot, outcome, coordinator.context());
    expect(decision?.because).to.deep.equal([]);
    const { patterns, ...soft } = slot.soft;
    expect(decision?.soft).to.deep.equal({
      ...soft,
      patterns: { ...patterns, resolved: { ...patterns.resolved, topicsVersion: 99 } },
    });
  });

  it('is dropped when it is for another life of the group, or for none (OFF-2)', () => {
    const coordinator = joined();
    const outcome = { ...outcomeFor(coordinator), incarnation: 77 };
    const context = coordinator.context();
    expect(decideSearchOver(coordinator.slot, outcome, context)).to.equal(undefined);
    expect(decideSearchOver(undefined, outcome, context)).to.equal(undefined);
  });

  it('for another topology only makes another search due', () => {
    const coordinator = joined();
    const outcome = { ...outcomeFor(coordinator), topologyEpoch: 4 };
    const decision = decideSearchOver(coordinator.slot, outcome, coordinator.context());
    const { soft } = coordinator.slot;
    expect(decision?.soft).to.deep.equal({ ...soft, patterns: { ...soft.patterns, due: true } });
  });

  for (const bad of [
    { kind: 'failed', reason: 'away' },
    { kind: 'refused', error: 'INVALID_REGULAR_EXPRESSION', reason: 'odd' },
    { kind: 'unusable', reason: 'too many' },
  ] as const) {
    it(`leaves the group what it has when the search is ${bad.kind} (R-7)`, () => {
      const coordinator = joined();
      const outcome = { ...outcomeFor(coordinator), search: bad };
      const decision = decideSearchOver(coordinator.slot, outcome, coordinator.context());
      const { soft } = coordinator.slot;
      expect(decision?.soft.patterns.resolved).to.deep.equal(soft.patterns.resolved);
      expect(decision?.soft.refreshDue).to.equal(false);
      expect(decision?.because.join()).to.contain(bad.reason);
    });
  }
});

describe('decideSearch()', () => {
  const searches = (effects: readonly Effect[]) =>
    effects.flatMap((effect) => (effect.type === 'searchTopics' ? [effect.query] : []));

  it('asks once, 10 s after the last search at the earliest (R-6)', () => {
    const coordinator = joined();
    const due = () => ({
      ...coordinator.slot,
      soft: {
        ...coordinator.slot.soft,
        patterns: { ...coordinator.slot.soft.patterns, due: true },
      },
    });
    expect(decideSearch(due(), coordinator.context())).to.equal(undefined);
    coordinator.nowMs += 10_000;
    const decision = decideSearch(due(), coordinator.context());
    expect(searches(decision?.effects ?? [])).to.deep.equal([
      { incarnation: coordinator.slot.soft.incarnation, topologyEpoch: 0, patterns: ['in-.*'] },
    ]);
    const out = { ...coordinator.slot, soft: decision?.soft ?? coordinator.slot.soft };
    coordinator.nowMs += 600_000;
    expect(decideSearch(out, coordinator.context())).to.equal(undefined);
  });

  it('does not wait for a wall clock that went back', () => {
    const coordinator = joined();
    coordinator.nowMs -= 1;
    const { slot } = coordinator;
    const soft = { ...slot.soft, patterns: { ...slot.soft.patterns, due: true } };
    const decision = decideSearch({ ...slot, soft }, coordinator.context());
    expect(searches(decision?.effects ?? [])).to.have.length(1);
  });

  it('asks nothing for a group without members', () => {
    const coordinator = joined();
    coordinator.heartbeat({ ...beat(-1) }, client);
    coordinator.nowMs += 600_000;
    expect(decideSearch(coordinator.slot, coordinator.context())).to.equal(undefined);
  });
});

describe('resolveTopology()', () => {
  it('leaves out topics of Kafka, topics that are named, and topics that are gone (R-3)', () => {
    const { topology: resolved } = resolveTopology(
      topology(
        subtopology('0', { sourceTopicRegex: ['.*'] }),
        subtopology('1', { sourceTopics: ['named'] }),
      ),
      [{ pattern: '.*', topics: ['__consumer_offsets', 'gone', 'in', 'named'] }],
      topicsOf({ __consumer_offsets: 50, in: 1, named: 1 }),
    );
    expect(resolved.subtopologies.map((one) => one.sourceTopics)).to.deep.equal([
      ['in'],
      ['named'],
    ]);
  });

  it('keeps a pattern that nothing is left of, and the topology as it is without any', () => {
    const plain = topology(subtopology('0', { sourceTopics: ['in'] }));
    expect(resolveTopology(plain, [], topicsOf({})).topology).to.deep.equal(plain);
    expect(resolveTopology(READS_PATTERN, [], topicsOf({})).topology).to.deep.equal(READS_PATTERN);
  });

  it('names a topic for two subtopologies, not one for two patterns of the same (R-5)', () => {
    const two = [
      { pattern: 'a.*', topics: ['ab'] },
      { pattern: '.*b', topics: ['ab'] },
    ];
    const of = (...subtopologies: readonly Subtopology[]) =>
      resolveTopology(topology(...subtopologies), two, topicsOf({ ab: 1 }));
    const one = of(subtopology('0', { sourceTopicRegex: ['a.*', '.*b'] }));
    expect([one.clash, one.topology.subtopologies[0]?.sourceTopics]).to.deep.equal([
      undefined,
      ['ab'],
    ]);
    const both = of(
      subtopology('0', { sourceTopicRegex: ['a.*'] }),
      subtopology('1', { sourceTopicRegex: ['.*b'] }),
    );
    expect(both.clash).to.equal('ab');
  });

  it('keeps copartition groups together: each means its topics and what its patterns match (V-5)', () => {
    const names = ['a', 'b', 'c', 'd'];
    const patterns = ['p', 'q', 'r'];
    const indexes = (length: number) => fc.uniqueArray(fc.nat({ max: length - 1 }));
    fc.assert(
      fc.property(
        fc.array(fc.subarray(names), { minLength: 3, maxLength: 3 }),
        indexes(2),
        indexes(3),
        (matched, sourceTopics, sourceTopicRegex) => {
          const one = subtopology('0', {
            sourceTopics: ['x', 'y'],
            sourceTopicRegex: patterns,
            copartitionGroups: [copartition({ sourceTopics, sourceTopicRegex })],
          });
          const matches = patterns.map((pattern, at) => ({ pattern, topics: matched[at] ?? [] }));
          const view = topicsOf({ a: 1, b: 1, c: 1, d: 1 });
          const [resolved] = resolveTopology(topology(one), matches, view).topology.subtopologies;
          const [group] = resolved?.copartitionGroups ?? [];
          if (resolved === undefined || group === undefined) throw new Error('Nothing came of it');
          const wanted = new Set([
            ...sourceTopics.map((index) => ['x', 'y'][index] ?? ''),
            ...sourceTopicRegex.flatMap((index) => matched[index] ?? []),
          ]);
          expect(copartitionedTopics(resolved, group)).to.deep.equal([...wanted].sort());
        },
      ),
    );
  });
});
