import { expect } from 'chai';
import { apply } from '../../machines/apply.ts';
import { groupTombstones } from '../../machines/decide/tombstones.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { emptySlot, newGroup } from '../../machines/model/empty.ts';
import type { CurrentAssignment, MemberMetadata } from '../../machines/model/member.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { plainGroup, plainMap } from '../support/plain-group.ts';
import { topologyOf } from '../support/stage.ts';
import { readTasks } from '../support/task-notation.ts';

const groupId = 'g';
const metadata: MemberMetadata = {
  instanceId: null,
  rackId: null,
  clientId: 'c',
  clientHost: '/127.0.0.1',
  rebalanceTimeoutMs: 60_000,
  topologyEpoch: 0,
  processId: 'p1',
  userEndpoint: null,
  clientTags: [],
};
const nothing = { active: [], standby: [], warmup: [] };

function active(text: string, epoch: number): CurrentAssignment['assigned'] {
  const tasks = readTasks(text).map((entry) => ({
    ...entry,
    assignmentEpochs: entry.partitions.map(() => epoch),
  }));
  return { ...nothing, active: tasks };
}

function member(memberId: string, change: Partial<MemberMetadata> | null = {}): GroupRecord {
  const value = change === null ? null : { ...metadata, ...change };
  return { type: 'memberMetadata', groupId, memberId, value };
}
function current(memberId: string, change: Partial<CurrentAssignment> | null): GroupRecord {
  const value = {
    memberEpoch: 2,
    previousMemberEpoch: 1,
    state: 'stable' as const,
    assigned: nothing,
    pendingRevocation: nothing,
    ...change,
  };
  return { type: 'currentAssignment', groupId, memberId, value: change === null ? null : value };
}
function target(memberId: string, value: TasksByRole | null = nothing): GroupRecord {
  return { type: 'targetMember', groupId, memberId, value };
}
function targetEpoch(assignmentEpoch: number | null): GroupRecord {
  const value = assignmentEpoch === null ? null : { assignmentEpoch, assignmentTimestampMs: 5 };
  return { type: 'targetMetadata', groupId, value };
}
function group(groupEpoch: number | null): GroupRecord {
  const value = {
    groupEpoch: groupEpoch ?? 0,
    metadataHash: 7n,
    validatedTopologyEpoch: 0,
    lastAssignmentConfigs: [],
    storedDescriptionTopologyEpoch: -1,
    failedDescriptionTopologyEpoch: -1,
  };
  return { type: 'groupMetadata', groupId, value: groupEpoch === null ? null : value };
}
const topology: GroupRecord = { type: 'topology', groupId, value: topologyOf('S') };
const offset = (value: boolean): GroupRecord => ({
  type: 'offsetCommit',
  groupId,
  topic: 'in',
  partition: 1,
  value: value
    ? {
        offset: 5n,
        leaderEpoch: -1,
        metadata: '',
        commitTimestampMs: 1,
        expireTimestampMs: -1,
        topicId: '',
      }
    : null,
});

function fold(...records: readonly GroupRecord[]): GroupSlot {
  return records.reduce(apply, emptySlot(groupId));
}

const whole: readonly GroupRecord[] = [
  topology,
  group(2),
  member('A'),
  member('B', { processId: 'p2' }),
  target('A'),
  target('B'),
  targetEpoch(2),
  current('A', { assigned: active('0:[0]', 2) }),
  current('B', { assigned: active('0:[1]', 2) }),
];

describe('S34 Loading makes no assumption about the order of records', () => {
  it('ignores tombstones of what it does not know (LOG-1, RP-4)', () => {
    const slot = fold(
      group(null),
      topology.type === 'topology' ? { ...topology, value: null } : topology,
      targetEpoch(null),
      target('A', null),
      member('A', null),
      current('A', null),
      offset(false),
    );
    expect(slot).to.deep.equal(emptySlot(groupId));
  });

  it('makes the group and the member from whichever record comes first (LOG-2, RP-2, RP-5)', () => {
    const forwards = fold(...whole);
    const backwards = fold(...whole.toReversed());
    expect(forwards.group?.state).to.equal('Stable');
    expect(plainGroup(backwards.group)).to.deep.equal(plainGroup(forwards.group));
  });

  it('keeps the offsets of an id that becomes a streams group (RP-3)', () => {
    const slot = fold(offset(true), ...whole);
    expect(plainMap(slot.offsets)).to.deep.equal(plainMap(fold(offset(true)).offsets));
    expect(slot.group?.members.size).to.equal(2);
    expect(fold(offset(true), offset(false)).offsets.size).to.equal(0);
  });

  it('forgets a group by its tombstones, and makes a fresh one under the same id (RP-1)', () => {
    const slot = fold(...whole);
    const gone = groupTombstones(slot).reduce(apply, slot);
    expect(gone.group).to.equal(undefined);
    const again = apply(gone, member('C'));
    expect(plainGroup(again.group)).to.deep.equal(plainGroup(fold(member('C')).group));
  });
});

describe('apply()', () => {
  it('sets from each record what it says, and from the topology when it is ready (LOG-5)', () => {
    const of = (...records: readonly GroupRecord[]) => {
      const { group: set } = fold(...records);
      return {
        epochs: [set?.groupEpoch, set?.assignmentEpoch, set?.validatedTopologyEpoch],
        hash: set?.metadataHash,
        timestamp: set?.assignmentTimestampMs,
        topology: set?.topology?.epoch,
        members: [...(set?.members.keys() ?? [])],
        targets: [...(set?.targets.keys() ?? [])],
        state: set?.state,
      };
    };
    const fresh = of(member('A'));
    expect(fresh).to.deep.equal({
      epochs: [1, 1, -1],
      hash: 0n,
      timestamp: 0,
      topology: undefined,
      members: ['A'],
      targets: [],
      state: 'NotReady',
    });
    expect(of(member('A'), group(7))).to.deep.equal({ ...fresh, epochs: [7, 1, 0], hash: 7n });
    expect(of(member('A'), targetEpoch(4))).to.deep.equal({
      ...fresh,
      epochs: [1, 4, -1],
      timestamp: 5,
    });
    expect(of(member('A'), target('A'))).to.deep.equal({ ...fresh, targets: ['A'] });
    expect(of(member('A'), topology)).to.deep.equal({ ...fresh, topology: 0 });
    expect(of(member('A'), topology, group(7)).state).to.equal('Assigning');
  });

  it('keeps a member whose assignment is gone, at epoch -1 and without tasks (LOG-3)', () => {
    const { group: after } = fold(...whole, current('A', null));
    const left = after?.members.get('A');
    expect([left?.memberEpoch, left?.previousMemberEpoch, left?.assigned]).to.deep.equal([
      -1,
      -1,
      nothing,
    ]);
    expect(after?.holders.active.has('0_0')).to.equal(false);
    expect(after?.holders.active.get('0_1')).to.equal('p2');
  });

  it('refuses tombstones out of order (LOG-3, LOG-4)', () => {
    const wrong: readonly (readonly GroupRecord[])[] = [
      [member('A', null)],
      [current('A', null), member('A', null)],
      [targetEpoch(null)],
      [group(null)],
    ];
    for (const records of wrong) expect(() => fold(...whole, ...records)).to.throw('Invariant');
  });

  it('lets the later of two claims win and never fails (LOG-7, RP-7)', () => {
    const second = current('B', { assigned: active('0:[0-1]', 3) });
    const both = fold(...whole, second);
    expect(both.group?.holders.active.get('0_0')).to.equal('p2');
    // A lets go of what the map no longer says is its own: that changes nothing.
    const released = apply(both, current('A', {}));
    expect(released.group?.holders.active.get('0_0')).to.equal('p2');
  });

  it('moves what a member holds when its process changes (RP-7)', () => {
    const slot = fold(...whole, member('A', { processId: 'p9' }));
    expect(slot.group?.holders.active.get('0_0')).to.equal('p9');
  });

  it('counts tasks pending revocation as held (section 7)', () => {
    const slot = fold(...whole, current('A', { pendingRevocation: active('0:[0]', 2) }));
    expect(slot.group?.holders.active.get('0_0')).to.equal('p1');
  });

  it('counts the members of a process that hold a copy', () => {
    const copy = { ...nothing, standby: readTasks('0:[3]') };
    const slot = fold(
      member('A'),
      member('B'),
      ...['A', 'B'].map((id) => current(id, { assigned: copy })),
    );
    expect(slot.group?.holders.standby.get('0_3')).to.deep.equal(new Map([['p1', 2]]));
    const less = apply(slot, current('A', {}));
    expect(less.group?.holders.standby.get('0_3')).to.deep.equal(new Map([['p1', 1]]));
    const none = apply(less, current('B', {}));
    expect(none.group?.holders.standby.size).to.equal(0);
  });

  it('frees an instance id only by the member that has it', () => {
    const slot = fold(member('A', { instanceId: 'i' }), member('B', { instanceId: 'i' }));
    expect(slot.group?.staticMembers.get('i')).to.equal('B');
    const gone = [current('A', null), member('A', null)].reduce(apply, slot);
    expect(gone.group?.staticMembers.get('i')).to.equal('B');
  });

  it('begins a group at epochs 1 (WR-11)', () => {
    const { groupEpoch, assignmentEpoch, validatedTopologyEpoch } = newGroup(groupId);
    expect([groupEpoch, assignmentEpoch, validatedTopologyEpoch]).to.deep.equal([1, 1, -1]);
  });
});

describe('groupTombstones()', () => {
  it('come in the order that replay asks for (RP-1)', () => {
    const tombstones = groupTombstones(fold(...whole)).map((record) =>
      'memberId' in record ? `${record.type} ${record.memberId}` : record.type,
    );
    expect(tombstones).to.deep.equal([
      'currentAssignment A',
      'currentAssignment B',
      'targetMember A',
      'targetMember B',
      'targetMetadata',
      'memberMetadata A',
      'memberMetadata B',
      'groupMetadata',
      'topology',
    ]);
  });
});
