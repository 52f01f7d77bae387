import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { hasTask } from '../../machines/model/task-list.ts';
import { assignDirectly } from '../support/assignment.ts';
import { listOf } from '../support/keeping-assignor.ts';
import type { TestAssignor } from '../support/lone-coordinator.ts';
import { taskBits } from './fingerprint.ts';

/** An assignor that works each problem out once; problems of one world differ in who is there and what they have. */
function remembering(assignor: TestAssignor): TestAssignor {
  const known = new Map<string, AssignmentResult>();
  return (problem) => {
    const { numStandbyReplicas, topologyEpoch, subtopologies, members } = problem;
    const text = [
      problem.placeAsKafka,
      numStandbyReplicas,
      topologyEpoch,
      ...subtopologies.map(({ subtopologyId, taskCount }) => `${subtopologyId}:${taskCount}`),
      ...members.map(({ memberId, processId, topologyEpoch, active, standby, warmup }) =>
        [memberId, processId, topologyEpoch, ...[active, standby, warmup].map(taskBits)].join(),
      ),
    ].join(' ');
    const result = known.get(text) ?? assignor(problem);
    known.set(text, result);
    return result;
  };
}

/** An assignor of the product, with its checker. */
export const sticky = remembering((problem) => assignDirectly({ ...problem, assignor: 'sticky' }));

/** Every task goes to the member after the one that has it, so that nothing ever stays where it is. */
export const restless = remembering((problem: AssignmentProblem): AssignmentResult => {
  const { members, subtopologies, numStandbyReplicas } = problem;
  const active = members.map(() => [] as { subtopologyId: string; partition: number }[]);
  const standby = members.map(() => [] as { subtopologyId: string; partition: number }[]);
  const after = (at: number, steps: number) => (at + steps) % members.length;
  for (const { subtopologyId, taskCount, stateful } of subtopologies) {
    for (let partition = 0; partition < taskCount; partition++) {
      const had = members.findIndex((member) => hasTask(member.active, subtopologyId, partition));
      const owner = had < 0 ? after(partition, 0) : after(had, 1);
      active[owner]?.push({ subtopologyId, partition });
      const copy = after(owner, 1);
      const elsewhere = members[copy]?.processId !== members[owner]?.processId;
      if (stateful && numStandbyReplicas > 0 && elsewhere) {
        standby[copy]?.push({ subtopologyId, partition });
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
});
