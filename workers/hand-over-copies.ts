import { listHolders, placeStandby } from './copies.ts';
import { at, type Dense, isSet } from './dense.ts';
import { includes } from './includes.ts';
import { findPlanned, strikeOut } from './place-uncontested.ts';
import { gatherOnDiskOfReturned } from './returned.ts';
import { type Run, STALE } from './run.ts';
import { sortFew } from './task-order.ts';

/**
 * Finds standbys for processes that have come back with their disks: each takes, up to its share, the tasks that lie there
 * before it is given others that it would have to build. A copy leaves for it where its process stays even: it has more
 * than its share, or can make up for it with a task whose active has moved, which may as well stay with one of its holders
 * as with another. Those tasks go to whoever is the furthest below its share then.
 *
 * Works on what `planUncontested` has written down of the copies, and changes it.
 *
 * @param gatherMoved lists the tasks whose active has moved in `few`, and says how many.
 * @returns how many standbys were placed.
 *
 * Source: assignors section 3 (Q9), 6.1 (standby pass).
 */
export function handOverCopies(run: Run, gatherMoved: (dense: Dense) => number): number {
  const { dense } = run;
  countOver(dense, run.totalQuota.floor);
  countPull(dense, gatherMoved(dense));
  const placed = fillReturned(run);
  return placed + shareOutMoved(run, gatherMoved(dense));
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
  const { size, procOf, procOver, procPull, standbyCount } = dense;
  const taskCount = gatherOnDiskOfReturned(dense);
  const tasks = sortFew(dense, taskCount, 'stateful');
  const canGive = (member: number): boolean => {
    const process = at(procOf, member);
    return at(procOver, process) + at(procPull, process) > 0;
  };
  let placed = 0;
  startLandings(dense);
  for (let i = taskCount - 1; i >= 0; i--) {
    const task = at(tasks, i);
    for (;;) {
      const receiver = findReceiver(dense, task);
      if (receiver === -1) break;
      if (at(standbyCount, task) === size.slots) {
        const giver = findPlanned(dense, task, canGive);
        if (giver === -1) break;
        strikeOut(dense, task, giver);
        changeOver(dense, giver, -1);
      }
      changeOver(dense, receiver, 1);
      placeStandby(run, task, landingOn(dense, receiver, totalQuota.floor));
      placed++;
    }
  }
  return placed;
}

/** A member of a process that has come back with the task on disk, lacks tasks and holds none of this one; or -1. */
function findReceiver(dense: Dense, task: number): number {
  const { candStart, candDisk, candMember, holders, procOf, procReturned, procOver } = dense;
  const held = listHolders(dense, task);
  const end = at(candStart, task + 1);
  for (let c = at(candDisk, task); c < end; c++) {
    const process = at(procOf, at(candMember, c));
    if (!isSet(procReturned, process) || at(procOver, process) >= 0) continue;
    if (!includes(holders, held, process)) return at(candMember, c);
  }
  return -1;
}

/** Gives the moved tasks of `few` to their holders below the share, the one that is the furthest below first. */
function shareOutMoved(run: Run, taskCount: number): number {
  const { dense, totalQuota } = run;
  const { size, standbyCount } = dense;
  const tasks = sortFew(dense, taskCount, 'stateful');
  let placed = 0;
  startLandings(dense);
  for (let i = taskCount - 1; i >= 0; i--) {
    const task = at(tasks, i);
    while (at(standbyCount, task) < size.slots) {
      const holder = furthestBelow(dense, task);
      if (holder === -1) break;
      changeOver(dense, holder, 1);
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
  let best = -1;
  let least = 0;
  const look = (member: number): void => {
    const process = at(procOf, member);
    if (at(procOver, process) >= least || includes(holders, held, process)) return;
    best = member;
    least = at(procOver, process);
  };
  look(at(prevActive, task));
  for (let c = at(candStart, task); c < at(candDisk, task); c++) look(at(candMember, c));
  return best;
}

function changeOver({ procOf, procOver }: Dense, member: number, by: 1 | -1): void {
  const process = at(procOf, member);
  procOver[process] = at(procOver, process) + by;
}

/** From where on a member of each process is looked for that is below the share; as long as nobody loses a task. */
function startLandings({ size, procFirst, procStart }: Dense): void {
  procFirst.set(procStart.subarray(0, size.processes));
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
