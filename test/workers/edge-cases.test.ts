import { expect } from 'chai';
import type { AssignmentMember } from '../../machines/model/assignment.ts';
import { ASSIGNORS } from '../../machines/model/assignors.ts';
import {
  assignDirectly,
  holdResult,
  assignmentMember as member,
  assignmentProblem as problem,
  tasks,
} from '../support/assignment.ts';

const NOTHING = { active: [], standby: [] };
const kind = (subtopologyId: string, taskCount: number, stateful: boolean) => ({
  subtopologyId,
  taskCount,
  stateful,
});
const activeCount = ({ active }: Pick<AssignmentMember, 'active'>): number =>
  active.reduce((sum, { partitions }) => sum + partitions.length, 0);
const group = (processId: string, members: number): AssignmentMember[] =>
  Array.from({ length: members }, (_, i) =>
    member(`${processId}-${String(i).padStart(2, '0')}`, { processId }),
  );

for (const assignor of ASSIGNORS) {
  describe(`${assignor}, assignors section 7`, () => {
    const one = (id: string, over: Partial<AssignmentMember> = {}) =>
      member(id, { processId: id.toUpperCase(), ...over });

    it('gives every member an empty list when there are no tasks', () => {
      const members = [one('a'), one('b')];
      const found = assignDirectly(
        problem({ assignor, members, subtopologies: [kind('0', 0, true)] }),
      );
      expect(found).to.deep.equal({ members: [NOTHING, NOTHING], unassigned: [] });
    });

    it('comes to an end where processes of unlike size are left behind and fill up meanwhile', () => {
      const members = [
        ['m1', 'p3'],
        ['m2', 'p3'],
        ['m3', 'p3'],
        ['m4', 'p0'],
        ['m5', 'p1'],
        ['m6', 'p2'],
        ['m7', 'p0'],
        ['m8', 'p1'],
        ['m9', 'p0'],
      ].map(([id = '', processId = '']) =>
        member(id, {
          processId,
          ...(id === 'm6' && {
            taskOffsets: [{ subtopologyId: 'z', partition: 4, offset: 2n ** 53n }],
          }),
          ...(id === 'm9' && { active: tasks({ x: [0] }) }),
        }),
      );
      const subtopologies = [kind('1', 1, true), kind('x', 3, true), kind('z', 5, true)];
      const found = assignDirectly(problem({ assignor, members, subtopologies }));
      expect(found.members.map(activeCount)).to.deep.equal(members.map(() => 1));
    });

    it('refuses tasks without members', () => {
      const asked = problem({ assignor, subtopologies: [kind('0', 1, true)] });
      expect(() => assignDirectly(asked)).to.throw('{"status":"noProcess"}');
    });

    it('leaves unassigned what nobody may take when all are stale', () => {
      const members = [one('a', { active: tasks({ '0': [1] }), topologyEpoch: 0 })];
      const asked = problem({ assignor, members, subtopologies: [kind('0', 2, true)] });
      expect(assignDirectly(asked)).to.deep.equal({
        members: [{ active: tasks({ '0': [1] }), standby: [] }],
        unassigned: tasks({ '0': [0] }),
      });
    });

    it('lets stale members keep their share, and gives them nothing', () => {
      const stale = one('a', {
        active: tasks({ '0': [0] }),
        standby: tasks({ '0': [1] }),
        topologyEpoch: 0,
      });
      const asked = problem({
        assignor,
        members: [stale, one('b'), one('c')],
        subtopologies: [kind('0', 6, true)],
        numStandbyReplicas: 1,
      });
      const [kept, ...fresh] = assignDirectly(asked).members;
      expect(kept).to.deep.equal({
        active: tasks({ '0': [0] }),
        standby: tasks({ '0': [1] }),
      });
      expect(fresh.map(activeCount).sort()).to.deep.equal([2, 3]);
    });

    it('gives one task each when there are more members than tasks', () => {
      const asked = problem({
        assignor,
        members: group('A', 3).concat(group('B', 3)),
        subtopologies: [kind('0', 2, true), kind('1', 2, false)],
      });
      const counts = assignDirectly(asked).members.map(activeCount);
      expect(counts.sort()).to.deep.equal([0, 0, 1, 1, 1, 1]);
    });

    it('gives no standby in a group of one process (H5)', () => {
      const asked = problem({
        assignor,
        members: group('A', 2),
        subtopologies: [kind('0', 4, true)],
        numStandbyReplicas: 1,
      });
      for (const { standby } of assignDirectly(asked).members) expect(standby).to.deep.equal([]);
    });

    it('puts a copy on every process when there are too few, also a tiny one (H5)', () => {
      const asked = problem({
        assignor,
        members: [...group('A', 4), ...group('B', 1)],
        subtopologies: [kind('0', 10, true)],
        numStandbyReplicas: 2,
      });
      const found = assignDirectly(asked).members;
      const copies = found.map(({ active, standby }) =>
        activeCount({ active: [...active, ...standby] }),
      );
      expect(copies.at(-1)).to.equal(10);
      expect(copies.reduce((a, b) => a + b, 0)).to.equal(20);
    });

    it('gives a process of 64 members 64 times the tasks of a process of one', () => {
      const asked = problem({
        assignor,
        members: [...group('A', 64), ...group('B', 1)],
        subtopologies: [kind('0', 65 * 3, true)],
      });
      const counts = assignDirectly(asked).members.map(activeCount);
      expect(new Set(counts)).to.deep.equal(new Set([3]));
    });

    it('ignores what is held of tasks that are gone, and state of what became stateless', () => {
      const members = [
        one('a', { active: tasks({ '0': [0, 9], gone: [0] }), standby: tasks({ '1': [0] }) }),
        one('b', { taskOffsets: [{ subtopologyId: '1', partition: 0, offset: 5n }] }),
      ];
      const bare = [one('a', { active: tasks({ '0': [0] }) }), one('b')];
      const asked = problem({
        assignor,
        members,
        subtopologies: [kind('0', 2, true), kind('1', 2, false)],
        numStandbyReplicas: 1,
      });
      expect(assignDirectly(asked)).to.deep.equal(assignDirectly({ ...asked, members: bare }));
    });

    it('places tasks of grown and of new subtopologies', () => {
      const asked = problem({
        assignor,
        members: [one('a'), one('b')],
        subtopologies: [kind('0', 2, true)],
      });
      const grown = {
        ...holdResult(asked, assignDirectly(asked)),
        subtopologies: [kind('0', 4, true), kind('1', 2, false)],
      };
      expect(assignDirectly(grown).members.map(activeCount)).to.deep.equal([3, 3]);
    });
  });
}
