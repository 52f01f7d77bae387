import { at, type Dense, isSet } from './dense.ts';
import { markAboveShare } from './keep-actives.ts';
import type { Run } from './run.ts';

/**
 * Lets copies stay that nobody contests: all copies of the task are wanted, and their members have room for all that they
 * hold of such. What stays as it was is so placed without a look at one task after the other in their order.
 *
 * @returns how many standbys were placed.
 *
 * Source: assignors 6.1 (standby pass).
 */
export function keepCopies(run: Run): number {
  const { dense, totalQuota } = run;
  const { planned, count, procOf, procCount } = dense;
  countSettled(dense);
  markAboveShare(dense, totalQuota);
  placeSettled(dense);
  let kept = 0;
  for (let m = 0; m < planned.length; m++) {
    const copies = planned[m] as number;
    if (copies <= 0) continue;
    kept += copies;
    const has = (count[m] as number) + copies;
    count[m] = has;
    const process = procOf[m] as number;
    procCount[process] = (procCount[process] as number) + copies;
    if (has === totalQuota.limit) totalQuota.reached(has);
  }
  return kept;
}

/** Counts into `planned` the copies that each member holds of tasks all of whose copies are wanted. */
export function countSettled(dense: Dense): void {
  const { size, base, stateful, candStart, candDisk, candMember, standbyCount, planned } = dense;
  const { slots } = size;
  planned.fill(0);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const from = candStart[task] as number;
      const end = candDisk[task] as number;
      if (end - from > slots - (standbyCount[task] as number)) continue;
      for (let c = from; c < end; c++) {
        const member = candMember[c] as number;
        planned[member] = (planned[member] as number) + 1;
      }
    }
  }
}

/** Places them, without those of members above their share; what a process has twice is planned no more. */
function placeSettled(dense: Dense): void {
  const { size, base, stateful, active, procOf, candStart, candDisk, candMember } = dense;
  const { planned, standby, standbyCount } = dense;
  const { slots } = size;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    tasks: for (let task = at(base, s); task < to; task++) {
      const from = candStart[task] as number;
      const end = candDisk[task] as number;
      let placed = standbyCount[task] as number;
      if (end === from || end - from > slots - placed) continue;
      for (let c = from; c < end; c++) {
        if ((planned[candMember[c] as number] as number) < 0) {
          takeBack(dense, from, end);
          continue tasks;
        }
      }
      const first = task * slots;
      const owner = active[task] as number;
      const ownerProcess = owner === -1 ? -1 : (procOf[owner] as number);
      for (let c = from; c < end; c++) {
        const member = candMember[c] as number;
        const process = procOf[member] as number;
        let isThere = process === ownerProcess;
        for (let i = 0; i < placed && !isThere; i++) {
          isThere = procOf[standby[first + i] as number] === process;
        }
        if (isThere) planned[member] = (planned[member] as number) - 1;
        else standby[first + placed++] = member;
      }
      standbyCount[task] = placed;
    }
  }
}

/** None of the task's copies is placed: they are planned no more for members at or below their share. */
function takeBack({ candMember, planned }: Dense, from: number, end: number): void {
  for (let c = from; c < end; c++) {
    const member = at(candMember, c);
    if (at(planned, member) > 0) planned[member] = at(planned, member) - 1;
  }
}
