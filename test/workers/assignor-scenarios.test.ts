import { expect } from 'chai';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { ASSIGNORS } from '../../machines/model/assignors.ts';
import type { TaskList, TaskOffset } from '../../machines/model/tasks.ts';
import {
  assignDirectly,
  holdResult,
  assignmentMember as member,
  assignmentProblem as problem,
  tasks,
} from '../support/assignment.ts';

const size = (list: TaskList): number =>
  list.reduce((sum, { partitions }) => sum + partitions.length, 0);

/** Members of a process, in order; ids begin with the process's. */
function processOf(processId: string, members: number) {
  return Array.from({ length: members }, (_, i) => member(`${processId}-${i}`, { processId }));
}

/** The problem after a settled run, with what is said otherwise. */
function settled(
  from: AssignmentProblem,
  change: Partial<AssignmentProblem> = {},
): AssignmentProblem {
  return { ...holdResult(from, assignDirectly(from)), ...change };
}

function activesPer(of: 'member' | 'process', from: AssignmentProblem, result: AssignmentResult) {
  const counts = new Map<string, number>();
  from.members.forEach(({ memberId, processId }, i) => {
    const key = of === 'member' ? memberId : processId;
    counts.set(key, (counts.get(key) ?? 0) + size(result.members[i]?.active ?? []));
  });
  return [...counts.values()];
}

/** Actives that left the member that holds them, of members that are still there. */
function activesMoved(from: AssignmentProblem, result: AssignmentResult): number {
  return from.members.reduce((moved, { active }, i) => {
    const now = new Set(names(result.members[i]?.active ?? []));
    return moved + names(active).filter((task) => !now.has(task)).length;
  }, 0);
}

function names(list: TaskList): string[] {
  return list.flatMap(({ subtopologyId, partitions }) =>
    partitions.map((partition) => `${subtopologyId}_${partition}`),
  );
}

const reports = (...partitions: readonly number[]): TaskOffset[] =>
  partitions.map((partition) => ({ subtopologyId: '0', partition, offset: 1_000n }));

for (const assignor of ASSIGNORS) {
  describe(`scenarios of placement: ${assignor}`, () => {
    const stateful = (taskCount: number) => [{ subtopologyId: '0', taskCount, stateful: true }];

    it('S11 A scale-out converges in one computation and stays', () => {
      const members = processOf('P1', 10);
      const before = settled(problem({ assignor, subtopologies: stateful(450), members }));
      const grown = { ...before, members: [...before.members, ...processOf('P2', 10)] };
      const result = assignDirectly(grown);
      expect(new Set(activesPer('member', grown, result))).to.deep.equal(new Set([22, 23]));
      const perProcess = activesPer('process', grown, result);
      for (const each of perProcess) expect(each).to.be.within(220, 230);
      if (assignor !== 'sticky') expect(perProcess).to.deep.equal([225, 225]);
      else expect(activesMoved(grown, result)).to.equal(220);
      let after = holdResult(grown, result);
      for (const numStandbyReplicas of [1, 0, 0]) {
        after = { ...after, numStandbyReplicas };
        const again = assignDirectly(after);
        expect(again.members.map(({ active }) => active)).to.deep.equal(
          result.members.map(({ active }) => active),
        );
        after = holdResult(after, again);
      }
    });

    it('S11 A scale-out converges in one computation and stays: 9 tasks, two processes', () => {
      const members = [...processOf('P1', 2), ...processOf('P2', 2)];
      const asked = problem({ assignor, subtopologies: stateful(9), members });
      const result = assignDirectly(asked);
      expect(activesPer('process', asked, result).sort()).to.deep.equal([4, 5]);
      expect(activesPer('member', asked, result).sort()).to.deep.equal([2, 2, 2, 3]);
      expect(assignDirectly(holdResult(asked, result))).to.deep.equal(result);
    });

    it('S13 Stateful work is spread, not only the number of tasks', () => {
      const subtopologies = [
        { subtopologyId: '0', taskCount: 4, stateful: false },
        { subtopologyId: '1', taskCount: 4, stateful: true },
      ];
      const counts = (processes: readonly string[]) => {
        const members = processes.flatMap((processId) => processOf(processId, 1));
        return assignDirectly(problem({ assignor, subtopologies, members })).members.map(
          ({ active }) =>
            ['0', '1'].map((id) => size(active.filter((each) => each.subtopologyId === id))),
        );
      };
      expect(counts(['A', 'B'])).to.deep.equal([
        [2, 2],
        [2, 2],
      ]);
      for (const perKind of counts(['A', 'B', 'C'])) {
        for (const each of perKind) expect(each).to.be.within(1, 2);
      }
    });

    if (assignor === 'balanced') return;

    it('S12 After a full restart tasks return to where their state lies', () => {
      const members = [
        member('x', { processId: 'P2', taskOffsets: reports(2, 3) }),
        member('y', { processId: 'P1', taskOffsets: reports(0, 1) }),
      ];
      const asked = problem({ assignor, subtopologies: stateful(4), members });
      expect(assignDirectly(asked).members.map(({ active }) => active)).to.deep.equal([
        tasks({ '0': [2, 3] }),
        tasks({ '0': [0, 1] }),
      ]);
      const third = { ...asked, members: [...members, member('z', { processId: 'P3' })] };
      const taken = assignDirectly(third).members.map(({ active }) => names(active));
      for (const [holder, partitions] of [
        [0, ['0_2', '0_3']],
        [1, ['0_0', '0_1']],
      ] as const) {
        expect(partitions).to.include.members(taken[holder] ?? []);
        expect(taken[holder]?.length).to.be.at.least(1);
      }
    });

    it('S14 Scaling makes no copies that nobody asked for and moves no more than balance needs', () => {
      let held = problem({ assignor, subtopologies: stateful(6), members: processOf('A', 1) });
      const moves: number[] = [];
      for (const processes of [['A'], ['A', 'B'], ['A', 'B', 'C'], ['A', 'B'], ['A']]) {
        const members = processes.map(
          (processId) =>
            held.members.find((each) => each.processId === processId) ??
            member(`${processId}-0`, { processId }),
        );
        held = { ...held, members };
        const result = assignDirectly(held);
        moves.push(activesMoved(held, result));
        for (const { standby } of result.members) expect(standby).to.deep.equal([]);
        held = holdResult(held, result);
      }
      expect(moves).to.deep.equal([0, 3, 2, 0, 0]);
    });

    it('S14 Scaling makes no copies that nobody asked for: a quick restart gets its standbys back', () => {
      const members = ['A', 'B', 'C'].flatMap((processId) => processOf(processId, 1));
      const asked = problem({
        assignor,
        subtopologies: stateful(6),
        members,
        numStandbyReplicas: 1,
      });
      const before = settled(asked);
      const [gone, ...staying] = before.members;
      const held = [...(gone?.active ?? []), ...(gone?.standby ?? [])];
      const back = member('A-again', {
        processId: 'A',
        taskOffsets: held.flatMap(({ partitions }) => reports(...partitions)),
      });
      const result = assignDirectly({ ...before, members: [back, ...staying] });
      const after = [...(result.members[0]?.active ?? []), ...(result.members[0]?.standby ?? [])];
      expect(names(after).sort()).to.deep.equal(names(held).sort());
    });
  });
}
