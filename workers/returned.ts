import { hasCandidates } from './candidates.ts';
import { at, type Dense, isSet } from './dense.ts';
import type { Run } from './run.ts';
import { addToFew } from './task-order.ts';

/**
 * Marks in `procReturned` the processes that hold no stateful active and are all fresh: who has come back with its state on
 * disk is among them. Says in `run.returned` whether one of them has any.
 *
 * @param held stateful actives that each process holds.
 *
 * Source: assignors section 3 (Q9).
 */
export function findReturnedProcesses(run: Run, held: Int32Array): void {
  const { dense } = run;
  const { size, facts, procOf, procReturned, frozen } = dense;
  run.returned.any = false;
  if (!hasCandidates(dense, 'disk')) return;
  let found = 0;
  for (let p = 0; p < size.processes; p++) {
    procReturned[p] = held[p] === 0 ? 1 : 0;
    found += procReturned[p] as number;
  }
  if (found === 0) return;
  for (let m = 0; facts.stale > 0 && m < size.members; m++) {
    if (isSet(frozen, m)) procReturned[at(procOf, m)] = 0;
  }
  run.returned.any = isAnyOnDisk(dense);
}

/** Whether a marked process has anything on disk. */
function isAnyOnDisk({ procOf, procReturned, diskStart }: Dense): boolean {
  for (let m = 0; m < procOf.length; m++) {
    if (procReturned[procOf[m] as number] !== 1) continue;
    if ((diskStart[m + 1] as number) > (diskStart[m] as number)) return true;
  }
  return false;
}

/** Gathers in `few`, in no order, the tasks that lie on the disk of a process that has come back; returns how many. */
export function gatherOnDiskOfReturned(dense: Dense): number {
  const { procOf, procReturned, diskStart, candTask } = dense;
  let length = 0;
  for (let m = 0; m < procOf.length; m++) {
    if (procReturned[procOf[m] as number] !== 1) continue;
    const end = diskStart[m + 1] as number;
    for (let i = diskStart[m] as number; i < end; i++) {
      length = addToFew(dense, candTask[i] as number, length);
    }
  }
  return length;
}
