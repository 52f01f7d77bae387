import { assignDense } from './assign-dense.ts';
import { findBreach } from './check.ts';
import { openDense } from './dense.ts';
import { type Placement, takePlacement } from './placement.ts';
import { lowerThreadPriority } from './thread-priority.ts';

/** What a thread is given: the problem, which is also the place for the result. */
export type AssignmentJob = {
  readonly buffer: SharedArrayBuffer;
  /** Somebody else's assignment, only to be checked. */
  readonly placement?: Placement;
};

/** What came of it. `broken` names the hard invariant that the result would break. */
export type AssignmentOutcome =
  | { readonly status: 'assigned' }
  | { readonly status: 'noProcess' }
  | { readonly status: 'broken'; readonly breach: string };

lowerThreadPriority();

/** Runs one assignment and checks it; the entry of a pool's thread. */
export default function runAssignment({ buffer, placement }: AssignmentJob): AssignmentOutcome {
  const dense = openDense(buffer);
  if (dense.size.tasks > 0 && dense.size.members === 0) return { status: 'noProcess' };
  let breach: string | undefined;
  if (placement === undefined) {
    assignDense(dense);
    breach = findBreach(dense);
  } else {
    breach = takePlacement(dense, placement) ?? findBreach(dense, { promisesQuotas: false });
  }
  return breach === undefined ? { status: 'assigned' } : { status: 'broken', breach };
}
