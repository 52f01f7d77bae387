import { CANDIDATE_KINDS, candidatesFrom, candidatesTo, hasCandidates } from './candidates.ts';
import { at, type Dense } from './dense.ts';
import { fanOutActives } from './fan-out.ts';
import { listActives, listStandbys } from './member-lists.ts';
import { findReturnedProcesses } from './returned.ts';
import { COUNT_MASK, leastLoadedBy, type Run, startRun } from './run.ts';
import { dealShares, freshShares, type Shares } from './shares.ts';
import { Spread } from './spread.ts';
import { placeStandbys } from './standbys.ts';
import { forEachTask, isOfKind, sortFew, type TaskKind } from './task-order.ts';

/**
 * The highly available assignor: as even as `balanced`, by kind, in all and by subtopology, and nearly as sticky as
 * `sticky`. Each process first gets a number of tasks that is its share; then tasks stay with it, or come to it because
 * their state is there, as far as that number and the spread of their subtopology allow; the rest is dealt. Inside a
 * process tasks stay with their member. One pass: nothing is moved twice.
 *
 * Standbys are placed as by `sticky`. Fills the result arrays of `dense`, whatever stood in them and in the scratch.
 *
 * Source: assignors 6.3, 2.1.
 */
export function assignHighlyAvailable(dense: Dense): void {
  const run = startRun(dense);
  const shares = freshShares(dense);
  dense.taskProc.fill(-1);
  const placed = new Int32Array(dense.size.processes);
  for (const kind of ['stateful', 'stateless'] as const) {
    placeOnProcesses({ run, kind, shares, spread: new Spread(dense, shares) }, placed);
    fanOutActives(run, kind, { stays: true, even: true });
  }
  for (let m = 0; m < dense.size.members; m++) run.totalQuota.reached(at(dense.count, m));
  listActives(dense, dense.count, COUNT_MASK);
  if (dense.size.slots > 0) placeStandbys(run);
  listStandbys(dense, dense.count, COUNT_MASK);
}

type Placing = {
  readonly run: Run;
  readonly kind: TaskKind;
  readonly shares: Shares;
  readonly spread: Spread;
};

/** How many tasks a process may yet take; below zero it has to give some up. */
type Room = Int32Array;

/** @param placed the actives of each process so far, without those that stale members keep; goes on. */
function placeOnProcesses(placing: Placing, placed: Int32Array): void {
  const { run, kind, shares } = placing;
  const { dense } = run;
  if (shares.memberCount === 0) return;
  let taskCount = placed.reduce((sum, each) => sum + each, 0);
  const held = placed.slice();
  forEachTask(dense, kind, (task) => {
    if (at(dense.active, task) !== -1) return;
    taskCount++;
    const holder = at(dense.prevActive, task);
    if (holder === -1) return;
    const process = at(dense.procOf, holder);
    held[process] = at(held, process) + 1;
  });
  if (kind === 'stateful') findReturnedProcesses(run, held);
  const target = dealShares(shares, taskCount, { least: placed, held });
  const room: Room = target.map((each, p) => each - at(placed, p));
  const lacks = target.map((each, p) => Math.max(0, each - at(held, p)));
  keepOnHolders(placing, room, lacks);
  moveToState(placing, room);
  giveUp(placing, room);
  deal(placing, target, room);
  forEachTask(dense, kind, (task) => {
    const process = at(dense.taskProc, task);
    if (process === -1) return;
    placed[process] = at(placed, process) + 1;
    dense.procCount[process] = at(dense.procCount, process) + 1;
    if (kind === 'stateless') {
      dense.procStateless[process] = at(dense.procStateless, process) + 1;
    }
  });
}

/**
 * Tasks stay where they are, as far as their subtopology stays even; a process may end with more than its share. Those
 * come last whose state lies also with a process that will get tasks: of what has to leave, they are the best to go.
 *
 * @param lacks how many tasks a process will get from others.
 */
function keepOnHolders(
  { run, kind, shares, spread }: Placing,
  room: Room,
  lacks: Int32Array,
): void {
  const { dense } = run;
  const { size, facts, base, active, prevActive, procOf, taskProc } = dense;
  if (facts.held === 0) return;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    spread.start(s);
    for (const isWanted of size.candidates > 0 ? [false, true] : [false]) {
      for (let task = at(base, s); task < at(base, s + 1); task++) {
        const holder = at(prevActive, task);
        if (holder === -1 || at(active, task) !== -1) continue;
        const process = at(procOf, holder);
        if (at(shares.members, process) === 0 || !spread.hasRoom(process)) continue;
        if (hasStateWith(dense, task, lacks) !== isWanted) continue;
        spread.add(process);
        taskProc[task] = process;
        room[process] = at(room, process) - 1;
      }
    }
  }
}

/** Whether the state of a task lies with a process that will get tasks, as a copy or on disk. */
function hasStateWith(dense: Dense, task: number, lacks: Int32Array): boolean {
  const { candStart, candMember, procOf } = dense;
  for (let c = at(candStart, task); c < at(candStart, task + 1); c++) {
    if (at(lacks, at(procOf, at(candMember, c))) > 0) return true;
  }
  return false;
}

/** Tasks that are nowhere, or on a process above its share, go to processes below it that have their state. */
function moveToState({ run, kind, spread }: Placing, room: Room): void {
  const { dense } = run;
  const { size, base, active, candMember, procOf, taskProc } = dense;
  for (const candidates of CANDIDATE_KINDS) {
    if (!hasCandidates(dense, candidates)) continue;
    for (let s = 0; s < size.subtopologies; s++) {
      if (!isOfKind(dense, s, kind)) continue;
      spread.start(s);
      for (let task = at(base, s); task < at(base, s + 1); task++) {
        const from = at(taskProc, task);
        if (at(active, task) !== -1 || (from !== -1 && at(room, from) >= 0)) continue;
        const end = candidatesTo(dense, task, candidates);
        for (let c = candidatesFrom(dense, task, candidates); c < end; c++) {
          const to = at(procOf, at(candMember, c));
          if (at(room, to) <= 0 || !spread.hasRoom(to)) continue;
          if (from !== -1) {
            spread.remove(from);
            room[from] = at(room, from) + 1;
          }
          spread.add(to);
          taskProc[task] = to;
          room[to] = at(room, to) - 1;
          break;
        }
      }
    }
  }
}

/** Processes above their share give up the last of their tasks, in (partition, subtopology) order. */
function giveUp({ run, kind }: Placing, room: Room): void {
  const { dense } = run;
  const { few, taskProc } = dense;
  let length = 0;
  forEachTask(dense, kind, (task) => {
    const process = at(taskProc, task);
    if (process !== -1 && at(room, process) < 0) few[length++] = task;
  });
  const tasks = sortFew(dense, length, kind);
  for (let i = length - 1; i >= 0; i--) {
    const task = at(tasks, i);
    const process = at(taskProc, task);
    if (at(room, process) >= 0) continue;
    taskProc[task] = -1;
    room[process] = at(room, process) + 1;
  }
}

/**
 * What is left of a subtopology goes to processes that have room: first to those with less than their whole share of it,
 * then to the least loaded that keeps it even, else to whoever makes it the least uneven.
 */
function deal({ run, kind, spread }: Placing, target: Int32Array, room: Room): void {
  const { dense } = run;
  const { size, base, active, taskProc, marks, procActive } = dense;
  for (let p = 0; p < size.processes; p++) procActive[p] = at(target, p) - at(room, p);
  const processes = leastLoadedBy(run, procActive);
  for (let p = 0; p < size.processes; p++) if (at(room, p) <= 0) processes.drop(p);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    // A mark of its own, which no task has.
    const uneven = size.tasks + s;
    let isStarted = false;
    let lacking = 0;
    for (let task = at(base, s); task < at(base, s + 1); task++) {
      if (at(active, task) !== -1 || at(taskProc, task) !== -1) continue;
      if (!isStarted) spread.start(s);
      isStarted = true;
      while (lacking < size.processes && !(at(room, lacking) > 0 && spread.isBelow(lacking))) {
        lacking++;
      }
      let process = lacking < size.processes ? lacking : processes.firstUnmarked(uneven);
      while (process !== -1 && !spread.hasRoom(process)) {
        marks[process] = uneven;
        process = processes.firstUnmarked(uneven);
      }
      if (process === -1) process = spread.leastUneven(room);
      taskProc[task] = process;
      spread.add(process);
      room[process] = at(room, process) - 1;
      procActive[process] = at(procActive, process) + 1;
      if (at(room, process) === 0) processes.drop(process);
    }
  }
}
