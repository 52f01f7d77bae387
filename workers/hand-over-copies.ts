import { candidatesTo } from './candidates.ts';
import { listHolders, placeStandby } from './copies.ts';
import { at, type Dense, isSet } from './dense.ts';
import { countUncontested, isUncontested } from './place-uncontested.ts';
import { isOnDiskOfReturned } from './returned.ts';
import { type Run, STALE } from './run.ts';
import { isOfKind, sortFew } from './task-order.ts';

/**
 * Chooses which copies leave the processes that have more than their share, as {@link handOver} does with actives: those
 * that a process which has come back has on disk go there, before it is given others that it would have to build. Nothing
 * goes that evenness lets stay.
 *
 * @returns how many standbys were placed.
 *
 * Source: assignors section 3 (Q9), 6.1 (standby pass).
 */
export function handOverCopies(run: Run): number {
  const { dense, totalQuota } = run;
  const { size, procOf, procStart, procFirst, procOver, planned, candStart, candMember } = dense;
  const { floor } = totalQuota;
  countUncontested(dense, 'copies');
  countOver(dense, floor);
  // Where to look for members of a process that are below the floor; they only become fewer.
  procFirst.set(procStart.subarray(0, size.processes));
  const taskCount = gatherOfReturned(dense);
  const tasks = sortFew(dense, taskCount, 'stateful');
  let placed = 0;
  for (let i = taskCount - 1; i >= 0; i--) {
    const task = at(tasks, i);
    const end = candidatesTo(dense, task, 'copies');
    let giver = at(candStart, task);
    while (giver < end && !mustGive(dense, task, at(candMember, giver))) giver++;
    if (giver === end) continue;
    const receiver = findReceiver(dense, task, floor);
    if (receiver === -1) continue;
    const holder = at(candMember, giver);
    planned[holder] = at(planned, holder) - 1;
    procOver[at(procOf, holder)] = at(procOver, at(procOf, holder)) - 1;
    procOver[at(procOf, receiver)] = at(procOver, at(procOf, receiver)) + 1;
    placeStandby(run, task, receiver);
    placed++;
  }
  return placed;
}

/** How many tasks each process has above its share, with the copies that are planned to stay; below zero it lacks some. */
function countOver({ size, count, planned, procOf, procOver }: Dense, floor: number): void {
  procOver.fill(0);
  for (let m = 0; m < size.members; m++) {
    if (at(count, m) >= STALE) continue;
    const process = at(procOf, m);
    procOver[process] = at(procOver, process) + at(count, m) + at(planned, m) - floor;
  }
}

/** Gathers in `few` the tasks all of whose copies are wanted and that lie on the disk of who has come back. */
function gatherOfReturned(dense: Dense): number {
  const { size, base, few } = dense;
  let filled = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, 'stateful')) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (!isOnDiskOfReturned(dense, task)) continue;
      if (isUncontested(dense, task, 'copies')) few[filled++] = task;
    }
  }
  return filled;
}

/** Whether the copy is on a process above its share, and not placed there by now, as racks may have asked for. */
function mustGive(dense: Dense, task: number, member: number): boolean {
  const { count, procOf, procOver } = dense;
  const process = at(procOf, member);
  return at(count, member) < STALE && at(procOver, process) > 0 && !isHolder(dense, task, process);
}

/** A member below the floor of a process that has come back with the task on disk, lacks tasks and holds none of this one. */
function findReceiver(dense: Dense, task: number, floor: number): number {
  const { candStart, candDisk, candMember, procOf, procReturned, procOver } = dense;
  const end = at(candStart, task + 1);
  for (let c = at(candDisk, task); c < end; c++) {
    const member = at(candMember, c);
    const process = at(procOf, member);
    if (!isSet(procReturned, process) || at(procOver, process) >= 0) continue;
    if (!holds(dense, task, process)) return landingOn(dense, member, floor);
  }
  return -1;
}

/** Whether a process runs the task, has a standby of it by now, or a copy from before. */
function holds(dense: Dense, task: number, process: number): boolean {
  if (isHolder(dense, task, process)) return true;
  const { candStart, candDisk, candMember, procOf } = dense;
  for (let c = at(candStart, task); c < at(candDisk, task); c++) {
    if (at(procOf, at(candMember, c)) === process) return true;
  }
  return false;
}

/** Whether a process runs the task or has a standby of it by now. */
function isHolder(dense: Dense, task: number, process: number): boolean {
  const held = listHolders(dense, task);
  for (let i = 0; i < held; i++) if (at(dense.holders, i) === process) return true;
  return false;
}

/** The member, or the first of its process that is below the floor; a process that lacks tasks has one. */
function landingOn(dense: Dense, member: number, floor: number): number {
  const { procOf, procMember, procFirst } = dense;
  if (isBelow(dense, member, floor)) return member;
  const process = at(procOf, member);
  let i = at(procFirst, process);
  while (!isBelow(dense, at(procMember, i), floor)) i++;
  procFirst[process] = i;
  return at(procMember, i);
}

function isBelow({ count, planned }: Dense, member: number, floor: number): boolean {
  return at(count, member) + at(planned, member) < floor;
}
