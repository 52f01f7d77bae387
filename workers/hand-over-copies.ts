import { invariant } from '../machines/model/refusal.ts';
import { listHolders, placeStandby } from './copies.ts';
import { at, type Dense } from './dense.ts';
import { includes } from './includes.ts';
import { strikeOut } from './place-uncontested.ts';
import { type Run, STALE } from './run.ts';

/**
 * Finds standbys for processes that have come back with their disks: each takes, up to its share, the tasks that lie there
 * before it is given others that it would have to build. A copy leaves for it where its process stays even: it has more
 * than its share, or can make up for it with a task whose active has moved, which may as well stay with one of its holders
 * as with another. Those tasks go to whoever is the furthest below its share then.
 *
 * Works on what `planUncontested` has written down of the copies, and changes it.
 *
 * @param movedCount how many tasks are in `few`: those that lack standbys and whose active has moved.
 * @returns how many standbys were placed.
 *
 * Source: assignors section 3 (Q9), 6.1 (standby pass).
 */
export function handOverCopies(run: Run, movedCount: number): number {
  const { dense } = run;
  countOver(dense, run.totalQuota.floor);
  countPull(dense, movedCount);
  return fillReturned(run) + shareOutMoved(run, movedCount);
}

/** How many tasks each process has above its share, with the copies that are planned to stay; below zero it lacks some. */
function countOver({ count, planned, procOf, procOver }: Dense, floor: number): void {
  procOver.fill(0);
  for (let m = 0; m < count.length; m++) {
    if (at(count, m) >= STALE) continue;
    const process = at(procOf, m);
    procOver[process] = at(procOver, process) + at(count, m) + at(planned, m) - floor;
  }
}

/** Counts in `procPull` how many of the moved tasks in `few` may stay with each process as standbys. */
function countPull(dense: Dense, taskCount: number): void {
  const { few, procPull, procOf, candStart, candDisk, candMember, prevActive } = dense;
  procPull.fill(0);
  for (let i = 0; i < taskCount; i++) {
    const task = at(few, i);
    const ran = at(procOf, at(prevActive, task));
    procPull[ran] = at(procPull, ran) + 1;
    for (let c = at(candStart, task); c < at(candDisk, task); c++) {
      const process = at(procOf, at(candMember, c));
      procPull[process] = at(procPull, process) + 1;
    }
  }
}

/** Gives to those who have come back what lies on their disks. */
function fillReturned(run: Run): number {
  const { dense, totalQuota } = run;
  const { procOf, procReturned, procOver, diskStart, candTask } = dense;
  let placed = 0;
  startLandings(dense);
  for (let m = 0; m < procOf.length; m++) {
    const process = procOf[m] as number;
    if (procReturned[process] !== 1) continue;
    const end = diskStart[m + 1] as number;
    for (let i = diskStart[m] as number; i < end && (procOver[process] as number) < 0; i++) {
      const task = candTask[i] as number;
      if (!makeRoom(dense, task, process)) continue;
      procOver[process] = (procOver[process] as number) + 1;
      placeStandby(run, task, landingOn(dense, m, totalQuota.floor));
      placed++;
    }
  }
  return placed;
}

/**
 * Sees to it that a task lacks a standby for a process that does not hold it: if need be somebody who can gives up a copy
 * that is only written down.
 */
function makeRoom(dense: Dense, task: number, process: number): boolean {
  const { size, active, standby, standbyCount, fixed, procOf, procOver, procPull } = dense;
  const owner = active[task] as number;
  if (owner !== -1 && procOf[owner] === process) return false;
  const first = task * size.slots;
  const end = first + (standbyCount[task] as number);
  const firstPlanned = first + (fixed[task] as number);
  let giver = -1;
  for (let place = first; place < end; place++) {
    const member = standby[place] as number;
    const holder = procOf[member] as number;
    if (holder === process) return false;
    if (giver !== -1 || place < firstPlanned) continue;
    if ((procOver[holder] as number) + (procPull[holder] as number) > 0) giver = member;
  }
  if (end < first + size.slots) return true;
  if (giver === -1) return false;
  strikeOut(dense, task, giver);
  noteLoss(dense, giver);
  return true;
}

/** A member has lost a planned copy; its process may land a task on it again. What a stale one has is nobody's account. */
function noteLoss(
  { count, procOf, procOver, procFirst, procStart, placeInProcess }: Dense,
  member: number,
): void {
  if (at(count, member) >= STALE) return;
  const process = at(procOf, member);
  procOver[process] = at(procOver, process) - 1;
  const place = at(procStart, process) + at(placeInProcess, member);
  procFirst[process] = Math.min(at(procFirst, process), place);
}

/** Gives the moved tasks to their holders below the share, the one that is the furthest below first. */
function shareOutMoved(run: Run, movedCount: number): number {
  const { dense, totalQuota } = run;
  const { size, few, standbyCount, procOf, procOver } = dense;
  let placed = 0;
  startLandings(dense);
  for (let i = 0; i < movedCount; i++) {
    const task = few[i] as number;
    while ((standbyCount[task] as number) < size.slots) {
      const holder = furthestBelow(dense, task);
      if (holder === -1) break;
      const process = procOf[holder] as number;
      procOver[process] = (procOver[process] as number) + 1;
      placeStandby(run, task, landingOn(dense, holder, totalQuota.floor));
      placed++;
    }
  }
  return placed;
}

/** Of those that ran a task or have a copy, and whose process does not hold it yet, the furthest below its share; or -1. */
function furthestBelow(dense: Dense, task: number): number {
  const { prevActive, candStart, candDisk, candMember, holders, procOf, procOver } = dense;
  const held = listHolders(dense, task);
  const end = candDisk[task] as number;
  let best = -1;
  let least = 0;
  let member = prevActive[task] as number;
  for (let c = candStart[task] as number; ; c++) {
    const process = procOf[member] as number;
    if ((procOver[process] as number) < least && !includes(holders, held, process)) {
      best = member;
      least = procOver[process] as number;
    }
    if (c >= end) return best;
    member = candMember[c] as number;
  }
}

/** From where on a member of each process is looked for that is below the share; {@link noteLoss} steps back. */
function startLandings({ size, procFirst, procStart }: Dense): void {
  procFirst.set(procStart.subarray(0, size.processes));
}

/** The member, or the first of its process that is below the floor; a process that lacks tasks has one. */
function landingOn(dense: Dense, member: number, floor: number): number {
  const { procOf, procMember, procFirst, procStart } = dense;
  if (isBelow(dense, member, floor)) return member;
  const process = at(procOf, member);
  const end = at(procStart, process + 1);
  let i = at(procFirst, process);
  while (i < end && !isBelow(dense, at(procMember, i), floor)) i++;
  invariant(i < end, 'a process that lacks tasks has a member to take one');
  procFirst[process] = i;
  return at(procMember, i);
}

function isBelow({ count, planned }: Dense, member: number, floor: number): boolean {
  return at(count, member) + at(planned, member) < floor;
}
