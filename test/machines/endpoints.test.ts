import { expect } from 'chai';
import { apply } from '../../machines/apply.ts';
import { endpointMap } from '../../machines/decide/endpoints.ts';
import { configureTopology } from '../../machines/decide/internal-topics.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { newMember } from '../../machines/model/empty.ts';
import { type Behaviour, resolveBehaviour } from '../../machines/model/profile.ts';
import { invariant } from '../../machines/model/refusal.ts';
import type { TopicsView } from '../../machines/model/topics.ts';
import type { Topology } from '../../machines/model/topology.ts';
import type { GroupRecord } from '../../machines/records.ts';
import {
  REPARTITIONED,
  STATELESS,
  subtopology,
  topicsOf,
  topology,
} from '../support/topology-samples.ts';
import { groupRecords, slotOf } from './group-samples.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');

type Members = Parameters<typeof groupRecords>[0];

function configuredSlot(members: Members, one: Topology, topics: TopicsView): GroupSlot {
  const slot = slotOf(groupRecords(members, { topology: one }));
  return { ...slot, soft: { ...slot.soft, configured: configureTopology(one, topics, kip) } };
}

function mapOf(slot: GroupSlot, topics: TopicsView, behaviour: Behaviour) {
  invariant(slot.group !== undefined, 'the sample has a group');
  return endpointMap({ group: slot.group, soft: slot.soft, topics, behaviour });
}

const active = (subtopologyId: string, ...partitions: number[]) => ({
  subtopologyId,
  partitions,
  assignmentEpochs: partitions.map(() => 3),
});
const HOST_A = { host: 'host-a', port: 50000 };
const HOST_B = { host: 'host-b', port: 65535 };

describe('endpointMap()', () => {
  it('lists the task ids below the partition count of each source topic (I-7, vector 1)', () => {
    const one = topology(subtopology('0', { sourceTopics: ['a', 'b'] }));
    const topics = topicsOf({ a: 3, b: 5 });
    const assigned = { active: [active('0', 0, 1, 2, 3, 4)], standby: [], warmup: [] };
    const slot = configuredSlot({ A: { userEndpoint: HOST_A, assigned } }, one, topics);
    expect(mapOf(slot, topics, kip)).to.deep.equal([
      {
        userEndpoint: HOST_A,
        activePartitions: [
          { topic: 'a', partitions: [0, 1, 2] },
          { topic: 'b', partitions: [0, 1, 2, 3, 4] },
        ],
        standbyPartitions: [],
      },
    ]);
  });

  it('is empty when the last member with an endpoint is gone, and looks at nobody', () => {
    const one = topology(subtopology('0', { sourceTopics: ['a'] }));
    const topics = topicsOf({ a: 1 });
    let slot = configuredSlot(
      { A: { userEndpoint: HOST_A }, B: {}, C: { userEndpoint: HOST_B } },
      one,
      topics,
    );
    expect([slot.group?.endpointCount, mapOf(slot, topics, kip).length]).to.deep.equal([2, 2]);
    const { memberId: _, ...metadata } = newMember('');
    const records: readonly GroupRecord[] = [
      { type: 'memberMetadata', groupId: 'g', memberId: 'A', value: metadata },
      { type: 'targetMember', groupId: 'g', memberId: 'C', value: null },
      { type: 'currentAssignment', groupId: 'g', memberId: 'C', value: null },
      { type: 'memberMetadata', groupId: 'g', memberId: 'C', value: null },
    ];
    for (const record of records) slot = apply(slot, record);
    expect([slot.group?.endpointCount, mapOf(slot, topics, kip)]).to.deep.equal([0, []]);
  });

  it('omits a topic of which nothing is left, and lists repartition topics like sources (I-7)', () => {
    const topics = topicsOf({ in: 2, 'app-r-repartition': 2, 'app-agg-changelog': 2 });
    const assigned = { active: [active('0', 5), active('1', 0)], standby: [], warmup: [] };
    const slot = configuredSlot({ A: { userEndpoint: HOST_A, assigned } }, REPARTITIONED, topics);
    expect(mapOf(slot, topics, kip)).to.deep.equal([
      {
        userEndpoint: HOST_A,
        activePartitions: [{ topic: 'app-r-repartition', partitions: [0] }],
        standbyPartitions: [],
      },
    ]);
  });

  it('S39 Warm-ups and standbys are listed as standby partitions; pending revocation is not (I-7, I-8)', () => {
    const topics = topicsOf({ in: 4 });
    const slot = configuredSlot(
      {
        A: {
          userEndpoint: HOST_A,
          assigned: { active: [active('0', 1)], standby: [], warmup: [] },
          pendingRevocation: { active: [active('0', 3)], standby: [], warmup: [] },
        },
        B: {
          userEndpoint: HOST_B,
          assigned: {
            active: [],
            standby: [{ subtopologyId: '0', partitions: [2] }],
            warmup: [{ subtopologyId: '0', partitions: [1] }],
          },
        },
      },
      STATELESS,
      topics,
    );
    expect(mapOf(slot, topics, kip)).to.deep.equal([
      {
        userEndpoint: HOST_A,
        activePartitions: [{ topic: 'in', partitions: [1] }],
        standbyPartitions: [],
      },
      {
        userEndpoint: HOST_B,
        activePartitions: [],
        standbyPartitions: [{ topic: 'in', partitions: [1, 2] }],
      },
    ]);
  });

  const threads: Members = {
    A2: {
      userEndpoint: HOST_A,
      assigned: { active: [active('0', 0)], standby: [], warmup: [] },
    },
    A1: {
      userEndpoint: { ...HOST_A },
      assigned: { active: [active('0', 2)], standby: [], warmup: [] },
    },
    B1: { userEndpoint: HOST_B },
    C: {},
  };

  it('S38 Threads behind one endpoint are all found, and ports are unsigned (I-6)', () => {
    const topics = topicsOf({ in: 3 });
    const slot = configuredSlot(threads, STATELESS, topics);
    const onB = { userEndpoint: HOST_B, activePartitions: [], standbyPartitions: [] };
    expect(mapOf(slot, topics, kip)).to.deep.equal([
      {
        userEndpoint: HOST_A,
        activePartitions: [{ topic: 'in', partitions: [0, 2] }],
        standbyPartitions: [],
      },
      onB,
    ]);
    expect(mapOf(slot, topics, kafka)).to.deep.equal([
      {
        userEndpoint: HOST_A,
        activePartitions: [{ topic: 'in', partitions: [2] }],
        standbyPartitions: [],
      },
      {
        userEndpoint: HOST_A,
        activePartitions: [{ topic: 'in', partitions: [0] }],
        standbyPartitions: [],
      },
      onB,
    ]);
  });

  it('S37 The endpoint epoch moves with members that have endpoints: a map without entries is an empty list', () => {
    const slot = configuredSlot({ C: {} }, STATELESS, topicsOf({ in: 1 }));
    expect(mapOf(slot, topicsOf({ in: 1 }), kip)).to.deep.equal([]);
    expect(mapOf(slot, topicsOf({}), kafka)).to.deep.equal([]);
  });

  for (const behaviour of [kip, kafka]) {
    it(`gives empty lists while topics are missing, in profile ${behaviour.profile} (I-9, vector 14)`, () => {
      const empty = { userEndpoint: HOST_A, activePartitions: [], standbyPartitions: [] };
      for (const [one, topics] of [
        [STATELESS, topicsOf({})],
        [REPARTITIONED, topicsOf({ in: 2 })],
      ] as const) {
        const slot = configuredSlot({ A: { userEndpoint: HOST_A } }, one, topics);
        expect(mapOf(slot, topics, behaviour)).to.deep.equal([empty]);
      }
    });
  }

  it('skips a topic that is gone while its task is assigned (I-11)', () => {
    const one = topology(subtopology('0', { sourceTopics: ['a', 'b'] }));
    const assigned = { active: [active('0', 0)], standby: [], warmup: [] };
    const slot = configuredSlot(
      { A: { userEndpoint: HOST_A, assigned } },
      one,
      topicsOf({ a: 1, b: 1 }),
    );
    expect(mapOf(slot, topicsOf({ b: 1 }), kip)).to.deep.equal([
      {
        userEndpoint: HOST_A,
        activePartitions: [{ topic: 'b', partitions: [0] }],
        standbyPartitions: [],
      },
    ]);
  });

  it('names a topic that two subtopologies read once, with the partitions of both', () => {
    const one = topology(
      subtopology('0', { sourceTopics: ['in'] }),
      subtopology('1', { sourceTopics: ['in'] }),
    );
    const topics = topicsOf({ in: 3 });
    const assigned = { active: [active('0', 2, 1), active('1', 1, 0)], standby: [], warmup: [] };
    const slot = configuredSlot({ A: { userEndpoint: HOST_A, assigned } }, one, topics);
    expect(mapOf(slot, topics, kip)[0]?.activePartitions).to.deep.equal([
      { topic: 'in', partitions: [0, 1, 2] },
    ]);
    // As 4.4.0 has it: once for each subtopology.
    expect(mapOf(slot, topics, kafka)[0]?.activePartitions).to.deep.equal([
      { topic: 'in', partitions: [1, 2] },
      { topic: 'in', partitions: [0, 1] },
    ]);
  });

  it('is made once for one state of members, topology and topics (I-10)', () => {
    const topics = topicsOf({ in: 3 });
    const slot = configuredSlot(threads, STATELESS, topics);
    const first = mapOf(slot, topics, kip);
    expect(mapOf({ ...slot, soft: { ...slot.soft, endpointEpoch: 9 } }, topics, kip)).to.equal(
      first,
    );
    expect(mapOf(slot, topicsOf({ in: 1 }), kip)).to.deep.equal([
      {
        userEndpoint: HOST_A,
        activePartitions: [{ topic: 'in', partitions: [0] }],
        standbyPartitions: [],
      },
      { userEndpoint: HOST_B, activePartitions: [], standbyPartitions: [] },
    ]);
  });

  for (const behaviour of [kip, kafka]) {
    it(`keeps what other entries list when one member changes (I-10, ${behaviour.profile})`, () => {
      const topics = topicsOf({ in: 3 });
      const slot = configuredSlot(threads, STATELESS, topics);
      const before = mapOf(slot, topics, behaviour);
      const { group } = slot;
      const changed = group?.members.get('B1');
      invariant(group !== undefined && changed !== undefined, 'the sample has B1');
      const assigned = { active: [active('0', 1)], standby: [], warmup: [] };
      const members = group.members.set('B1', { ...changed, assigned });
      // Somebody has made another topic meanwhile.
      const others = topicsOf({ in: 3, other: 1 });
      const after = mapOf({ ...slot, group: { ...group, members } }, others, behaviour);
      const onB = {
        userEndpoint: HOST_B,
        activePartitions: [{ topic: 'in', partitions: [1] }],
        standbyPartitions: [],
      };
      expect(after).to.deep.equal([...before.slice(0, -1), onB]);
      for (const [at, { activePartitions, standbyPartitions }] of before.slice(0, -1).entries()) {
        expect(after[at]?.activePartitions).to.equal(activePartitions);
        expect(after[at]?.standbyPartitions).to.equal(standbyPartitions);
      }
    });
  }

  it('sees a member leave the entry that it shared (I-6, I-10)', () => {
    const topics = topicsOf({ in: 3 });
    const slot = configuredSlot(threads, STATELESS, topics);
    mapOf(slot, topics, kip);
    const { group } = slot;
    invariant(group !== undefined, 'the sample has a group');
    const left = { ...slot, group: { ...group, members: group.members.delete('A2') } };
    expect(mapOf(left, topics, kip)[0]).to.deep.equal({
      userEndpoint: HOST_A,
      activePartitions: [{ topic: 'in', partitions: [2] }],
      standbyPartitions: [],
    });
  });
});
