import { at, CANDIDATE, type Dense, isSet } from './dense.ts';
import { includes } from './least-loaded.ts';
import { pickForDiversity, type RackPass } from './racks.ts';
import {
  bestCandidate,
  countTask,
  leastLoadedMembers,
  leastLoadedProcesses,
  type StickyRun,
} from './sticky-run.ts';

/** The state of a pass. */
type StandbyPass = StickyRun & {
  /** The processes that hold the task at hand are the first so many of `dense.holders`. */
  held: number;
};

type RackCandidates = Pick<RackPass, 'members' | 'processes'>;

/**
 * Gives every stateful task its standbys, after the actives are placed: first what stale members keep, then for the
 * diversity of racks, then where the state is, and the rest to the least loaded process that does not hold the task.
 *
 * Source: assignors 2.1, 5, 6.1 (standby pass); H3, H5.
 */
export function placeStandbys(run: StickyRun): void {
  placeWhereStateIs(run);
  placeRest(run);
}

/** Stateful tasks in descending (partition, subtopology) order. */
function placeWhereStateIs(run: StickyRun): void {
  const { dense } = run;
  const { size, order, standbyCount, prevActive, frozen, count, procOf, holders } = dense;
  const racks = size.tagKeys === 0 ? undefined : rackCandidates(dense);
  const pass: StandbyPass = { ...run, held: 0 };
  const anyFrozen = dense.frozen.includes(1);
  for (let i = run.statefulCount - 1; i >= 0; i--) {
    const task = at(order, i);
    startTask(pass, task);
    if (anyFrozen) keepFrozenStandbys(pass, task);
    if (racks !== undefined) placeForDiversity(pass, task, racks);
    while (at(standbyCount, task) < size.slots) {
      const limit = run.totalQuota.limit;
      let member = at(prevActive, task);
      if (
        member === -1 ||
        isSet(frozen, member) ||
        at(count, member) >= limit ||
        includes(holders, pass.held, at(procOf, member))
      ) {
        member = bestCandidate(dense, task, holders, pass.held);
        if (member === -1 || at(count, member) >= limit) break;
      }
      placeStandby(pass, task, member);
    }
  }
}

/** What is missing yet, in descending (subtopology, partition) order; without regard to the quota, as H5 demands. */
function placeRest(run: StickyRun): void {
  const { dense } = run;
  const { size, standbyCount, stateful, subtopologyOf, holders } = dense;
  const members = leastLoadedMembers(dense);
  const processes = leastLoadedProcesses(dense, members, 'stateful');
  const pass: StandbyPass = { ...run, held: 0 };
  for (let task = size.tasks - 1; task >= 0; task--) {
    if (at(standbyCount, task) >= size.slots) continue;
    if (!isSet(stateful, at(subtopologyOf, task))) continue;
    startTask(pass, task);
    while (at(standbyCount, task) < size.slots) {
      const process = processes.firstExcept(0, holders, pass.held);
      if (process === -1) break;
      placeStandby(pass, task, members.first(process));
    }
  }
}

/** Notes the processes that hold the task so far. */
function startTask(pass: StandbyPass, task: number): void {
  const { active, procOf, holders, standby, standbyCount, size } = pass.dense;
  pass.held = 0;
  const owner = at(active, task);
  if (owner !== -1) holders[pass.held++] = at(procOf, owner);
  for (let i = 0; i < at(standbyCount, task); i++) {
    holders[pass.held++] = at(procOf, at(standby, task * size.slots + i));
  }
}

function rackCandidates(dense: Dense): RackCandidates {
  const members = leastLoadedMembers(dense);
  return { members, processes: leastLoadedProcesses(dense, members, 'stateful', dense.tagGroup) };
}

function placeForDiversity(pass: StandbyPass, task: number, racks: RackCandidates): void {
  const { dense, totalQuota } = pass;
  let key = 0;
  while (at(dense.standbyCount, task) < dense.size.slots && key < dense.size.tagKeys) {
    const rackPass = { dense, held: pass.held, limit: totalQuota.limit, ...racks };
    const member = pickForDiversity(rackPass, task, key);
    if (member === -1) key++;
    else placeStandby(pass, task, member);
  }
}

function keepFrozenStandbys(pass: StandbyPass, task: number): void {
  const { size, candStart, candMember, candRole, frozen, procOf, standbyCount, holders } =
    pass.dense;
  for (let c = at(candStart, task); c < at(candStart, task + 1); c++) {
    if (at(standbyCount, task) >= size.slots) return;
    const member = at(candMember, c);
    if (candRole[c] !== CANDIDATE.standby || !isSet(frozen, member)) continue;
    if (!includes(holders, pass.held, at(procOf, member))) placeStandby(pass, task, member);
  }
}

function placeStandby(pass: StandbyPass, task: number, member: number): void {
  const { size, standby, standbyCount, procOf, frozen, holders } = pass.dense;
  const placed = at(standbyCount, task);
  standby[task * size.slots + placed] = member;
  standbyCount[task] = placed + 1;
  holders[pass.held++] = at(procOf, member);
  const count = countTask(pass.dense, member);
  if (isSet(frozen, member)) pass.totalQuota.taskGone();
  else pass.totalQuota.reached(count);
}
