import { expect } from 'chai';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
import { problemOfCell } from '../../src/problem/cell.ts';
import { assignDirectly } from '../support/assignment.ts';
import { forEachState } from '../support/assignment-scenario.ts';

describe('balanced, what is left to level (assignors 6.2)', () => {
  it('leaves no process with two tasks more than another one that could take a standby', () => {
    const problem = problemOfCell({
      cell: 'c',
      assignor: 'balanced',
      configs: { numStandbyReplicas: 1 },
      topology: [{ id: '0', tasks: 3, stateful: true }],
      members: ['a', 'b', 'c'].map((id) => ({ id, process: id })),
    });
    const { members } = assignDirectly(problem);
    const tasks = members.map(({ active, standby }) => [
      active[0]?.partitions,
      standby[0]?.partitions,
    ]);
    // By load alone a would have the standbys of the second and of the third task, and c none.
    expect(tasks).to.deep.equal([
      [[0], [2]],
      [[1], [0]],
      [[2], [1]],
    ]);
  });

  it('finds nothing left to level, whatever the group', () => {
    let levelled = 0;
    for (let seed = 0; seed < 120; seed++) {
      forEachState(seed, 'small', ({ problem: scenario }) => {
        const problem = { ...scenario, assignor: 'balanced', rackAwareAssignmentTags: [] };
        const { topologyEpoch, subtopologies } = problem;
        const result = assignDirectly(problem);
        if (problem.members.some((each) => each.topologyEpoch !== topologyEpoch)) return result;
        const stateful = new Set(
          subtopologies.flatMap((each) => (each.stateful ? [each.subtopologyId] : [])),
        );
        const processes = new Map<
          string,
          { members: number; all: Set<string>; copies: string[] }
        >();
        problem.members.forEach(({ processId }, m) => {
          const process = processes.get(processId) ?? { members: 0, all: new Set(), copies: [] };
          processes.set(processId, process);
          process.members++;
          for (const role of ['active', 'standby'] as const) {
            forEachTask(result.members[m]?.[role] ?? [], (subtopologyId, partition) => {
              if (!stateful.has(subtopologyId)) return;
              process.all.add(taskKey(subtopologyId, partition));
              if (role === 'standby') process.copies.push(taskKey(subtopologyId, partition));
            });
          }
        });
        for (const from of processes.values()) {
          for (const to of processes.values()) {
            const without = (from.all.size - 1) / from.members;
            if (from === to || without < (to.all.size + 1) / to.members) continue;
            expect(from.copies.filter((task) => !to.all.has(task))).to.deep.equal([]);
            levelled++;
          }
        }
        return result;
      });
    }
    // Somewhere the one with more to do has nothing that the other one lacks.
    expect(levelled).to.be.above(0);
  });
});
