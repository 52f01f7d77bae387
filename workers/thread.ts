import { assignDense } from './assign-dense.ts';
import { findBreach } from './check.ts';
import { type Dense, openDense } from './dense.ts';
import { lookBack } from './look-back.ts';
import { type Placement, takePlacement } from './placement.ts';
import { lowerThreadPriority } from './thread-priority.ts';

/** What a thread is given: the problem, which is also the place for the result. */
export type AssignmentJob = {
  readonly buffer: SharedArrayBuffer;
  /** Somebody else's assignment, only to be checked. */
  readonly placement?: Placement;
  /** The result is there and sound: only looks back on how it came about. */
  readonly looksBack?: true;
};

/** What came of it. `broken` names the hard invariant that the result would break. */
export type AssignmentOutcome =
  | {
      readonly status: 'assigned';
      /** What it took; left out where the thread only checked. */
      readonly threadMs?: number;
    }
  | { readonly status: 'noProcess' }
  | { readonly status: 'broken'; readonly breach: string };

lowerThreadPriority();

/** Runs one assignment and checks it, or looks back on one; the entry of a pool's thread. */
export default function runAssignment(job: AssignmentJob): AssignmentOutcome {
  const { buffer, placement, looksBack } = job;
  const startedMs = performance.now();
  const dense = openDense(buffer);
  if (looksBack) {
    lookBack(dense);
    return { status: 'assigned' };
  }
  if (dense.size.tasks > 0 && dense.size.members === 0) return { status: 'noProcess' };
  const breach = placement === undefined ? assigned(dense) : placed(dense, placement);
  if (breach !== undefined) return { status: 'broken', breach };
  if (placement !== undefined) return { status: 'assigned' };
  return { status: 'assigned', threadMs: performance.now() - startedMs };
}

function assigned(dense: Dense): string | undefined {
  assignDense(dense);
  return findBreach(dense);
}

function placed(dense: Dense, placement: Placement): string | undefined {
  return takePlacement(dense, placement) ?? findBreach(dense, { promisesQuotas: false });
}
