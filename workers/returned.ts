import { hasCandidates } from './candidates.ts';
import { at, CANDIDATE, type Dense, isSet } from './dense.ts';
import type { Run } from './run.ts';

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
function isAnyOnDisk({ size, procOf, procReturned, candMember, candRole }: Dense): boolean {
  const { candidates } = size;
  for (let c = 0; c < candidates; c++) {
    if (procReturned[procOf[candMember[c] as number] as number] !== 1) continue;
    if (candRole[c] === CANDIDATE.disk) return true;
  }
  return false;
}

/** Whether a task lies on the disk of a process that has come back. */
export function isOnDiskOfReturned(dense: Dense, task: number): boolean {
  const { candStart, candDisk, candMember, procOf, procReturned } = dense;
  const end = candStart[task + 1] as number;
  for (let c = candDisk[task] as number; c < end; c++) {
    if (procReturned[procOf[candMember[c] as number] as number] === 1) return true;
  }
  return false;
}
