import { at, type Dense } from './dense.ts';
import type { Quota } from './quota.ts';
import { noteCount, quotaFor, type Run, watchedCount } from './run.ts';
import { dropPlaced, isOfKind, listUnplaced, sortFew, type TaskKind } from './task-order.ts';

/**
 * First half of step 1 of `sticky`: whoever has no more than everybody is sure of keeps all of it. The tasks of the others,
 * and those that nobody has, are listed in `rest`. What a member above that share has is negative in `planned` afterwards.
 *
 * @returns how many tasks are in `rest`.
 *
 * Source: assignors 6.1.
 */
export function keepSureActives(run: Run, kind: TaskKind): number {
  const { dense } = run;
  if (dense.facts.held === 0) return listUnplaced(dense, kind);
  countHeld(dense, kind);
  markAboveShare(dense, quotaFor(run, kind));
  keepCounts(run, kind);
  return keepOrList(dense, kind);
}

/**
 * Second half of step 1: leaves tasks of `rest` with the members that have them, in (partition, subtopology) order, as far
 * as the quota goes.
 *
 * @param restLength how many tasks are in `rest`.
 * @returns how many are left in it.
 *
 * Source: assignors 6.1.
 */
export function keepWithinQuota(run: Run, kind: TaskKind, restLength: number): number {
  const { dense } = run;
  if (dense.facts.held === 0) return restLength;
  const { rest, few, prevActive, active, count, procOf, procCount, procStateless } = dense;
  let length = 0;
  for (let i = 0; i < restLength; i++) {
    const task = rest[i] as number;
    if (prevActive[task] !== -1) few[length++] = task;
  }
  if (length === 0) return restLength;
  const tasks = sortFew(dense, length, kind);
  const quota = quotaFor(run, kind);
  let watched = watchedCount(run, kind);
  for (let i = 0; i < length; i++) {
    const task = tasks[i] as number;
    const member = prevActive[task] as number;
    const has = (count[member] as number) + 1;
    if (has > quota.limit) continue;
    active[task] = member;
    count[member] = has;
    const process = procOf[member] as number;
    procCount[process] = (procCount[process] as number) + 1;
    if (kind === 'stateless') procStateless[process] = (procStateless[process] as number) + 1;
    if (has < watched) continue;
    noteCount(run, has, kind);
    watched = watchedCount(run, kind);
  }
  return dropPlaced(dense, restLength);
}

/** Counts into `planned` what each member has of the tasks that are not placed yet. */
function countHeld(dense: Dense, kind: TaskKind): void {
  const { size, base, active, prevActive, planned } = dense;
  planned.fill(0);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const holder = prevActive[task] as number;
      if (holder === -1 || active[task] !== -1) continue;
      planned[holder] = (planned[holder] as number) + 1;
    }
  }
}

/**
 * Makes `planned` negative for members that may not be able to keep all that is planned for them.
 *
 * @returns whether there are any.
 */
export function markAboveShare({ count, planned }: Dense, quota: Quota): boolean {
  let sure = quota.floor;
  let above = 0;
  let most = 0;
  for (let m = 0; m < planned.length; m++) {
    const plan = planned[m] as number;
    const wants = (count[m] as number) + plan;
    if (wants <= sure || plan === 0) continue;
    above++;
    if (wants > most) most = wants;
  }
  if (above === 0) return false;
  if (above <= quota.overFloor && most <= sure + 1) sure += 1;
  if (most <= sure) return false;
  for (let m = 0; m < planned.length; m++) {
    if (at(count, m) + at(planned, m) > sure) planned[m] = -at(planned, m);
  }
  return true;
}

/** Counts what is planned for members that keep all of it. */
function keepCounts(run: Run, kind: TaskKind): void {
  const { planned, count, procOf, procCount, procStateless } = run.dense;
  let watched = watchedCount(run, kind);
  for (let m = 0; m < planned.length; m++) {
    const kept = planned[m] as number;
    if (kept <= 0) continue;
    const has = (count[m] as number) + kept;
    count[m] = has;
    const process = procOf[m] as number;
    procCount[process] = (procCount[process] as number) + kept;
    if (kind === 'stateless') procStateless[process] = (procStateless[process] as number) + kept;
    if (has < watched) continue;
    noteCount(run, has, kind);
    watched = watchedCount(run, kind);
  }
}

/** Leaves tasks with members that keep all they have, and lists the others. */
function keepOrList(dense: Dense, kind: TaskKind): number {
  const { size, base, active, prevActive, planned, rest } = dense;
  let length = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (active[task] !== -1) continue;
      const holder = prevActive[task] as number;
      if (holder === -1 || (planned[holder] as number) < 0) rest[length++] = task;
      else active[task] = holder;
    }
  }
  return length;
}
