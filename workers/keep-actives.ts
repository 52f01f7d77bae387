import { at, type Dense } from './dense.ts';
import type { Quota } from './quota.ts';
import { noteCount, placeActive, quotaFor, type Run, recountProcesses } from './run.ts';
import { isOfKind, sortFew, type TaskKind } from './task-order.ts';

/**
 * Step 1 of `sticky`: leaves tasks with the members that have them, as far as the quota goes. Only members that have more
 * than everybody is sure of are looked at task by task, in (partition, subtopology) order; the others keep all they have.
 *
 * Source: assignors 6.1.
 */
export function keepActives(run: Run, kind: TaskKind): void {
  const { dense } = run;
  if (dense.facts.held === 0) return;
  const quota = quotaFor(run, kind);
  countHeld(dense, kind);
  markAboveShare(dense, quota);
  const few = keepAllOfOthers(dense, kind);
  for (let m = 0; m < dense.size.members; m++) {
    const kept = at(dense.planned, m);
    if (kept <= 0) continue;
    dense.count[m] = at(dense.count, m) + kept;
    noteCount(run, at(dense.count, m), kind);
  }
  sortFew(dense, few, kind);
  for (let i = 0; i < few; i++) {
    const task = at(dense.few, i);
    const member = at(dense.prevActive, task);
    if (at(dense.count, member) < quota.limit) placeActive(run, task, member, kind);
  }
  recountProcesses(dense, kind);
}

/** Counts into `planned` what each member has of the tasks that are not placed yet. */
export function countHeld(dense: Dense, kind: TaskKind): void {
  const { size, base, active, prevActive, planned } = dense;
  planned.fill(0);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const holder = at(prevActive, task);
      if (holder !== -1 && at(active, task) === -1) planned[holder] = at(planned, holder) + 1;
    }
  }
}

/** Marks in `planned` the members that may not be able to keep all that is planned for them. */
export function markAboveShare({ size, count, planned }: Dense, quota: Quota): void {
  let sure = quota.floor;
  let above = 0;
  let most = 0;
  for (let m = 0; m < size.members; m++) {
    const wants = at(count, m) + at(planned, m);
    if (at(planned, m) === 0 || wants <= sure) continue;
    above++;
    if (wants > most) most = wants;
  }
  if (above <= quota.overFloor && most <= sure + 1) sure += 1;
  for (let m = 0; m < size.members; m++) {
    if (at(count, m) + at(planned, m) > sure) planned[m] = ABOVE_SHARE;
  }
}

export const ABOVE_SHARE = -1;

/** Returns how many tasks of members above the share were gathered in `few`. */
function keepAllOfOthers(dense: Dense, kind: TaskKind): number {
  const { size, base, active, prevActive, planned, few } = dense;
  let filled = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const holder = at(prevActive, task);
      if (holder === -1 || at(active, task) !== -1) continue;
      if (at(planned, holder) === ABOVE_SHARE) few[filled++] = task;
      else active[task] = holder;
    }
  }
  return filled;
}
