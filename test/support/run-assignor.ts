import {
  type AssignmentProblem,
  type AssignmentResult,
  type GroupProblem,
  type GroupResult,
  listProblem,
} from '../../machines/model/assignment.ts';
import { NO_TASKS } from '../../machines/model/tasks.ts';

/** Has an assignor that takes problems member by member answer a run's. */
export function runAssignor(
  assignor: (problem: AssignmentProblem) => AssignmentResult,
  problem: GroupProblem,
): GroupResult {
  const listed = listProblem(problem);
  const { members, unassigned } = assignor(listed);
  return {
    memberIds: listed.members.map(({ memberId }) => memberId),
    installed: listed.members.map(({ memberId }) => problem.targets.get(memberId)),
    targets: members.map(({ active, standby }) => ({ active, standby, warmup: NO_TASKS })),
    unassigned,
  };
}
