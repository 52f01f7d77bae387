import { expect } from 'chai';
import type { AssignmentMember } from '../../machines/model/assignment.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import {
  assignDirectly,
  assignmentMember as member,
  assignmentProblem as problem,
  tasks,
} from '../support/assignment.ts';

const stateful = (taskCount: number) => ({ subtopologyId: '0', taskCount, stateful: true });
const reports = (...partitions: readonly number[]): TaskOffset[] =>
  partitions.map((partition) => ({ subtopologyId: '0', partition, offset: 9_000n }));

/** Who has what, as `a: 0,1 | 2`: actives before the bar, standbys after it. */
function placements(
  members: readonly AssignmentMember[],
  taskCount: number,
  numStandbyReplicas = 0,
): string[] {
  const subtopologies = [stateful(taskCount)];
  const result = assignDirectly(problem({ members, subtopologies, numStandbyReplicas }));
  return members.map(({ memberId }, i) => {
    const { active = [], standby = [] } = result.members[i] ?? {};
    return `${memberId}: ${active[0]?.partitions ?? ''} | ${standby[0]?.partitions ?? ''}`;
  });
}

describe('assignSticky() puts tasks where their state is (assignors 3, Q9)', () => {
  it('lets a standby stay although a less loaded member has the task on disk', () => {
    // Each gets 2 of the 8 placements. c has state of everything, and gets only the standby that b cannot keep.
    const members = [
      member('a', { processId: 'A', active: tasks({ '0': [0, 1] }), standby: tasks({ '0': [2] }) }),
      member('b', { processId: 'B', active: tasks({ '0': [2] }), standby: tasks({ '0': [0, 1] }) }),
      member('c', { processId: 'C', active: tasks({ '0': [3] }), taskOffsets: reports(0, 1, 2) }),
      member('d', { processId: 'D', standby: tasks({ '0': [3] }) }),
    ];
    expect(placements(members, 4, 1)).to.deep.equal([
      'a: 0 | 1',
      'b: 2 | 0',
      'c: 3 | 2',
      'd: 1 | 3',
    ]);
  });

  it('chooses who leaves by where the state of the task lies', () => {
    // Of the four tasks of a two have to go, and c comes back with the state of the first two.
    const members = [
      member('a', { processId: 'A', active: tasks({ '0': [0, 1, 2, 3] }) }),
      member('c', { processId: 'C', taskOffsets: reports(0, 1) }),
    ];
    expect(placements(members, 4)).to.deep.equal(['a: 2,3 | ', 'c: 0,1 | ']);
  });

  it('moves nothing for state alone', () => {
    const members = [
      member('a', { processId: 'A', active: tasks({ '0': [0, 1] }) }),
      member('c', { processId: 'C', active: tasks({ '0': [2, 3] }), taskOffsets: reports(0, 1) }),
    ];
    expect(placements(members, 4)).to.deep.equal(['a: 0,1 | ', 'c: 2,3 | ']);
  });

  it('prefers a copy to state on disk among those who could take what has to leave', () => {
    const members = [
      member('a', { processId: 'A', active: tasks({ '0': [0, 1, 2] }) }),
      member('b', { processId: 'B', standby: tasks({ '0': [2] }), taskOffsets: reports(0) }),
      member('c', { processId: 'C', taskOffsets: reports(1) }),
    ];
    expect(placements(members, 3)).to.deep.equal(['a: 0 | ', 'b: 2 | ', 'c: 1 | ']);
  });

  it('lets siblings share what one member of a process reports', () => {
    const members = [
      member('a1', { processId: 'A', taskOffsets: reports(0, 1, 2, 3) }),
      member('a2', { processId: 'A' }),
      member('b1', { processId: 'B' }),
      member('b2', { processId: 'B', taskOffsets: reports(4, 5, 6, 7) }),
    ];
    const found = placements(members, 8);
    expect(found).to.deep.equal(['a1: 0,1 | ', 'a2: 2,3 | ', 'b1: 6,7 | ', 'b2: 4,5 | ']);
  });

  it('does not prefer a less loaded copy to one that is caught up', () => {
    const ends = reports(5).map((each) => ({ ...each, offset: 9_100n }));
    const members = [
      member('a', {
        processId: 'A',
        active: tasks({ '0': [0] }),
        standby: tasks({ '0': [5] }),
        taskOffsets: reports(5),
        taskEndOffsets: ends,
      }),
      member('b', { processId: 'B', standby: tasks({ '0': [5] }) }),
    ];
    expect(placements(members, 6)[0]).to.match(/^a: .*5/);
  });
});

describe('findRackRoom() (assignors 3, Q10 before evenness)', () => {
  it('lets a small rack take a copy of every task, and no more than that where racks abound', () => {
    const zone = (value: string) => ({ clientTags: [{ key: 'zone', value }] });
    const members = ['a', 'b', 'c', 'd'].map((id, i) =>
      member(id, { processId: id.toUpperCase(), ...zone(i < 3 ? 'left' : 'right') }),
    );
    const asked = problem({
      members,
      subtopologies: [stateful(12)],
      numStandbyReplicas: 1,
      rackAwareAssignmentTags: ['zone'],
    });
    const copiesOf = (rightMembers: readonly AssignmentMember[]) =>
      assignDirectly({ ...asked, members: rightMembers }).members.map(
        ({ active, standby }) =>
          (active[0]?.partitions.length ?? 0) + (standby[0]?.partitions.length ?? 0),
      );
    expect(copiesOf(members)).to.deep.equal([4, 4, 4, 12]);
    const own = members.map((each, i) => ({ ...each, ...zone(`${i}`) }));
    expect(copiesOf(own)).to.deep.equal([6, 6, 6, 6]);
  });
});
