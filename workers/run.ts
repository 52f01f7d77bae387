import { UNMARKED } from './bin.ts';
import { at, type Dense, isSet } from './dense.ts';
import { LeastLoaded, type LeastLoadedItems, type LeastLoadedScratch } from './least-loaded.ts';
import { ProcessMembers } from './process-members.ts';
import { Quota } from './quota.ts';
import { countTasks, orderTasks, type TaskKind } from './task-order.ts';

/**
 * What the passes of one run share: the counters in the scratch of the problem, and the quotas.
 *
 * `dense.count` says how many tasks a member has so far. That of a stale member begins at {@link STALE}, above every
 * limit, so that nobody has to ask whether a member may take a task besides whether it has room.
 */
export type Run = {
  readonly dense: Dense;
  readonly members: ProcessMembers;
  readonly statefulCount: number;
  readonly statefulQuota: Quota;
  readonly activeQuota: Quota;
  readonly totalQuota: Quota;
  /** How many tasks are in `dense.loose`; Infinity: it does not tell. */
  loose: number;
  /** How many standbys are not placed yet; counted from where they begin to be. */
  lacking: number;
  /** Whether a process has come back with state on its disk. */
  readonly returned: { any: boolean };
};

/** Where the count of a stale member begins; above the number of tasks there can be. */
export const STALE = 2 ** 29;

/** The bits of `dense.count` that say how many tasks a member has, stale or not. */
export const COUNT_MASK = STALE - 1;

/**
 * Clears result and scratch, and lets stale members keep their actives before anything else: up to an even share, the
 * others then share the rest. Where nobody is fresh they keep all they have.
 *
 * @param options.whereHeld puts all other tasks where they are held, on no account: what has to leave is little, as a rule.
 *   Else they have no owner.
 *
 * Source: assignors 2.1, 6.1.
 */
export function startRun(dense: Dense, { whereHeld = false } = {}): Run {
  const { size, facts } = dense;
  const isSomethingHeld = whereHeld && facts.held > 0;
  if (isSomethingHeld && facts.stale === 0) dense.active.set(dense.prevActive);
  else dense.active.fill(-1);
  dense.standby.fill(-1);
  dense.marks.fill(UNMARKED);
  for (const counter of [dense.count, dense.procCount, dense.procStateless]) counter.fill(0);
  for (const counter of size.slots > 0 ? [dense.standbyCount, dense.fixed] : []) counter.fill(0);
  const statefulCount = countTasks(dense, 'stateful');
  const freshCount = size.members - facts.stale;
  let keptStateful = 0;
  let keptStateless = 0;
  if (facts.stale > 0) {
    const sharers = freshCount + countStaleHolders(dense);
    const share = (tasks: number): number =>
      freshCount === 0 ? tasks : Math.ceil(tasks / sharers);
    keptStateful = keepStaleActives(dense, 'stateful', share(statefulCount));
    keptStateless = keepStaleActives(dense, 'stateless', share(size.tasks));
    for (let m = 0; m < size.members; m++) {
      if (isSet(dense.frozen, m)) dense.count[m] = STALE + at(dense.count, m);
    }
    if (isSomethingHeld) placeWhereFreshHold(dense);
  }
  const toShare = size.tasks - keptStateful - keptStateless;
  return {
    dense,
    members: new ProcessMembers(dense),
    statefulCount,
    statefulQuota: new Quota(statefulCount - keptStateful, freshCount),
    activeQuota: new Quota(toShare, freshCount),
    totalQuota: new Quota(toShare + size.replicas * statefulCount, freshCount),
    loose: isSomethingHeld ? 0 : Infinity,
    lacking: statefulCount * size.slots,
    returned: { any: false },
  };
}

/** The quota that bounds actives while tasks of a kind are placed. */
export function quotaFor(run: Run, kind: TaskKind): Quota {
  return kind === 'stateful' ? run.statefulQuota : run.activeQuota;
}

/** Puts an active on a member, on its account, that of its process and those of the quotas. */
export function placeActive(run: Run, task: number, member: number, kind: TaskKind): void {
  const { active, count, procOf, procCount, procStateless } = run.dense;
  active[task] = member;
  const has = at(count, member) + 1;
  count[member] = has;
  const process = at(procOf, member);
  procCount[process] = at(procCount, process) + 1;
  if (kind === 'stateless') procStateless[process] = at(procStateless, process) + 1;
  noteCount(run, has, kind);
}

/** Notes in `dense.loose` that a task may not be where it was. */
export function noteLoose(run: Run, task: number): void {
  run.dense.loose[run.loose++] = task;
}

/** While counts stay below this, {@link noteCount} has nothing to do for actives of the kind. */
export function watchedCount(run: Run, kind: TaskKind): number {
  const least = Math.min(run.activeQuota.limit, run.totalQuota.limit);
  return kind === 'stateful' ? Math.min(run.statefulQuota.limit, least) : least;
}

/** Tells the quotas that a member has come to so many tasks, the last of them actives of the kind. */
export function noteCount(run: Run, count: number, kind: TaskKind): void {
  if (kind === 'stateful') run.statefulQuota.reached(count);
  run.activeQuota.reached(count);
  run.totalQuota.reached(count);
}

/**
 * The processes that have a fresh member, to be used until the next ones are asked for; of equally loaded ones those with
 * fewer stateless tasks per member first.
 *
 * @param dealt what is placed as long as this is used: a stateless task changes the order of processes, all others
 *   leave it alone.
 * @param group of each process; all are in one when it is left out.
 * @param scratch other than that of the problem, where it is to be used beside another.
 */
export function leastLoadedProcesses(
  { dense, members }: Pick<Run, 'dense' | 'members'>,
  dealt: TaskKind,
  group?: Int32Array,
  scratch: LeastLoadedScratch = scratchOf(dense),
): LeastLoaded {
  return new LeastLoaded(processesByLoad({ dense, members }, dealt, group), scratch);
}

/**
 * The processes that have a fresh member, to be used until the next ones are asked for; of equally loaded ones the first.
 *
 * @param load of each process: its tasks of whatever kind.
 * @param group of each process; all are in one when it is left out.
 * @param scratch other than that of the problem, where it is to be used beside another.
 */
export function leastLoadedBy(
  run: Run,
  load: Int32Array,
  group?: Int32Array,
  scratch: LeastLoadedScratch = scratchOf(run.dense),
): LeastLoaded {
  const none = new Int32Array(run.dense.size.processes);
  const items = processesByLoad(run, 'stateful', group);
  return new LeastLoaded({ ...items, count: load, tie: none, order: none }, scratch);
}

function scratchOf(dense: Dense): LeastLoadedScratch {
  return {
    item: dense.binItem,
    low: dense.binLow,
    behind: dense.binBehind,
    isBehind: dense.binIsBehind,
    spare: dense.binSpare,
    marks: dense.marks,
    dropped: dense.binDropped,
    buckets: dense.buckets,
  };
}

function processesByLoad(
  { dense, members }: Pick<Run, 'dense' | 'members'>,
  dealt: TaskKind,
  group?: Int32Array,
): LeastLoadedItems {
  const { size, facts, count, procCount, procStateless, procCapacity, procGroup, procOrder } =
    dense;
  if (facts.stale > 0) {
    for (let p = 0; p < size.processes; p++) {
      const isAble = at(count, members.least(p)) < STALE;
      procGroup[p] = !isAble ? -1 : group === undefined ? 0 : at(group, p);
    }
  }
  // Of equal counts the one with fewer stateless tasks has more stateful ones, and keeps them.
  for (let p = 0; dealt === 'stateless' && p < size.processes; p++) {
    procOrder[p] = size.tasks - (at(procCount, p) - at(procStateless, p));
  }
  return {
    count: procCount,
    group: facts.stale > 0 ? procGroup : group,
    groupCount: group === undefined ? 1 : size.tagGroups,
    // Processes of one member each are alike.
    capacity: size.members === size.processes ? undefined : procCapacity,
    tie: procStateless,
    order: dealt === 'stateless' ? procOrder : procStateless,
  };
}

function placeWhereFreshHold({ active, prevActive, frozen }: Dense): void {
  for (let task = 0; task < active.length; task++) {
    const holder = at(prevActive, task);
    if (holder !== -1 && !isSet(frozen, holder)) active[task] = holder;
  }
}

function countStaleHolders({ prevActive, frozen, count, size }: Dense): number {
  let holders = 0;
  for (let task = 0; task < size.tasks; task++) {
    const member = at(prevActive, task);
    if (member === -1 || !isSet(frozen, member) || at(count, member) !== 0) continue;
    count[member] = 1;
    holders++;
  }
  count.fill(0);
  return holders;
}

function keepStaleActives(dense: Dense, kind: TaskKind, limit: number): number {
  const { order, prevActive, frozen, active, count, procOf, procCount, procStateless } = dense;
  const taskCount = orderTasks(dense, kind, order);
  let kept = 0;
  for (let i = 0; i < taskCount; i++) {
    const task = at(order, i);
    const member = at(prevActive, task);
    if (member === -1 || !isSet(frozen, member) || at(count, member) >= limit) continue;
    active[task] = member;
    count[member] = at(count, member) + 1;
    const process = at(procOf, member);
    procCount[process] = at(procCount, process) + 1;
    if (kind === 'stateless') procStateless[process] = at(procStateless, process) + 1;
    kept++;
  }
  return kept;
}
