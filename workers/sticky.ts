import { CANDIDATE_KINDS, hasCandidates, placeActivesOnCandidates } from './candidates.ts';
import { at, type Dense } from './dense.ts';
import { keepActives } from './keep-actives.ts';
import type { LeastLoaded } from './least-loaded.ts';
import { listActives, listMovedActives, listStandbys } from './member-lists.ts';
import {
  COUNT_MASK,
  leastLoadedProcesses,
  noteCount,
  quotaFor,
  type Run,
  startRun,
  watchedCount,
} from './run.ts';
import { placeStandbys } from './standbys.ts';
import { dropPlaced, isFew, type TaskKind } from './task-order.ts';

/**
 * The sticky assignor: tasks stay where they are as long as everybody gets an even share, go where their state is
 * next, and only then to whoever has least to do. Fills the result arrays of `dense`; what stood in them, and in the
 * scratch, does not matter. The same problem gives the same bytes.
 *
 * In step 3 only processes with a member below the quota are asked. Together with the shrinking quotas that makes the
 * counts per member as even as they can be, stateful and all, and costs no move: those tasks have no holder to stay with.
 *
 * Source: assignors 6.1, 2.1, section 3 (second weakness).
 */
export function assignSticky(dense: Dense): void {
  const run = startRun(dense, { whereHeld: true });
  for (const kind of ['stateful', 'stateless'] as const) {
    let restLength = keepActives(run, kind);
    restLength = placeWhereStateIs(run, kind, restLength);
    dealActives(run, kind, restLength);
  }
  if (isFew(dense, run.loose)) listMovedActives(run);
  else listActives(dense, dense.count, COUNT_MASK);
  if (dense.size.slots > 0) placeStandbys(run);
  listStandbys(dense, dense.count, COUNT_MASK);
}

/** 2. Where its state is, in (partition, subtopology) order. Returns how many tasks are left in `rest`. */
function placeWhereStateIs(run: Run, kind: TaskKind, restLength: number): number {
  const { dense } = run;
  let length = restLength;
  for (const candidates of CANDIDATE_KINDS) {
    // State on disk is that of stateful tasks.
    if (length === 0 || (candidates === 'disk' && kind === 'stateless')) continue;
    if (!hasCandidates(dense, candidates)) continue;
    placeActivesOnCandidates(run, kind, candidates, length);
    length = dropPlaced(dense, length);
  }
  return length;
}

/** 3. The rest, in (subtopology, partition) order, so that neighbours land on different processes. */
function dealActives(run: Run, kind: TaskKind, restLength: number): void {
  if (restLength === 0) return;
  const processes = leastLoadedProcesses(run, kind);
  // Without a round nobody is fresh.
  for (let next = 0; next < restLength && processes.nextRound(0); ) {
    const rounds = countFreeRounds(run, kind, processes, restLength - next);
    next =
      rounds > 1
        ? dealRounds(run, kind, processes, { next, rounds })
        : dealRound(run, kind, processes, { next, restLength });
  }
}

/** How many rounds can be dealt before a member comes to a limit, or the tasks end. */
function countFreeRounds(
  run: Run,
  kind: TaskKind,
  { round, roundFrom, roundTo, rounds }: LeastLoaded,
  taskCount: number,
): number {
  const watched = watchedCount(run, kind);
  let free = Math.min(rounds, Math.floor(taskCount / (roundTo - roundFrom)));
  for (let i = roundFrom; i < roundTo && free > 1; i++) {
    free = Math.min(free, run.members.roomBelow(at(round, i), watched));
  }
  return free;
}

/** Deals whole rounds, to one process after the other. Returns which task of `rest` is next. */
function dealRounds(
  { dense, members }: Run,
  kind: TaskKind,
  processes: LeastLoaded,
  { next, rounds }: { readonly next: number; readonly rounds: number },
): number {
  const { rest, active, count, procCount, procStateless } = dense;
  const { round, roundFrom, roundTo } = processes;
  const width = roundTo - roundFrom;
  const end = next + rounds * width;
  for (let i = 0; i < width; i++) {
    const process = at(round, roundFrom + i);
    if (members.areLone) {
      const member = members.least(process);
      for (let r = next + i; r < end; r += width) active[rest[r] as number] = member;
      count[member] = at(count, member) + rounds;
    } else {
      members.deal(process, { list: rest, from: next + i, step: width, to: end }, active);
    }
    procCount[process] = at(procCount, process) + rounds;
    if (kind === 'stateless') procStateless[process] = at(procStateless, process) + rounds;
  }
  processes.tookRounds(0, rounds);
  return end;
}

/** Deals one round, with an eye on the quotas. Returns which task of `rest` is next. */
function dealRound(
  run: Run,
  kind: TaskKind,
  processes: LeastLoaded,
  { next, restLength }: { readonly next: number; readonly restLength: number },
): number {
  const { dense, members } = run;
  const { rest, active, count, procCount, procStateless } = dense;
  const { round, roundTo } = processes;
  const quota = quotaFor(run, kind);
  let watched = watchedCount(run, kind);
  let task = next;
  for (let i = processes.roundFrom; i < roundTo && task < restLength; i++) {
    const process = round[i] as number;
    const member = members.least(process);
    const has = (count[member] as number) + 1;
    if (has > quota.limit) {
      // Room never comes back: counts rise, limits fall.
      processes.drop(process);
      continue;
    }
    active[rest[task++] as number] = member;
    count[member] = has;
    procCount[process] = (procCount[process] as number) + 1;
    if (kind === 'stateless') procStateless[process] = (procStateless[process] as number) + 1;
    if (has < watched) continue;
    noteCount(run, has, kind);
    watched = watchedCount(run, kind);
  }
  return task;
}
