import { at, type Dense } from './dense.ts';
import { markAboveShare } from './keep-actives.ts';
import type { Run } from './run.ts';
import { isOfKind } from './task-order.ts';

/**
 * Lets copies stay that nobody contests: all copies of the task are wanted, and their members have room for all that they
 * hold of such. What stays as it was is so placed without a look at one task after the other in their order.
 *
 * @returns how many standbys were placed.
 *
 * Source: assignors 6.1 (standby pass).
 */
export function keepCopies(run: Run): number {
  const { dense } = run;
  const { size, base, candStart, candDisk, candMember, planned, count } = dense;
  planned.fill(0);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, 'stateful')) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (!isSettled(dense, task)) continue;
      const end = at(candDisk, task);
      for (let c = at(candStart, task); c < end; c++) {
        const member = at(candMember, c);
        planned[member] = at(planned, member) + 1;
      }
    }
  }
  markAboveShare(dense, run.totalQuota);
  const kept = placeSettled(dense);
  for (let m = 0; m < size.members; m++) {
    if (at(planned, m) > 0) run.totalQuota.reached(at(count, m));
  }
  return kept;
}

/** Whether all copies of a task are wanted. */
function isSettled({ size, candStart, candDisk, standbyCount }: Dense, task: number): boolean {
  const copies = at(candDisk, task) - at(candStart, task);
  return copies > 0 && copies <= size.slots - at(standbyCount, task);
}

function placeSettled(dense: Dense): number {
  const { size, base, active, procOf, procCount, candStart, candDisk, candMember } = dense;
  const { planned, count, marks, standby, standbyCount } = dense;
  let kept = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, 'stateful')) continue;
    const to = at(base, s + 1);
    tasks: for (let task = at(base, s); task < to; task++) {
      if (!isSettled(dense, task)) continue;
      const from = at(candStart, task);
      const end = at(candDisk, task);
      for (let c = from; c < end; c++) {
        if (at(planned, at(candMember, c)) < 0) continue tasks;
      }
      let placed = at(standbyCount, task);
      const first = task * size.slots;
      const owner = at(active, task);
      if (owner !== -1) marks[at(procOf, owner)] = task;
      for (let i = 0; i < placed; i++) marks[at(procOf, at(standby, first + i))] = task;
      for (let c = from; c < end; c++) {
        const member = at(candMember, c);
        const process = at(procOf, member);
        if (at(marks, process) === task) continue;
        marks[process] = task;
        standby[first + placed++] = member;
        count[member] = at(count, member) + 1;
        procCount[process] = at(procCount, process) + 1;
        kept++;
      }
      standbyCount[task] = placed;
    }
  }
  return kept;
}
