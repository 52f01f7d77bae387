import {
  bestCandidate,
  CANDIDATE_KINDS,
  type CandidateKind,
  candidateBounds,
  hasCandidates,
  isLessLoaded,
} from './candidates.ts';
import { keepStaleStandbys, listHolders, placeStandby } from './copies.ts';
import { at, isSet } from './dense.ts';
import { handOverCopies } from './hand-over-copies.ts';
import { ManyGroups } from './many-groups.ts';
import { placeRest } from './place-rest.ts';
import { planUncontested, settlePlanned, takeBack } from './place-uncontested.ts';
import { findRackRoom } from './rack-room.ts';
import { NO_HOLDER, NO_NEW_VALUE, pickForDiversity } from './racks.ts';
import { leastLoadedProcesses, type Run } from './run.ts';
import { hasMoved, isFew, isTaskOfKind, orderTasks, sortFew } from './task-order.ts';

/**
 * Gives every stateful task its standbys, after the actives are placed: first what stale members keep, then for the
 * diversity of racks, then on the disks of who has come back, then those of tasks whose active has moved, then where a copy
 * is, then where state is on disk, and the rest to the least loaded process that does not hold the task. Copies have the
 * first say in all tasks, so that no state on disk takes the place of one.
 *
 * Source: assignors 2.1, 5, 6.1 (standby pass); H3, H5.
 */
export function placeStandbys(run: Run): void {
  const { dense } = run;
  const { size, facts, standbyCount } = dense;
  if (facts.stale > 0) run.lacking -= keepStaleStandbys(run);
  if (size.tagKeys > 0) run.lacking -= placeForRacks(run);
  for (const kind of CANDIDATE_KINDS) {
    if (run.lacking === 0) return;
    const isAny = hasCandidates(dense, kind);
    let open = isAny ? planUncontested(dense, kind) : 0;
    if (kind === 'copies' && (isAny || facts.held > 0)) run.lacking -= placeOfMoved(run);
    if (!isAny) continue;
    open = settlePlanned(run, kind, open);
    run.lacking -= placeWithState(run, kind, open);
    if (run.lacking > 0 && kind === 'copies') dense.fixed.set(standbyCount);
  }
  if (run.lacking > 0) placeRest(run);
}

/**
 * What racks ask for. Whoever held a task before has the first say in all tasks, so that a standby which is well placed
 * does not lose its room to one that comes anew.
 */
function placeForRacks(run: Run): number {
  const { dense, members, totalQuota } = run;
  const { order, size, standbyCount } = dense;
  findRackRoom(dense);
  orderTasks(dense, 'stateful', order);
  const processes = leastLoadedProcesses(run, 'stateful', dense.tagGroup);
  const many = ManyGroups.where(run, (group, scratch) =>
    leastLoadedProcesses(run, 'stateful', group, scratch),
  );
  let placed = 0;
  for (const holders of ['only', 'first'] as const) {
    if (holders === 'only' && dense.facts.held + size.candidates === 0) continue;
    for (let i = run.statefulCount - 1; i >= 0; i--) {
      const task = at(order, i);
      startTask(run, task);
      const before = at(standbyCount, task);
      for (let key = 0; key < size.tagKeys; ) {
        if (at(standbyCount, task) === size.slots) break;
        const held = listHolders(dense, task);
        const { limit } = totalQuota;
        const rackPass = { dense, task, held, limit, members, processes, many };
        const member = pickForDiversity(rackPass, key, holders);
        if (member === NO_HOLDER) break;
        if (member === NO_NEW_VALUE) key++;
        else placeStandby(run, task, member);
      }
      placed += at(standbyCount, task) - before;
    }
  }
  return placed;
}

/**
 * Standbys of tasks whose active has moved, with regard to who ran them: first those that help somebody who has come back,
 * then where the active was, then where copies are. Their choice is smaller than that of others, whose standbys may yet go
 * to whoever took the active; so they come first, whatever was planned for them.
 *
 * @returns how many standbys were placed.
 */
function placeOfMoved(run: Run): number {
  const { dense, totalQuota } = run;
  const { size, few, standbyCount, prevActive, count, procOf, marks } = dense;
  const movedCount = gatherMoved(run);
  for (let i = 0; i < movedCount; i++) takeBack(dense, at(few, i));
  const helpsReturned = dense.facts.copies > 0 && run.returned.any;
  let placed = helpsReturned ? handOverCopies(run, movedCount) : 0;
  let taskCount = 0;
  for (let i = 0; i < movedCount; i++) {
    const task = at(few, i);
    if (at(standbyCount, task) < size.slots) few[taskCount++] = task;
  }
  const tasks = sortFew(dense, taskCount, 'stateful');
  for (let i = taskCount - 1; i >= 0; i--) {
    const task = at(tasks, i);
    const before = at(standbyCount, task);
    startTask(run, task);
    const previous = at(prevActive, task);
    if (at(count, previous) < totalQuota.limit && at(marks, at(procOf, previous)) !== task) {
      placeStandby(run, task, previous);
    }
    placeOnCandidates(run, task, 'copies');
    placed += at(standbyCount, task) - before;
  }
  return placed;
}

/** Gathers in `few`, ascending, the tasks whose active has moved and that may yet get standbys; returns how many. */
function gatherMoved({ dense, loose: looseCount }: Run): number {
  const { size, base, stateful, fixed, loose, few } = dense;
  const { slots } = size;
  let filled = 0;
  // They are ascending since actives were listed.
  for (let i = 0; isFew(dense, looseCount) && i < looseCount; i++) {
    const task = loose[i] as number;
    if (!hasMoved(dense, task) || !isTaskOfKind(dense, task, 'stateful')) continue;
    if ((fixed[task] as number) < slots) few[filled++] = task;
  }
  if (isFew(dense, looseCount)) return filled;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (hasMoved(dense, task) && (fixed[task] as number) < slots) few[filled++] = task;
    }
  }
  return filled;
}

function placeOnCandidates(run: Run, task: number, kind: CandidateKind): void {
  const { standbyCount, size } = run.dense;
  while (at(standbyCount, task) < size.slots) {
    const member = bestCandidate(run, task, kind, run.totalQuota);
    if (member === -1) return;
    placeStandby(run, task, member);
  }
}

/**
 * Where state of a kind is, in descending (partition, subtopology) order: as {@link placeOnCandidates} does, for many.
 *
 * @param taskCount how many tasks of `order` are meant.
 * @returns how many standbys were placed.
 */
function placeWithState(run: Run, kind: CandidateKind, taskCount: number): number {
  const { dense, members, totalQuota } = run;
  const { size, active, procOf, procCount, count, marks, standby, standbyCount } = dense;
  const { candMember, candCaughtUp } = dense;
  const { start, stop } = candidateBounds(dense, kind);
  const { slots } = size;
  dense.few.set(dense.order.subarray(0, taskCount));
  const tasks = sortFew(dense, taskCount, 'stateful');
  let placed = 0;
  for (let i = taskCount - 1; i >= 0; i--) {
    const task = tasks[i] as number;
    const first = task * slots;
    const from = start[task] as number;
    const end = stop[task] as number;
    let copies = standbyCount[task] as number;
    const owner = active[task] as number;
    if (owner !== -1) marks[procOf[owner] as number] = task;
    for (let j = 0; j < copies; j++) marks[procOf[standby[first + j] as number] as number] = task;
    while (copies < slots) {
      const limit = totalQuota.limit;
      let best = -1;
      let bestMember = -1;
      let bestHas = 0;
      for (let c = from; c < end; c++) {
        let member = candMember[c] as number;
        const process = procOf[member] as number;
        if (marks[process] === task) continue;
        let has = count[member] as number;
        if (has >= limit) {
          member = members.least(process);
          has = count[member] as number;
          if (has >= limit) continue;
        }
        if (best !== -1) {
          if (has >= bestHas) continue;
          if ((candCaughtUp[c] as number) < (candCaughtUp[best] as number)) continue;
          if (!isLessLoaded(dense, process, procOf[bestMember] as number)) continue;
        }
        best = c;
        bestMember = member;
        bestHas = has;
      }
      if (best === -1) break;
      const process = procOf[bestMember] as number;
      standby[first + copies++] = bestMember;
      marks[process] = task;
      procCount[process] = (procCount[process] as number) + 1;
      bestHas += 1;
      count[bestMember] = bestHas;
      if (bestHas === limit) totalQuota.reached(bestHas);
      placed++;
    }
    standbyCount[task] = copies;
  }
  return placed;
}

/** Marks the processes that hold the task so far. */
function startTask({ dense }: Run, task: number): void {
  const { active, procOf, marks, standby, standbyCount, size } = dense;
  const owner = at(active, task);
  if (owner !== -1) marks[at(procOf, owner)] = task;
  const from = task * size.slots;
  const to = from + at(standbyCount, task);
  for (let i = from; i < to; i++) marks[at(procOf, at(standby, i))] = task;
}
