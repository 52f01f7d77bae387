import { expect } from 'chai';
import type { AssignmentMember } from '../../machines/model/assignment.ts';
import {
  assignDirectly,
  assignmentMember,
  assignmentProblem,
  tasks,
} from '../support/assignment.ts';

/** Members a, b, … each of a process of its own: A, B, …. */
function alone(...overrides: readonly Partial<AssignmentMember>[]): AssignmentMember[] {
  return overrides.map((each, i) => {
    const memberId = String.fromCharCode(97 + i);
    return assignmentMember(memberId, { processId: memberId.toUpperCase(), ...each });
  });
}

describe('pickForDiversity() (assignors 5)', () => {
  const tags = (zone?: string, cluster?: string) => ({
    clientTags: [
      ...(zone === undefined ? [] : [{ key: 'zone', value: zone }]),
      ...(cluster === undefined ? [] : [{ key: 'cluster', value: cluster }]),
    ],
  });
  const standbyOn = (
    members: readonly AssignmentMember[],
    keys: readonly string[],
    numStandbyReplicas = 1,
  ): string[] => {
    const result = assignDirectly(
      assignmentProblem({
        subtopologies: [{ subtopologyId: '0', taskCount: 1, stateful: true }],
        numStandbyReplicas,
        rackAwareAssignmentTags: keys,
        members,
      }),
    );
    return members.flatMap(({ memberId }, i) =>
      (result.members[i]?.standby.length ?? 0) > 0 ? [memberId] : [],
    );
  };
  const active = { active: tasks({ '0': [0] }) };

  it('puts the standby on another value of the first key', () => {
    const members = alone({ ...active, ...tags('z1') }, tags('z1'), tags('z2'));
    expect(standbyOn(members, ['zone'])).to.deep.equal(['c']);
    expect(standbyOn(members, [])).to.deep.equal(['b']);
  });

  it('lets lower keys decide among equals, and never outweigh the first', () => {
    const members = alone(
      { ...active, ...tags('z1', 'c1') },
      tags('z1', 'c2'),
      tags('z2', 'c1'),
      tags('z2', 'c2'),
    );
    expect(standbyOn(members, ['zone', 'cluster'])).to.deep.equal(['d']);
    expect(standbyOn(members.slice(0, 3), ['zone', 'cluster'])).to.deep.equal(['c']);
  });

  it('gives a key up when it has no new value left, and goes on with the next', () => {
    const members = alone({ ...active, ...tags('z1', 'c1') }, tags('z1', 'c1'), tags('z1', 'c2'));
    expect(standbyOn(members, ['zone', 'cluster'])).to.deep.equal(['c']);
  });

  it('never counts a missing value as new, and still places all standbys (S16)', () => {
    const members = alone({ ...active, ...tags('z1') }, {}, tags('z2'));
    expect(standbyOn(members, ['zone'])).to.deep.equal(['c']);
    expect(standbyOn(members, ['zone'], 2)).to.deep.equal(['b', 'c']);
  });

  it('prefers the previous holder among processes that do equally well', () => {
    const members = alone({ ...active, ...tags('z1') }, tags('z2'), {
      ...tags('z2'),
      standby: tasks({ '0': [0] }),
    });
    expect(standbyOn(members, ['zone'])).to.deep.equal(['c']);
  });

  for (const assignor of ['sticky', 'highly_available']) {
    it(`gives nothing new to a stale process though no group has room (2.1, ${assignor})`, () => {
      // All are full with one task; d's tags are b's, and it alone has state of the task.
      const members = [
        assignmentMember('a', { processId: 'A', ...tags('z1') }),
        assignmentMember('b', { processId: 'B', ...tags('z0'), active: tasks({ '0': [1] }) }),
        assignmentMember('c', { processId: 'A', ...tags('z1') }),
        assignmentMember('d', {
          processId: 'D',
          ...tags('z0'),
          topologyEpoch: 0,
          taskOffsets: [{ subtopologyId: '0', partition: 0, offset: 5n }],
        }),
        assignmentMember('e', { processId: 'E', ...tags('z2') }),
      ];
      const result = assignDirectly(
        assignmentProblem({
          assignor,
          subtopologies: [{ subtopologyId: '0', taskCount: 2, stateful: true }],
          numStandbyReplicas: 1,
          rackAwareAssignmentTags: ['zone'],
          members,
        }),
      );
      expect(result.members).to.deep.equal([
        { active: tasks({ '0': [0] }), standby: [] },
        { active: tasks({ '0': [1] }), standby: tasks({ '0': [0] }) },
        { active: [], standby: [] },
        { active: [], standby: [] },
        { active: [], standby: tasks({ '0': [1] }) },
      ]);
    });
  }
});
