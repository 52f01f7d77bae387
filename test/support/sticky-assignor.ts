import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { encodeProblem, listResult, readResult } from '../../workers/problem.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import runAssignment from '../../workers/thread.ts';

/** Sticky, as it is, and its checker, at once and without a thread. */
export function stickyAssignor(problem: AssignmentProblem): AssignmentResult {
  const encoded = encodeProblem({ ...problem, assignor: 'sticky' }, new SharedBuffers());
  const outcome = runAssignment({ buffer: encoded.dense.buffer });
  if (outcome.status !== 'assigned') throw new Error(`No assignment: ${JSON.stringify(outcome)}`);
  return listResult(problem, readResult(encoded));
}
