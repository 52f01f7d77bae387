import type { CandidateKind } from './candidates.ts';
import { at, type Dense, isSet } from './dense.ts';
import { markAboveShare } from './keep-actives.ts';
import type { Run } from './run.ts';

/**
 * Places standbys where nobody contests them: with all candidates of a kind that do not hold the task yet, one of each
 * process, if all of them are wanted and have room for whatever is theirs in this way. What stays as it was is so placed
 * without a look at one task after the other in their order.
 *
 * @returns how many tasks have candidates that somebody contests, or too many; `few` lists them, ascending.
 *
 * Source: assignors 6.1 (standby pass).
 */
export function placeUncontested(run: Run, kind: CandidateKind): number {
  const { dense, totalQuota } = run;
  const { planned, count, procOf, procCount } = dense;
  const taskCount = planUncontested(dense, kind);
  if (taskCount === 0) return 0;
  if (markAboveShare(dense, totalQuota)) takeBackContested(dense, taskCount);
  for (let m = 0; m < planned.length; m++) {
    const copies = planned[m] as number;
    if (copies <= 0) continue;
    run.lacking -= copies;
    const has = (count[m] as number) + copies;
    count[m] = has;
    const process = procOf[m] as number;
    procCount[process] = (procCount[process] as number) + copies;
    if (has === totalQuota.limit) totalQuota.reached(has);
  }
  return listContested(dense, taskCount);
}

/**
 * How many tasks each member gets in this way, in `planned`, without placing any.
 *
 * Source: assignors 6.1 (standby pass).
 */
export function countUncontested(dense: Dense, kind: CandidateKind): void {
  const { size, few, fewSorted, standby, standbyCount } = dense;
  const taskCount = planUncontested(dense, kind);
  for (let i = 0; i < taskCount; i++) {
    const task = at(few, i);
    const placed = at(standbyCount, task) - at(fewSorted, i);
    empty(standby, task * size.slots + placed, task * size.slots + at(standbyCount, task));
    standbyCount[task] = placed;
  }
}

/**
 * Places tasks with all their candidates, whoever has room, and counts in `planned` what each member gets. Lists the
 * tasks that have any in `few`, and in `fewSorted` how many standbys of each were placed.
 *
 * @returns how many tasks were listed.
 */
function planUncontested(dense: Dense, kind: CandidateKind): number {
  const { size, base, stateful, standby, standbyCount, planned, few, fewSorted } = dense;
  const { slots } = size;
  let length = 0;
  planned.fill(0);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const placed = standbyCount[task] as number;
      if (placed === slots) continue;
      const open = placeOnOpen(dense, task, kind, placed);
      if (open === 0) continue;
      few[length] = task;
      fewSorted[length++] = Math.max(open, 0);
      if (open === TOO_MANY) continue;
      const end = task * slots + placed + open;
      for (let place = end - open; place < end; place++) {
        const member = standby[place] as number;
        planned[member] = (planned[member] as number) + 1;
      }
      standbyCount[task] = placed + open;
    }
  }
  return length;
}

/**
 * Writes the candidates of a task that do not hold it yet, one of each process, behind its standbys.
 *
 * @param placed how many standbys it has.
 * @returns how many they are, or {@link TOO_MANY} when that is more than are wanted; then none is written.
 */
function placeOnOpen(dense: Dense, task: number, kind: CandidateKind, placed: number): number {
  const { size, active, procOf, standby, candStart, candDisk, candMember } = dense;
  const disk = candDisk[task] as number;
  const from = kind === 'copies' ? (candStart[task] as number) : disk;
  const end = kind === 'copies' ? disk : (candStart[task + 1] as number);
  if (from === end) return 0;
  const first = task * size.slots;
  const owner = active[task] as number;
  const ownerProcess = owner === -1 ? -1 : (procOf[owner] as number);
  let next = first + placed;
  for (let c = from; c < end; c++) {
    const member = candMember[c] as number;
    const process = procOf[member] as number;
    let isHeld = process === ownerProcess;
    for (let i = first; i < next && !isHeld; i++) {
      isHeld = procOf[standby[i] as number] === process;
    }
    if (isHeld) continue;
    if (next === first + size.slots) {
      empty(standby, first + placed, next);
      return TOO_MANY;
    }
    standby[next++] = member;
  }
  return next - first - placed;
}

const TOO_MANY = -1;

/** A loop: `fill` takes longer for so few places than all the rest. */
function empty(standby: Int32Array, from: number, to: number): void {
  for (let place = from; place < to; place++) standby[place] = -1;
}

/** Whether a task has candidates of a kind that do not hold it yet, and all of them are wanted. */
export function isUncontested(dense: Dense, task: number, kind: CandidateKind): boolean {
  const { size, standby, standbyCount } = dense;
  const placed = at(standbyCount, task);
  const open = placeOnOpen(dense, task, kind, placed);
  const from = task * size.slots + placed;
  empty(standby, from, from + Math.max(open, 0));
  return open > 0;
}

/** Takes back the standbys of tasks that a member above its share was to get one of. */
function takeBackContested(dense: Dense, taskCount: number): void {
  const { size, few, fewSorted, standby, standbyCount, planned } = dense;
  const { slots } = size;
  for (let i = 0; i < taskCount; i++) {
    const task = few[i] as number;
    const end = task * slots + (standbyCount[task] as number);
    const from = end - (fewSorted[i] as number);
    let isContested = false;
    for (let place = from; place < end; place++) {
      if ((planned[standby[place] as number] as number) < 0) isContested = true;
    }
    if (!isContested) continue;
    for (let place = from; place < end; place++) {
      const member = standby[place] as number;
      // Of members above their share nothing is placed, whatever is planned.
      const plan = planned[member] as number;
      if (plan > 0) planned[member] = plan - 1;
      standby[place] = -1;
    }
    standbyCount[task] = from - task * slots;
    fewSorted[i] = 0;
  }
}

/** Leaves in `few` the tasks of which none was placed; returns how many. */
function listContested({ few, fewSorted }: Dense, taskCount: number): number {
  let length = 0;
  for (let i = 0; i < taskCount; i++) if (fewSorted[i] === 0) few[length++] = few[i] as number;
  return length;
}
