import { expect } from 'chai';
import {
  describeGroup,
  describeMissing,
  listGroup,
  matchesFilter,
} from '../../machines/decide/describe.ts';
import { configureTopology } from '../../machines/decide/internal-topics.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { UNHEARD_MEMBER } from '../../machines/model/empty.ts';
import { PersistentMap } from '../../machines/model/persistent-map.ts';
import { type Behaviour, resolveBehaviour } from '../../machines/model/profile.ts';
import type { TopicsView } from '../../machines/model/topics.ts';
import type { Topology } from '../../machines/model/topology.ts';
import {
  info,
  REPARTITIONED,
  subtopology,
  topicsOf,
  topology,
} from '../support/topology-samples.ts';
import { groupRecords, offsetRecord, slotOf } from './group-samples.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');

function configuredWith(slot: GroupSlot, one: Topology, topics: TopicsView): GroupSlot {
  return { ...slot, soft: { ...slot.soft, configured: configureTopology(one, topics, kip) } };
}

const describeAs = (slot: GroupSlot, behaviour: Behaviour) =>
  describeGroup(slot, {
    behaviour,
    settings: { assignorName: 'sticky', assignorSelected: true },
  });

const asSent = {
  epoch: 0,
  subtopologies: [
    {
      subtopologyId: '0',
      sourceTopics: ['in'],
      repartitionSinkTopics: ['app-r-repartition'],
      stateChangelogTopics: [],
      repartitionSourceTopics: [],
    },
    {
      subtopologyId: '1',
      sourceTopics: [],
      repartitionSinkTopics: [],
      stateChangelogTopics: [info('app-agg-changelog')],
      repartitionSourceTopics: [info('app-r-repartition')],
    },
  ],
};
const decided = {
  ...asSent,
  subtopologies: [
    asSent.subtopologies[0],
    {
      ...asSent.subtopologies[1],
      stateChangelogTopics: [info('app-agg-changelog', { partitions: 4 })],
      repartitionSourceTopics: [info('app-r-repartition', { partitions: 4 })],
    },
  ],
};
const ALL_TOPICS = topicsOf({ in: 4, 'app-r-repartition': 4, 'app-agg-changelog': 4 });

describe('describeGroup()', () => {
  it('S40 A described group always shows its topology (12.4)', () => {
    const members = { A: {} };
    const notReady = slotOf(groupRecords(members, { topology: REPARTITIONED, isReady: false }));
    const missing = configuredWith(notReady, REPARTITIONED, topicsOf({}));
    const incomplete = configuredWith(notReady, REPARTITIONED, topicsOf({ in: 4 }));
    for (const slot of [notReady, missing, incomplete]) {
      const { groupState, topology: shown } = describeAs(slot, kip);
      expect({ groupState, topology: shown }).to.deep.equal({
        groupState: 'NotReady',
        topology: asSent,
      });
    }
    const ready = slotOf(groupRecords(members, { topology: REPARTITIONED }));
    const stable = describeAs(configuredWith(ready, REPARTITIONED, ALL_TOPICS), kip);
    expect(stable).to.deep.include({ error: 'NONE', groupState: 'Stable', topology: decided });
    const left = slotOf(groupRecords({}, { topology: REPARTITIONED }));
    expect(describeAs(configuredWith(left, REPARTITIONED, ALL_TOPICS), kip)).to.deep.include({
      groupState: 'Empty',
      topology: decided,
      members: [],
    });
    expect(describeAs(left, kip)).to.deep.include({ groupState: 'Empty', topology: asSent });
  });

  it('shows decided counts at once in profile kafka too (12.4)', () => {
    const slot = configuredWith(
      slotOf(groupRecords({ A: {} }, { topology: REPARTITIONED })),
      REPARTITIONED,
      ALL_TOPICS,
    );
    expect(describeAs(slot, kafka).topology).to.deep.equal(decided);
  });

  it('shows the stored topology while another one is configured (12.4)', () => {
    const slot = slotOf(groupRecords({ A: {} }, { topology: { ...REPARTITIONED, epoch: 1 } }));
    const behind = configuredWith(slot, REPARTITIONED, ALL_TOPICS);
    expect(describeAs(behind, kip).topology).to.deep.equal({ ...asSent, epoch: 1 });
  });

  it('answers a group without a topology with an empty one (12.6)', () => {
    const records = groupRecords().filter((record) => record.type !== 'topology');
    expect(describeAs(slotOf(records), kip).topology).to.deep.equal({
      epoch: 0,
      subtopologies: [],
    });
  });

  it('sorts subtopologies and lists; a topic named twice is shown twice in profile kafka only', () => {
    const one = topology(
      subtopology('9', {
        sourceTopics: ['in', 'b', 'in'],
        repartitionSinkTopics: ['r2', 'r1'],
        stateChangelogTopics: [info('d'), info('c', { topicConfigs: [{ key: 'z', value: '1' }] })],
      }),
      subtopology('10', { sourceTopics: ['in'] }),
    );
    const slot = slotOf(groupRecords({}, { topology: one, isReady: false }));
    const expected = (sourceTopics: readonly string[]) => [
      {
        subtopologyId: '10',
        sourceTopics: ['in'],
        repartitionSinkTopics: [],
        stateChangelogTopics: [],
        repartitionSourceTopics: [],
      },
      {
        subtopologyId: '9',
        sourceTopics,
        repartitionSinkTopics: ['r1', 'r2'],
        stateChangelogTopics: [info('c', { topicConfigs: [{ key: 'z', value: '1' }] }), info('d')],
        repartitionSourceTopics: [],
      },
    ];
    expect(describeAs(slot, kip).topology?.subtopologies).to.deep.equal(expected(['b', 'in']));
    expect(describeAs(slot, kafka).topology?.subtopologies).to.deep.equal(
      expected(['b', 'in', 'in']),
    );
  });

  it('shows members with what they have, are to have and have reported (12.4, 12.5)', () => {
    const slot = slotOf(
      groupRecords({
        B: { memberEpoch: 2 },
        A: {
          instanceId: 'i',
          rackId: 'r',
          clientId: 'c',
          clientHost: '/10.0.0.1',
          processId: 'p',
          userEndpoint: { host: 'h', port: 1 },
          clientTags: [{ key: 'zone', value: 'z' }],
          target: { active: [{ subtopologyId: '0', partitions: [0] }], standby: [], warmup: [] },
          assigned: {
            active: [{ subtopologyId: '0', partitions: [0, 1], assignmentEpochs: [2, 3] }],
            standby: [{ subtopologyId: '0', partitions: [2] }],
            warmup: [{ subtopologyId: '0', partitions: [3] }],
          },
          pendingRevocation: {
            active: [{ subtopologyId: '0', partitions: [9], assignmentEpochs: [1] }],
            standby: [],
            warmup: [],
          },
        },
      }),
    );
    const taskOffsets = [{ subtopologyId: '0', partition: 2, offset: 2n ** 60n }];
    const heard = { ...UNHEARD_MEMBER, taskOffsets };
    const soft = { ...slot.soft, members: PersistentMap.from([['A', heard]]) };
    expect(describeAs({ ...slot, soft }, kip)).to.deep.include({
      groupId: 'g',
      groupState: 'Reconciling',
      groupEpoch: 3,
      assignmentEpoch: 3,
      assignorName: 'sticky',
      members: [
        {
          memberId: 'A',
          memberEpoch: 3,
          instanceId: 'i',
          rackId: 'r',
          clientId: 'c',
          clientHost: '/10.0.0.1',
          topologyEpoch: 0,
          processId: 'p',
          userEndpoint: { host: 'h', port: 1 },
          clientTags: [{ key: 'zone', value: 'z' }],
          taskOffsets,
          taskEndOffsets: [],
          assignment: {
            activeTasks: [{ subtopologyId: '0', partitions: [0, 1] }],
            standbyTasks: [{ subtopologyId: '0', partitions: [2] }],
            warmupTasks: [{ subtopologyId: '0', partitions: [3] }],
          },
          targetAssignment: {
            activeTasks: [{ subtopologyId: '0', partitions: [0] }],
            standbyTasks: [],
            warmupTasks: [],
          },
          isClassic: false,
        },
        {
          memberId: 'B',
          memberEpoch: 2,
          instanceId: null,
          rackId: null,
          clientId: 'client-B',
          clientHost: '/127.0.0.1',
          topologyEpoch: 0,
          processId: 'p-B',
          userEndpoint: null,
          clientTags: [],
          taskOffsets: [],
          taskEndOffsets: [],
          assignment: { activeTasks: [], standbyTasks: [], warmupTasks: [] },
          targetAssignment: { activeTasks: [], standbyTasks: [], warmupTasks: [] },
          isClassic: false,
        },
      ],
    });
  });
});

describe('describeMissing()', () => {
  it('is an error entry without state, topology or assignor (12.2.3, 12.2.5)', () => {
    const entry = {
      groupState: '',
      groupEpoch: 0,
      assignmentEpoch: 0,
      topology: null,
      members: [],
      assignorName: null,
    };
    expect(describeMissing('x')).to.deep.equal({
      ...entry,
      error: 'GROUP_ID_NOT_FOUND',
      errorMessage: 'Cannot find streams group "x"',
      groupId: 'x',
    });
    expect(describeMissing('')).to.deep.equal({
      ...entry,
      error: 'INVALID_GROUP_ID',
      errorMessage: null,
      groupId: '',
    });
  });
});

describe('listGroup()', () => {
  it('lists a streams group with its state (13)', () => {
    expect(listGroup(slotOf(groupRecords({ A: {} })))).to.deep.equal({
      groupId: 'g',
      protocolType: 'streams',
      groupState: 'Stable',
      groupType: 'streams',
    });
  });

  it('lists offsets without a group as an empty classic group, and nothing as nothing (13)', () => {
    expect(listGroup(slotOf([offsetRecord('in', 0)]))).to.deep.equal({
      groupId: 'g',
      protocolType: '',
      groupState: 'Empty',
      groupType: 'classic',
    });
    expect(listGroup(slotOf([]))).to.equal(undefined);
  });
});

describe('matchesFilter()', () => {
  const stream = (groupState: string) =>
    ({ groupId: groupState, protocolType: 'streams', groupState, groupType: 'streams' }) as const;
  const all = [
    stream('Stable'),
    stream('NotReady'),
    stream('Empty'),
    { groupId: 'simple', protocolType: '', groupState: 'Empty', groupType: 'classic' },
  ] as const;
  const found = (behaviour: Behaviour, states: string[], types: string[] = []) =>
    all.filter((one) => matchesFilter(one, { states, types }, behaviour)).map((one) => one.groupId);

  for (const behaviour of [kip, kafka]) {
    it(`S43 List filters do not care about letter case (${behaviour.profile}; 13.1)`, () => {
      expect(found(behaviour, [])).to.deep.equal(['Stable', 'NotReady', 'Empty', 'simple']);
      for (const word of ['stable', 'STABLE', 'Stable', ' stable ']) {
        expect(found(behaviour, [word])).to.deep.equal(['Stable']);
      }
      for (const word of ['not_ready', 'NOT_READY', 'Not_Ready']) {
        expect(found(behaviour, [word])).to.deep.equal(['NotReady']);
      }
      expect(found(behaviour, ['empty'])).to.deep.equal(['Empty', 'simple']);
      expect(found(behaviour, ['empty'], ['Streams'])).to.deep.equal(['Empty']);
      expect(found(behaviour, ['empty'], ['CLASSIC'])).to.deep.equal(['simple']);
      expect(found(behaviour, [], ['streams'])).to.deep.equal(['Stable', 'NotReady', 'Empty']);
      expect(found(behaviour, ['nonsense', 'stable'], ['nonsense', 'streams'])).to.deep.equal([
        'Stable',
      ]);
      expect(found(behaviour, ['nonsense'])).to.deep.equal([]);
      expect(found(behaviour, [''])).to.deep.equal([]);
      expect(found(behaviour, [], ['consumer'])).to.deep.equal([]);
    });
  }

  it('finds NotReady as it is printed; in profile kafka it does not (13.1, GS-3, vector 16)', () => {
    for (const word of ['NotReady', 'notready']) {
      expect(found(kip, [word])).to.deep.equal(['NotReady']);
      expect(found(kafka, [word])).to.deep.equal([]);
    }
  });
});
