import { expect } from 'chai';
import { apply } from '../../machines/apply.ts';
import { requireMember } from '../../machines/decide/find-member.ts';
import { entriesOf } from '../../machines/decide/install.ts';
import type { AssignmentProblem } from '../../machines/model/assignment.ts';
import { emptySlot, newMember } from '../../machines/model/empty.ts';
import type { Group } from '../../machines/model/group.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import { PlayMember } from '../support/play-member.ts';
import { topologyOf } from '../support/stage.ts';
import { readTasks } from '../support/task-notation.ts';

/** A group as a log with static members gives it: member id to instance id. */
function groupOf(members: Readonly<Record<string, string | null>>): Group {
  const { memberId: _, ...member } = newMember('');
  const slot = Object.entries(members).reduce(
    (before, [memberId, instanceId]) =>
      apply(before, {
        type: 'memberMetadata',
        groupId: 'g',
        memberId,
        value: { ...member, instanceId },
      }),
    emptySlot('g'),
  );
  if (slot.group === undefined) throw new Error('no group');
  return slot.group;
}

describe('requireMember()', () => {
  const group = groupOf({ A: null, S: 'i' });
  const find = (memberId: string, instanceId: string | null): string => {
    const request = new PlayMember(memberId, 'p', topologyOf('S')).request('silent');
    try {
      return requireMember(group, { ...request, instanceId }).memberId;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.error;
    }
  };

  it('goes by the member id where no instance id is sent (MEM-3, MEM-4, LEAVE-1)', () => {
    expect(find('A', null)).to.equal('A');
    expect(find('S', null)).to.equal('S');
    expect(find('X', null)).to.equal('UNKNOWN_MEMBER_ID');
  });

  it('goes by the holder of the instance id where one is sent (STAT-6, LEAVE-2)', () => {
    expect(find('S', 'i')).to.equal('S');
    expect(find('A', 'i')).to.equal('FENCED_INSTANCE_ID');
    expect(find('A', 'j')).to.equal('UNKNOWN_MEMBER_ID');
  });
});

describe('entriesOf()', () => {
  it('hands the entry of a static member on to who replaced it (OFF-3b)', () => {
    const run = {
      run: 1,
      groupEpoch: 2,
      topologyEpoch: 0,
      instanceIds: new Map([
        ['i', 'S1'],
        ['j', 'T'],
      ]),
      waitingMemberId: undefined,
    };
    const members = ['S1', 'T', 'gone'].map((memberId) => ({ memberId }));
    const problem = { members } as unknown as AssignmentProblem;
    const result = {
      members: [0, 1, 2].map((at) => ({ active: readTasks(`0:[${at}]`), standby: [] })),
      unassigned: [],
    };
    const group = groupOf({ S2: 'i', T: 'j', late: null });
    const entryOf = entriesOf(group, run, problem, result);
    const tasks = ['S2', 'T', 'late'].map((memberId) => entryOf(memberId)?.active);
    expect(tasks).to.deep.equal([readTasks('0:[0]'), readTasks('0:[1]'), undefined]);
  });
});
