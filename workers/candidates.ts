import { at, type Dense } from './dense.ts';
import type { Quota } from './quota.ts';
import { noteCount, placeActive, quotaFor, type Run, watchedCount } from './run.ts';
import { countTasks, orderTasks, sortFew, type TaskKind } from './task-order.ts';

/** Which candidates are meant: who holds a copy now, or who has state on disk and no role. */
export type CandidateKind = 'copies' | 'disk';

/** In the order of worth: whoever holds a copy goes before all who only have it on disk. */
export const CANDIDATE_KINDS: readonly CandidateKind[] = ['copies', 'disk'];

/** Whether a problem has candidates of a kind at all. */
export function hasCandidates({ size, facts }: Dense, kind: CandidateKind): boolean {
  return kind === 'copies' ? facts.copies > 0 : size.candidates > facts.copies;
}

/** Where the candidates of a kind begin in a task's list, and where they end. */
export function candidatesFrom(dense: Dense, task: number, kind: CandidateKind): number {
  return (kind === 'copies' ? dense.candStart[task] : dense.candDisk[task]) as number;
}

export function candidatesTo(dense: Dense, task: number, kind: CandidateKind): number {
  return (kind === 'copies' ? dense.candDisk[task] : dense.candStart[task + 1]) as number;
}

/** As {@link candidatesFrom} and {@link candidatesTo} for many tasks: by task. */
export function candidateBounds(
  { facts, candStart, candDisk }: Dense,
  kind: CandidateKind,
): { readonly start: Int32Array; readonly stop: Int32Array } {
  if (kind === 'copies') return { start: candStart, stop: candDisk };
  // Without copies both begin where the list does, and one array is in the processor's cache.
  return { start: facts.copies === 0 ? candStart : candDisk, stop: candStart.subarray(1) };
}

/** Whether a process has less to do than another, by their members. */
export function isLessLoaded({ procCount, procCapacity }: Dense, a: number, b: number): boolean {
  return at(procCount, a) * at(procCapacity, b) < at(procCount, b) * at(procCapacity, a);
}

/**
 * Walks a task's candidates of a kind and takes the first one with room, replaced by a later one only if that one is as
 * much caught up, and its process load and member count are both smaller. A sibling may take the place of one that has
 * no room: state belongs to a process. Processes marked with the task hold it already and do not count.
 *
 * @returns a member, or -1.
 *
 * Source: assignors 4, 6.1 (step 2), section 3 (Q9).
 */
export function bestCandidate(run: Run, task: number, kind: CandidateKind, quota: Quota): number {
  const { dense, members } = run;
  const { candMember, candCaughtUp, marks, procOf, count } = dense;
  let best = -1;
  let bestProcess = -1;
  let bestCaughtUp = 0;
  const end = candidatesTo(dense, task, kind);
  for (let c = candidatesFrom(dense, task, kind); c < end; c++) {
    let member = candMember[c] as number;
    const process = procOf[member] as number;
    if (marks[process] === task) continue;
    if ((count[member] as number) >= quota.limit) {
      member = members.least(process);
      if (at(count, member) >= quota.limit) continue;
    }
    const caughtUp = candCaughtUp[c] as number;
    if (
      best === -1 ||
      (at(count, member) < at(count, best) &&
        caughtUp >= bestCaughtUp &&
        isLessLoaded(dense, process, bestProcess))
    ) {
      best = member;
      bestProcess = process;
      bestCaughtUp = caughtUp;
    }
  }
  return best;
}

/**
 * Gives tasks of `rest` to their best candidates of a kind, in (partition, subtopology) order. Who has the state comes
 * first, in all tasks; only then siblings take what did not fit.
 *
 * @param restLength how many tasks are in `rest`.
 *
 * Source: assignors 6.1 (step 2).
 */
export function placeActivesOnCandidates(
  run: Run,
  kind: TaskKind,
  candidates: CandidateKind,
  restLength: number,
): void {
  const { dense } = run;
  const { size } = dense;
  // Where most tasks have candidates, who has none is passed over sooner than found.
  const areMany = size.candidates >= restLength && restLength === countTasks(dense, kind);
  if (areMany) orderTasks(dense, kind, dense.few);
  const taskCount = areMany ? restLength : gatherWithState(dense, candidates, restLength);
  const tasks = areMany ? dense.few : sortFew(dense, taskCount, kind);
  const left = placeOnMembers(run, kind, candidates, { tasks, taskCount });
  if (size.members === size.processes) return;
  const quota = quotaFor(run, kind);
  for (let i = 0; i < left; i++) {
    const task = tasks[i] as number;
    const member = bestCandidate(run, task, candidates, quota);
    if (member !== -1) placeActive(run, task, member, kind);
  }
}

/**
 * Gives tasks to the best of those candidates that have room themselves.
 *
 * @param tasks are overwritten.
 * @returns how many have candidates, but none with room, which `tasks` lists in their order then.
 */
function placeOnMembers(
  run: Run,
  kind: TaskKind,
  candidates: CandidateKind,
  { tasks, taskCount }: { readonly tasks: Int32Array; readonly taskCount: number },
): number {
  const { dense } = run;
  const { active, count, procOf, procCount, procStateless, candMember, candCaughtUp } = dense;
  const { start, stop } = candidateBounds(dense, candidates);
  const quota = quotaFor(run, kind);
  let watched = watchedCount(run, kind);
  let left = 0;
  for (let i = 0; i < taskCount; i++) {
    const task = tasks[i] as number;
    const end = stop[task] as number;
    let c = start[task] as number;
    while (c < end && (count[candMember[c] as number] as number) >= quota.limit) c++;
    if (c === end) {
      if ((start[task] as number) < end) tasks[left++] = task;
      continue;
    }
    let member = candMember[c] as number;
    let has = count[member] as number;
    let best = c;
    for (c++; c < end; c++) {
      const other = candMember[c] as number;
      const its = count[other] as number;
      if (its >= has || (candCaughtUp[c] as number) < (candCaughtUp[best] as number)) continue;
      if (!isLessLoaded(dense, procOf[other] as number, procOf[member] as number)) continue;
      member = other;
      has = its;
      best = c;
    }
    has += 1;
    active[task] = member;
    count[member] = has;
    const process = procOf[member] as number;
    procCount[process] = (procCount[process] as number) + 1;
    if (kind === 'stateless') procStateless[process] = (procStateless[process] as number) + 1;
    if (has < watched) continue;
    noteCount(run, has, kind);
    watched = watchedCount(run, kind);
  }
  return left;
}

/** Gathers in `few` the tasks of `rest` that have candidates of a kind; returns how many. */
function gatherWithState(dense: Dense, candidates: CandidateKind, restLength: number): number {
  const { rest, few } = dense;
  const { start, stop } = candidateBounds(dense, candidates);
  let filled = 0;
  for (let i = 0; i < restLength; i++) {
    const task = rest[i] as number;
    if ((start[task] as number) < (stop[task] as number)) few[filled++] = task;
  }
  return filled;
}
