import { at, CANDIDATE, type Dense, isSet } from './dense.ts';
import type { Run } from './run.ts';
import { forEachTask } from './task-order.ts';

/** What stands in `dense.standby` for a copy of which only the process is chosen yet; members are 0 and above. */
export function onProcess(process: number): number {
  return -2 - process;
}

/** The process that {@link onProcess} was given, or -1 when a place is empty or has its member. */
export function processOfPlace(place: number): number {
  return place < -1 ? -2 - place : -1;
}

/** Lists the processes that hold the task so far in `holders`; returns how many they are. */
export function listHolders(dense: Dense, task: number): number {
  const { size, active, procOf, holders, standby, standbyCount } = dense;
  let held = 0;
  const owner = at(active, task);
  if (owner !== -1) holders[held++] = at(procOf, owner);
  const from = task * size.slots;
  for (let i = from; i < from + at(standbyCount, task); i++) {
    const place = at(standby, i);
    holders[held++] = place < -1 ? processOfPlace(place) : at(procOf, place);
  }
  return held;
}

/** Marks those processes with the task. */
export function markHolders(dense: Dense, task: number): void {
  const held = listHolders(dense, task);
  for (let i = 0; i < held; i++) dense.marks[at(dense.holders, i)] = task;
}

/**
 * Lets stale members keep the standbys that they hold.
 *
 * @returns how many they are.
 *
 * Source: assignors 2.1.
 */
export function keepStaleStandbys(run: Run): number {
  const { dense } = run;
  const { size, candStart, candDisk, candMember, candRole, frozen, procOf, marks } = dense;
  let kept = 0;
  forEachTask(dense, 'stateful', (task) => {
    markHolders(dense, task);
    for (let c = at(candStart, task); c < at(candDisk, task); c++) {
      if (at(dense.standbyCount, task) >= size.slots) return;
      const member = at(candMember, c);
      if (candRole[c] !== CANDIDATE.standby || !isSet(frozen, member)) continue;
      if (at(marks, at(procOf, member)) === task) continue;
      placeStandby(run, task, member);
      run.totalQuota.taskGone();
      kept++;
    }
  });
  return kept;
}

/**
 * Puts a copy on a member, on its account and that of its process. Standbys that are only written down stay behind those
 * that are on an account.
 */
export function placeStandby(run: Run, task: number, member: number): void {
  const { size, standby, standbyCount, fixed, procOf, procCount, count, marks } = run.dense;
  const process = at(procOf, member);
  const placed = at(standbyCount, task);
  const place = task * size.slots + at(fixed, task);
  for (let i = task * size.slots + placed; i > place; i--) standby[i] = at(standby, i - 1);
  standby[place] = member;
  standbyCount[task] = placed + 1;
  fixed[task] = at(fixed, task) + 1;
  marks[process] = task;
  procCount[process] = at(procCount, process) + 1;
  const has = at(count, member) + 1;
  count[member] = has;
  run.totalQuota.reached(has);
}
