import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { listOf } from './keeping-assignor.ts';

/** An assignor that gives every task to another member than last time. */
export function restlessAssignor(): (problem: AssignmentProblem) => AssignmentResult {
  let runs = 0;
  return ({ members, subtopologies }) => {
    runs++;
    const active = members.map(() => [] as { subtopologyId: string; partition: number }[]);
    for (const { subtopologyId, taskCount } of subtopologies) {
      for (let partition = 0; partition < taskCount; partition++) {
        active[(partition + runs) % members.length]?.push({ subtopologyId, partition });
      }
    }
    return {
      members: active.map((tasks) => ({ active: listOf(tasks), standby: [] })),
      unassigned: [],
    };
  };
}
