import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { Chance } from '../differential/chance.ts';
import { listOf } from '../support/keeping-assignor.ts';

type Task = { readonly subtopologyId: string; readonly partition: number };

/** Gives a target that breaks no invariant and follows no other thought: who gets what is drawn. */
export function syntheticAssignor(seed: number): (problem: AssignmentProblem) => AssignmentResult {
  return ({ members, subtopologies, numStandbyReplicas }) => {
    const chance = new Chance(seed);
    const active = members.map((): Task[] => []);
    const standby = members.map((): Task[] => []);
    const processes = [...new Set(members.map(({ processId }) => processId))];
    const anyOf = (processId: string | undefined): number =>
      chance.pick([...members.keys()].filter((at) => members[at]?.processId === processId));
    for (const { subtopologyId, taskCount, stateful } of subtopologies) {
      for (let partition = 0; partition < taskCount; partition++) {
        const task = { subtopologyId, partition };
        const owner = chance.between(0, members.length - 1);
        active[owner]?.push(task);
        const others = processes.filter((processId) => processId !== members[owner]?.processId);
        const copies = stateful ? Math.min(numStandbyReplicas, others.length) : 0;
        for (let copy = 0; copy < copies; copy++) {
          const [processId] = others.splice(chance.between(0, others.length - 1), 1);
          standby[anyOf(processId)]?.push(task);
        }
      }
    }
    return {
      members: members.map((_, at) => ({
        active: listOf(active[at] ?? []),
        standby: listOf(standby[at] ?? []),
      })),
      unassigned: [],
    };
  };
}
