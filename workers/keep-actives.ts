import { at, type Dense, isSet } from './dense.ts';
import { handOver } from './hand-over.ts';
import type { Quota } from './quota.ts';
import { noteCount, quotaFor, type Run, watchedCount } from './run.ts';
import { isOfKind, isTaskOfKind, listUnplaced, sortFew, type TaskKind } from './task-order.ts';

/**
 * Puts every task where it is held, but for those of stale members, of which some are placed already. What has to leave is
 * taken away by {@link keepActives}: that is little, as a rule.
 */
export function placeWhereHeld({ active, prevActive, frozen, facts }: Dense): void {
  if (facts.stale === 0) {
    active.set(prevActive);
    return;
  }
  for (let task = 0; task < active.length; task++) {
    const holder = at(prevActive, task);
    if (holder !== -1 && !isSet(frozen, holder)) active[task] = holder;
  }
}

/**
 * Step 1 of `sticky`, for tasks that are placed where they are held: whoever has no more than everybody is sure of keeps all
 * of it. The others hand over what somebody below the share has the state of, and keep the rest in (partition, subtopology)
 * order as far as the quota goes.
 *
 * @returns how many tasks of the kind have no owner then; `rest` lists them, ascending.
 *
 * Source: assignors 6.1.
 */
export function keepActives(run: Run, kind: TaskKind): number {
  const { dense } = run;
  if (dense.facts.held > 0) planHeld(dense, kind);
  else dense.planned.fill(0);
  let isAnyAbove = keepSure(run, kind);
  if (kind === 'stateful' && handOver(run)) isAnyAbove = keepSure(run, kind);
  if (isAnyAbove) keepWithinQuota(run, kind);
  return listUnplaced(dense, kind);
}

/** Plans that members keep what they have; stale ones have kept what they may. */
function planHeld(
  { planned, frozen, facts, heldStart, heldStateful }: Dense,
  kind: TaskKind,
): void {
  if (kind === 'stateful') planned.set(heldStateful);
  for (let m = 0; kind === 'stateless' && m < planned.length; m++) {
    const held = (heldStart[m + 1] as number) - (heldStart[m] as number);
    planned[m] = held - (heldStateful[m] as number);
  }
  for (let m = 0; facts.stale > 0 && m < planned.length; m++) if (isSet(frozen, m)) planned[m] = 0;
}

/**
 * Puts what is planned for a member on its account if it is sure to keep all of it, and plans no more for it.
 *
 * @returns whether there are others; what they have is negative in `planned`.
 */
function keepSure(run: Run, kind: TaskKind): boolean {
  const { planned, count, procOf, procCount, procStateless } = run.dense;
  const isAnyAbove = markAboveShare(run.dense, quotaFor(run, kind));
  let watched = watchedCount(run, kind);
  for (let m = 0; m < planned.length; m++) {
    const kept = planned[m] as number;
    if (kept <= 0) continue;
    planned[m] = 0;
    const has = (count[m] as number) + kept;
    count[m] = has;
    const process = procOf[m] as number;
    procCount[process] = (procCount[process] as number) + kept;
    if (kind === 'stateless') procStateless[process] = (procStateless[process] as number) + kept;
    if (has < watched) continue;
    noteCount(run, has, kind);
    watched = watchedCount(run, kind);
  }
  return isAnyAbove;
}

/**
 * Makes `planned` negative for members that may not be able to keep all that is planned for them, and positive for others.
 *
 * @returns whether there are any.
 */
export function markAboveShare({ count, planned }: Dense, quota: Quota): boolean {
  let sure = quota.floor;
  let above = 0;
  let most = 0;
  for (let m = 0; m < planned.length; m++) {
    const plan = Math.abs(planned[m] as number);
    planned[m] = plan;
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

/** Takes away all tasks of members that have too many, and gives back what the quota allows. */
function keepWithinQuota(run: Run, kind: TaskKind): void {
  const { dense } = run;
  const { prevActive, active, count, procOf, procCount, procStateless } = dense;
  const taskCount = takeAway(dense, kind);
  const tasks = sortFew(dense, taskCount, kind);
  const quota = quotaFor(run, kind);
  let watched = watchedCount(run, kind);
  for (let i = 0; i < taskCount; i++) {
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
}

/** Lists in `few` what is taken away; returns how many tasks. Looks at the members' lists, or at all tasks if that is less. */
function takeAway(dense: Dense, kind: TaskKind): number {
  const { size, planned, heldStart, heldTask, active, few } = dense;
  let above = 0;
  for (let m = 0; m < planned.length; m++) if ((planned[m] as number) < 0) above++;
  if (above * LIST_COST > size.members) return takeAwayOfMany(dense, kind);
  let length = 0;
  for (let m = 0; m < planned.length; m++) {
    if ((planned[m] as number) >= 0) continue;
    const end = heldStart[m + 1] as number;
    for (let i = heldStart[m] as number; i < end; i++) {
      const task = heldTask[i] as number;
      if (active[task] !== m || !isTaskOfKind(dense, task, kind)) continue;
      active[task] = -1;
      few[length++] = task;
    }
  }
  return length;
}

/** So many times longer it takes to look at a task of a list than at one after another. */
const LIST_COST = 4;

function takeAwayOfMany(dense: Dense, kind: TaskKind): number {
  const { size, base, planned, prevActive, active, few } = dense;
  let length = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const holder = prevActive[task] as number;
      if (holder === -1 || active[task] !== holder || (planned[holder] as number) >= 0) continue;
      active[task] = -1;
      few[length++] = task;
    }
  }
  return length;
}
