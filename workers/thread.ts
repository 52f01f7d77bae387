import { assignDense } from './assign-dense.ts';
import { findBreach } from './check.ts';
import { openDense } from './dense.ts';
import { lookBack } from './look-back.ts';
import { lowerThreadPriority } from './thread-priority.ts';

/** What a thread is given: the problem, which is also the place for the result. */
export type AssignmentJob = { readonly buffer: SharedArrayBuffer };

/** What came of it. `broken` names the hard invariant that the result would break. */
export type AssignmentOutcome =
  | { readonly status: 'assigned' }
  | { readonly status: 'noProcess' }
  | { readonly status: 'broken'; readonly breach: string };

lowerThreadPriority();

/** Runs one assignment, checks it and looks back on it; the entry of a pool's thread. */
export default function runAssignment({ buffer }: AssignmentJob): AssignmentOutcome {
  const dense = openDense(buffer);
  if (dense.size.tasks > 0 && dense.size.members === 0) return { status: 'noProcess' };
  assignDense(dense);
  const breach = findBreach(dense);
  if (breach !== undefined) return { status: 'broken', breach };
  lookBack(dense);
  return { status: 'assigned' };
}
