import {
  bestCandidate,
  CANDIDATE_KINDS,
  type CandidateKind,
  hasCandidates,
  type Landing,
} from './candidates.ts';
import { at, type Dense } from './dense.ts';
import { handOver } from './hand-over.ts';
import { keepActives } from './keep-actives.ts';
import type { LeastLoaded } from './least-loaded.ts';
import { listActives, listStandbys } from './member-lists.ts';
import {
  COUNT_MASK,
  leastLoadedProcesses,
  placeActive,
  quotaFor,
  type Run,
  startRun,
} from './run.ts';
import { placeStandbys } from './standbys.ts';
import { isOfKind, sortFew, type TaskKind } from './task-order.ts';

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
  const run = startRun(dense);
  handOver(run);
  for (const kind of ['stateful', 'stateless'] as const) {
    keepActives(run, kind);
    placeWhereStateIs(run, kind);
    dealActives(run, kind);
  }
  listActives(dense, dense.count, COUNT_MASK);
  if (dense.size.slots > 0) placeStandbys(run);
  listStandbys(dense, dense.count, COUNT_MASK);
}

/** Who has the state comes first, in all tasks; only then siblings take what did not fit. */
const LANDINGS: readonly Landing[] = ['member', 'sibling'];

/** 2. Where its state is, in (partition, subtopology) order. */
function placeWhereStateIs(run: Run, kind: TaskKind): void {
  const { dense } = run;
  const { few, active, procOf, procCount, procStateless } = dense;
  const quota = quotaFor(run, kind);
  for (const candidates of CANDIDATE_KINDS) {
    // State on disk is that of stateful tasks.
    if (!hasCandidates(dense, candidates)) continue;
    if (candidates === 'disk' && kind === 'stateless') continue;
    const taskCount = gatherUnplaced(dense, kind, candidates);
    sortFew(dense, taskCount, kind);
    for (const landing of LANDINGS) {
      if (landing === 'sibling' && dense.size.members === dense.size.processes) break;
      for (let i = 0; i < taskCount; i++) {
        const task = at(few, i);
        if (at(active, task) !== -1) continue;
        const member = bestCandidate(run, task, candidates, landing, quota);
        if (member === -1) continue;
        placeActive(run, task, member, kind);
        const process = at(procOf, member);
        procCount[process] = at(procCount, process) + 1;
        if (kind === 'stateless') procStateless[process] = at(procStateless, process) + 1;
      }
    }
  }
}

/** Gathers in `few` the tasks without an owner that have candidates; returns how many. */
function gatherUnplaced(dense: Dense, kind: TaskKind, candidates: CandidateKind): number {
  const { size, base, active, few, candStart, candDisk } = dense;
  const ofCopies = candidates === 'copies';
  let filled = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (at(active, task) !== -1) continue;
      const disk = at(candDisk, task);
      if (ofCopies ? at(candStart, task) < disk : disk < at(candStart, task + 1)) {
        few[filled++] = task;
      }
    }
  }
  return filled;
}

/** 3. The rest, in (subtopology, partition) order, so that neighbours land on different processes. */
function dealActives(run: Run, kind: TaskKind): void {
  const { dense, members } = run;
  const { size, base, active, count, procCount, procStateless } = dense;
  const quota = quotaFor(run, kind);
  let processes: LeastLoaded | undefined;
  let round: Int32Array = NOBODY;
  let next = 0;
  let end = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (at(active, task) !== -1) continue;
      let process: number;
      let member: number;
      for (;;) {
        if (next === end) {
          processes ??= leastLoadedProcesses(run, kind);
          // Nobody is fresh.
          if (!processes.nextRound(0)) return;
          round = processes.round;
          next = processes.roundFrom;
          end = processes.roundTo;
        }
        process = at(round, next++);
        member = members.least(process);
        if (at(count, member) < quota.limit) break;
        // Room never comes back: counts rise, limits fall.
        processes?.drop(process);
      }
      placeActive(run, task, member, kind);
      procCount[process] = at(procCount, process) + 1;
      if (kind === 'stateless') procStateless[process] = at(procStateless, process) + 1;
    }
  }
}

const NOBODY: Int32Array = new Int32Array(0);
