import { type Dense, isSet } from './dense.ts';
import { handOver } from './hand-over.ts';
import type { Quota } from './quota.ts';
import { noteCount, quotaFor, type Run, watchedCount } from './run.ts';
import {
  areFewListed,
  isFew,
  isTaskOfKind,
  listUnplaced,
  orderTasks,
  sortFew,
  type TaskKind,
} from './task-order.ts';

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
  const { size, facts, rest, loose } = dense;
  planHeld(dense, kind);
  let isAnyAbove = facts.held > 0 && keepSure(run, kind);
  if (kind === 'stateful' && handOver(run)) isAnyAbove = keepSure(run, kind);
  let restLength = isAnyAbove ? keepWithinQuota(run, kind) : 0;
  const wereAllHeld = facts.held === size.tasks && facts.stale === 0;
  if (wereAllHeld && isFew(dense, restLength)) rest.subarray(0, restLength).sort();
  else restLength = listUnplaced(dense, kind);
  if (facts.held > 0) {
    loose.set(rest.subarray(0, restLength), run.loose);
    run.loose += restLength;
  }
  return restLength;
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
  const sure = sureShare(run.dense, quotaFor(run, kind));
  let watched = watchedCount(run, kind);
  let isAnyAbove = false;
  for (let m = 0; m < planned.length; m++) {
    const plan = Math.abs(planned[m] as number);
    if (plan === 0) continue;
    const has = (count[m] as number) + plan;
    if (has > sure) {
      planned[m] = -plan;
      isAnyAbove = true;
      continue;
    }
    planned[m] = 0;
    count[m] = has;
    const process = procOf[m] as number;
    procCount[process] = (procCount[process] as number) + plan;
    if (kind === 'stateless') procStateless[process] = (procStateless[process] as number) + plan;
    if (has < watched) continue;
    noteCount(run, has, kind);
    watched = watchedCount(run, kind);
  }
  return isAnyAbove;
}

/** Up to how many tasks members are sure to get whatever is planned for them, negated or not. */
export function sureShare({ count, planned }: Dense, { floor, overFloor }: Quota): number {
  let above = 0;
  let most = 0;
  for (let m = 0; m < planned.length; m++) {
    const plan = Math.abs(planned[m] as number);
    const wants = (count[m] as number) + plan;
    if (wants <= floor || plan === 0) continue;
    above++;
    if (wants > most) most = wants;
  }
  return above <= overFloor && most <= floor + 1 ? floor + 1 : floor;
}

/**
 * Takes away from members that have too many what the quota does not allow.
 *
 * @returns how many tasks that is; `rest` lists them, in no order.
 */
function keepWithinQuota(run: Run, kind: TaskKind): number {
  const { dense } = run;
  const { planned, prevActive, active, count, procOf, procCount, procStateless, rest } = dense;
  const { tasks, taskCount } = orderHeldAbove(dense, kind);
  const quota = quotaFor(run, kind);
  let watched = watchedCount(run, kind);
  let length = 0;
  for (let i = 0; i < taskCount; i++) {
    const task = tasks[i] as number;
    const member = prevActive[task] as number;
    if (member === -1 || (planned[member] as number) >= 0 || active[task] !== member) continue;
    const has = (count[member] as number) + 1;
    if (has > quota.limit) {
      active[task] = -1;
      rest[length++] = task;
      continue;
    }
    count[member] = has;
    const process = procOf[member] as number;
    procCount[process] = (procCount[process] as number) + 1;
    if (kind === 'stateless') procStateless[process] = (procStateless[process] as number) + 1;
    if (has < watched) continue;
    noteCount(run, has, kind);
    watched = watchedCount(run, kind);
  }
  return length;
}

/** The tasks that members with too many hold, in (partition, subtopology) order, and with them others where they are many. */
function orderHeldAbove(
  dense: Dense,
  kind: TaskKind,
): { readonly tasks: Int32Array; readonly taskCount: number } {
  const { planned, heldStart, heldTask, few, fewSorted } = dense;
  let entries = 0;
  for (let m = 0; m < planned.length; m++) entries -= Math.min(0, planned[m] as number);
  if (!areFewListed(dense, entries)) {
    return { tasks: fewSorted, taskCount: orderTasks(dense, kind, fewSorted) };
  }
  let length = 0;
  for (let m = 0; m < planned.length; m++) {
    if ((planned[m] as number) >= 0) continue;
    const end = heldStart[m + 1] as number;
    for (let i = heldStart[m] as number; i < end; i++) {
      const task = heldTask[i] as number;
      if (isTaskOfKind(dense, task, kind)) few[length++] = task;
    }
  }
  return { tasks: sortFew(dense, length, kind), taskCount: length };
}
