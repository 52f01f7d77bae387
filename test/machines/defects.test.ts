import { expect } from 'chai';
import { describeGroup } from '../../machines/decide/describe.ts';
import type { Profile } from '../../machines/model/profile.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { activeOf, errorOf, Stage, statusesOf } from '../support/stage.ts';
import { copartition, info, subtopology, topology } from '../support/topology-samples.ts';

const ENDPOINT_A = { host: 'host-a', port: 7001 };
const ENDPOINT_B = { host: 'host-b', port: 7002 };
const SHUTDOWN = ['SHUTDOWN_APPLICATION'];
const READING = subtopology('0', { sourceTopics: ['in'] });

/** Topologies that contradict themselves, each in one way. */
const TWICE = topology(READING, READING);
const NEGATIVE: Topology = { epoch: -1, subtopologies: [READING] };
const OUTSIDE = topology({
  ...READING,
  copartitionGroups: [copartition({ sourceTopics: [0, 5] })],
});
const OUTSIDE_REPARTITION = topology({
  ...READING,
  copartitionGroups: [copartition({ sourceTopics: [0], repartitionSourceTopics: [0] })],
});

/** A subtopology that writes to another, which has a store. */
const CHAIN = topology(
  subtopology('0', { sourceTopics: ['in'], repartitionSinkTopics: ['r'] }),
  subtopology('1', { repartitionSourceTopics: [info('r')], stateChangelogTopics: [info('c')] }),
);

function staged(profile: Profile, topics: Readonly<Record<string, number>> = { in: 2 }): Stage {
  const stage = new Stage({ profile });
  stage.coordinator.setTopic('in', 0);
  for (const [name, count] of Object.entries(topics)) stage.coordinator.setTopic(name, count);
  return stage;
}

function shown({ coordinator }: Stage) {
  const { slot, behaviour, settings } = coordinator;
  return describeGroup(slot, { behaviour, settings });
}

/** Partition counts of internal topics as they are described. */
function shownCounts(stage: Stage): Readonly<Record<string, number>> {
  const subtopologies = shown(stage).topology?.subtopologies ?? [];
  return Object.fromEntries(
    subtopologies
      .flatMap((one) => [...one.stateChangelogTopics, ...one.repartitionSourceTopics])
      .map(({ name, partitions }) => [name, partitions]),
  );
}

/** What each member is described to have reported of task `0_n`: `A 0:1/9` is offset 1 of 9. */
function shownOffsets(stage: Stage): readonly string[] {
  return shown(stage).members.map(({ memberId, taskOffsets, taskEndOffsets }) => {
    const ends = new Map(taskEndOffsets.map(({ partition, offset }) => [partition, offset]));
    const tasks = taskOffsets.map(
      ({ partition, offset }) => `${partition}:${offset}/${ends.get(partition) ?? '-'}`,
    );
    return [memberId, ...tasks].join(' ');
  });
}

function at(partition: number, offset: bigint): readonly TaskOffset[] {
  return [{ subtopologyId: '0', partition, offset }];
}

function refusals(stage: Stage, topologies: readonly Topology[]) {
  return topologies.map((one) => errorOf(stage.join('B', { with: { topology: one } })));
}

/** What is right where a recorded trace shows a defect; each title begins with the name of its trace. */
for (const profile of ['kip', 'kafka'] as const) {
  describe(`defects of Apache Kafka 4.4.0, answered right in profile ${profile}`, () => {
    for (const [trace, what, one] of [
      ['topology-negative-epoch', 'an epoch below zero (V-11)', NEGATIVE],
      ['topology-subtopology-twice', 'one id twice (V-10)', TWICE],
      ['topology-copartition-index-outside', 'an index past the sources (V-5)', OUTSIDE],
      ['topology-copartition-index-outside', 'an index of no topic (V-5)', OUTSIDE_REPARTITION],
    ] as const) {
      it(`${trace}: refuses as invalid ${what}, and stores nothing`, () => {
        const stage = staged(profile);
        const answer = stage.join('A', { with: { topology: one } });
        expect(answer?.error).to.equal('STREAMS_INVALID_TOPOLOGY');
        expect(answer?.errorMessage).to.match(/^Cannot use topology: /);
        expect([stage.describe(), stage.coordinator.log]).to.deep.equal([['no group'], []]);
      });
    }

    it('topology-unreadable-against-a-living-group: what is invalid is so whatever the group has (V-5, V-10, V-11)', () => {
      const stage = staged(profile);
      stage.join('A');
      const { slot } = stage.coordinator;
      expect(refusals(stage, [OUTSIDE, TWICE, NEGATIVE])).to.deep.equal(
        Array(3).fill('STREAMS_INVALID_TOPOLOGY'),
      );
      expect(stage.coordinator.slot).to.equal(slot);
      expect(errorOf(stage.beat('A'))).to.equal('NONE');
    });

    it('topology-repartition-two-sizes: readers that name two sizes are refused, whichever comes first (V-13)', () => {
      const read = (one: number, other: number) =>
        topology(
          subtopology('0', { sourceTopics: ['in'], repartitionSinkTopics: ['r'] }),
          subtopology('1', { repartitionSourceTopics: [info('r', { partitions: one })] }),
          subtopology('2', { repartitionSourceTopics: [info('r', { partitions: other })] }),
        );
      const stage = staged(profile);
      expect(refusals(stage, [read(3, 5), read(5, 3)])).to.deep.equal(
        Array(2).fill('STREAMS_INVALID_TOPOLOGY'),
      );
      expect(stage.describe()).to.deep.equal(['no group']);
    });

    it('topology-repartition-two-writers: the wider writer decides, in whatever order they come (6.4)', () => {
      const written = (first: string, second: string) =>
        topology(
          subtopology('0', { sourceTopics: [first], repartitionSinkTopics: ['r'] }),
          subtopology('1', { sourceTopics: [second], repartitionSinkTopics: ['r'] }),
          subtopology('2', { repartitionSourceTopics: [info('r')] }),
        );
      for (const one of [written('narrow', 'wide'), written('wide', 'narrow')]) {
        const stage = staged(profile, { narrow: 2, wide: 5 });
        expect(statusesOf(stage.join('A', { with: { topology: one } }))).to.deep.equal([
          'MISSING_INTERNAL_TOPICS',
        ]);
        expect(stage.coordinator.createdTopics).to.deep.equal(['r:5']);
        stage.coordinator.setTopic('r', 5);
        stage.settle('A');
        expect(shownCounts(stage)).to.deep.equal({ r: 5 });
      }
    });

    for (const [trace, one, topics, counts] of [
      ['describe-before-first-beat', CHAIN, { in: 3, r: 3, c: 3 }, { c: 3, r: 3 }],
      [
        'topology-source-is-changelog',
        topology({ ...READING, stateChangelogTopics: [info('in')] }),
        { in: 3 },
        { in: 3 },
      ],
    ] as const) {
      it(`${trace}: a ready group is described with its counts right after the join that made it (12.4)`, () => {
        const stage = staged(profile, topics);
        stage.join('A', { with: { topology: one } });
        expect(shown(stage).groupState).to.equal('Stable');
        expect(shownCounts(stage)).to.deep.equal(counts);
      });
    }

    it('describe-empty: a group that is empty goes on to show its counts, whatever was written before (12.4, N-1)', () => {
      const stage = staged(profile, { in: 2, r: 2, c: 2 });
      stage.join('A', { with: { topology: CHAIN } });
      stage.leave('A');
      expect(stage.describe()).to.deep.equal(['Empty 3/3']);
      expect(shownCounts(stage)).to.deep.equal({ c: 2, r: 2 });
    });

    it('topology-endpoint-while-source-missing: members with endpoints are served while a source is missing (I-9)', () => {
      const stage = staged(profile, {});
      const withA = { userEndpoint: ENDPOINT_A, endpointInformationEpoch: -1 };
      const joined = stage.join('A', { with: withA });
      const empty = { userEndpoint: ENDPOINT_A, activePartitions: [], standbyPartitions: [] };
      expect([errorOf(joined), statusesOf(joined)]).to.deep.equal([
        'NONE',
        ['MISSING_SOURCE_TOPICS'],
      ]);
      expect(joined?.partitionsByUserEndpoint).to.deep.equal([empty]);
      const second = stage.join('B', { with: { endpointInformationEpoch: -1 } });
      expect(second?.partitionsByUserEndpoint).to.deep.equal([empty]);
      stage.coordinator.setTopic('in', 2);
      stage.settle('A', 'B');
      const told = stage.beat('B', 'silent', { with: { endpointInformationEpoch: -1 } });
      const activePartitions = [{ topic: 'in', partitions: [0] }];
      expect(told?.partitionsByUserEndpoint).to.deep.equal([{ ...empty, activePartitions }]);
    });

    it('topology-uneven-sources: a member with an endpoint is told so, and works with what the widest gives (6.6, 6.10, I-7, I-9)', () => {
      const uneven = topology(
        subtopology('0', { sourceTopics: ['a', 'b'], stateChangelogTopics: [info('c')] }),
      );
      const stage = staged(profile, { a: 3, b: 5 });
      const endpoint = { userEndpoint: ENDPOINT_A, endpointInformationEpoch: -1 };
      const joined = stage.join('A', { with: { ...endpoint, topology: uneven } });
      expect(statusesOf(joined)).to.deep.equal(['MISSING_INTERNAL_TOPICS']);
      stage.coordinator.setTopic('c', 5);
      const told = stage.beat('A', 'silent', { with: { endpointInformationEpoch: -1 } });
      expect(activeOf(told)).to.equal('0:[0-4]');
      expect(told?.partitionsByUserEndpoint).to.deep.equal([
        {
          userEndpoint: ENDPOINT_A,
          activePartitions: [
            { topic: 'a', partitions: [0, 1, 2] },
            { topic: 'b', partitions: [0, 1, 2, 3, 4] },
          ],
          standbyPartitions: [],
        },
      ]);
    });

    // That a removal is no news of itself is held by three traces that show no defect, so that part stays as it is there
    // (endpoint-epoch-moves, endpoint-one-entry-per-member, endpoint-standby-partitions; IQ-1, X26).
    it('endpoint-of-a-member-that-left: whoever is told a map is told none of those that are gone (IQ-1, IQ-2, I-3)', () => {
      const stage = staged(profile);
      stage.join('A', { with: { endpointInformationEpoch: -1 } });
      stage.join('B', { with: { userEndpoint: ENDPOINT_B, endpointInformationEpoch: -1 } });
      stage.settle('A', 'B');
      const asks = (epoch: number) => {
        const answer = stage.beat('A', 'silent', { with: { endpointInformationEpoch: epoch } });
        return [answer?.endpointInformationEpoch, answer?.partitionsByUserEndpoint];
      };
      const [before] = asks(-1);
      stage.leave('B');
      const isNews = profile === 'kip';
      expect(asks(Number(before))).to.deep.equal([
        Number(before) + (isNews ? 1 : 0),
        isNews ? [] : null,
      ]);
      expect(asks(-1)[1]).to.deep.equal([]);
    });

    it('task-offsets: what the join that makes a group reports is kept, replaced as a whole, cleared by empty (OFS-1, OFS-2, ORD-2)', () => {
      const stage = staged(profile);
      stage.join('A', { with: { taskOffsets: at(0, 1n), taskEndOffsets: at(0, 9n) } });
      expect(shownOffsets(stage)).to.deep.equal(['A 0:1/9']);
      stage.beat('A');
      expect(shownOffsets(stage), 'nothing said').to.deep.equal(['A 0:1/9']);
      stage.beat('A', 'silent', { with: { taskOffsets: at(1, 7n) } });
      expect(shownOffsets(stage)).to.deep.equal(['A 1:7/-']);
      stage.beat('A', 'silent', { with: { taskOffsets: [] } });
      expect(shownOffsets(stage)).to.deep.equal(['A']);
    });

    it('task-offsets-in-joins: every join keeps what it reports, the first, a second, a repeated one (OFS-1, JOIN-5)', () => {
      const stage = staged(profile);
      stage.join('A', { with: { taskOffsets: at(0, 1n) } });
      stage.join('B', { with: { taskOffsets: at(1, 3n) } });
      expect(shownOffsets(stage)).to.deep.equal(['A 0:1/-', 'B 1:3/-']);
      stage.join('A', { with: { taskOffsets: at(0, 2n) } });
      expect(shownOffsets(stage)).to.deep.equal(['A 0:2/-', 'B 1:3/-']);
    });

    it('shutdown-in-the-creating-join: the group remembers it, and tells whoever comes (SHUT-1, SHUT-2)', () => {
      const stage = staged(profile);
      const joined = stage.join('A', { with: { shutdownApplication: true } });
      expect(statusesOf(joined)).to.deep.equal(SHUTDOWN);
      expect(statusesOf(stage.beat('A'))).to.deep.equal(SHUTDOWN);
      expect(statusesOf(stage.join('B'))).to.deep.equal(SHUTDOWN);
    });

    it('shutdown-and-the-only-static-member: a return from a break ends no wish to shut down (SHUT-1, STAT-3)', () => {
      const stage = staged(profile);
      const instanceId = 'a';
      stage.join('A', { processId: 'p1', with: { instanceId } });
      stage.settle('A');
      stage.leave('A', { memberEpoch: -2, instanceId, shutdownApplication: true });
      const returned = stage.join('B', { processId: 'p1', with: { instanceId } });
      expect(statusesOf(returned)).to.deep.equal(SHUTDOWN);
      expect(statusesOf(stage.beat('B', 'told'))).to.deep.equal(SHUTDOWN);
    });

    it('topology-task-that-is-gone: a task that the member was given is known, though its topic shrank since (REQ-16)', () => {
      const stage = staged(profile, { in: 4 });
      stage.join('A');
      stage.settle('A');
      stage.coordinator.setTopic('in', 2);
      const reported = stage.beat('A', 'told');
      expect([errorOf(reported), activeOf(reported)]).to.deep.equal(['NONE', '0:[0-1]']);
      const activeTasks = [{ subtopologyId: '0', partitions: [0, 1, 3] }];
      stage.beat('A', 'told');
      const strange = { activeTasks, standbyTasks: [], warmupTasks: [] };
      expect(errorOf(stage.beat('A', 'told', { with: strange, lost: true }))).to.equal(
        'INVALID_REQUEST',
      );
    });
  });
}
