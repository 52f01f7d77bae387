import { at, type Dense, isSet } from './dense.ts';
import { LeastLoaded } from './least-loaded.ts';
import { Quota } from './quota.ts';

/** What the passes of one run of `sticky` share: the counters in the scratch of the problem, and the quotas. */
export type StickyRun = {
  readonly dense: Dense;
  /** Stateful tasks come first in `dense.order`: this many. Both parts are in (partition, subtopology) order. */
  readonly statefulCount: number;
  readonly statefulQuota: Quota;
  readonly activeQuota: Quota;
  readonly totalQuota: Quota;
};

/**
 * Clears result and scratch, and lets stale members keep their actives before anything else: up to an even share, the
 * others then share the rest. Where nobody is fresh they keep all they have.
 *
 * Source: assignors 2.1, 6.1.
 */
export function startRun(dense: Dense): StickyRun {
  const { size } = dense;
  dense.active.fill(-1);
  dense.standby.fill(-1);
  for (const counter of [dense.standbyCount, dense.count, dense.procCount, dense.procStateless]) {
    counter.fill(0);
  }
  for (let p = 0; p < size.processes; p++) {
    dense.procCapacity[p] = at(dense.procStart, p + 1) - at(dense.procStart, p);
  }
  const statefulCount = orderTasks(dense);
  let freshCount = 0;
  for (let m = 0; m < size.members; m++) if (!isSet(dense.frozen, m)) freshCount++;

  let keptStateful = 0;
  let keptStateless = 0;
  if (freshCount < size.members) {
    const sharers = freshCount + countFrozenHolders(dense);
    const share = (tasks: number): number =>
      freshCount === 0 ? tasks : Math.ceil(tasks / sharers);
    keptStateful = keepFrozenActives(dense, 0, statefulCount, share(statefulCount));
    keptStateless = keepFrozenActives(dense, statefulCount, size.tasks, share(size.tasks));
  }
  const toShare = size.tasks - keptStateful - keptStateless;
  return {
    dense,
    statefulCount,
    statefulQuota: new Quota(statefulCount - keptStateful, freshCount),
    activeQuota: new Quota(toShare, freshCount),
    totalQuota: new Quota(toShare + size.replicas * statefulCount, freshCount),
  };
}

/** Puts one more task on a member's account, whatever the role. */
export function countTask(dense: Dense, member: number): number {
  const process = at(dense.procOf, member);
  const count = at(dense.count, member) + 1;
  dense.count[member] = count;
  dense.procCount[process] = at(dense.procCount, process) + 1;
  return count;
}

/**
 * Walks a task's candidates: the first one, replaced by a later one only if that one's process load and member count
 * are both smaller.
 *
 * @param holders processes that hold the task already, the first `holderCount` entries; their members do not count.
 * @returns a member, or -1. Whether it has room is the caller's to ask.
 *
 * Source: assignors 6.1, step 2.
 */
export function bestCandidate(
  dense: Dense,
  task: number,
  holders: Int32Array,
  holderCount: number,
): number {
  const { candStart, candMember, frozen, procOf, procCount, procCapacity, count } = dense;
  let best = -1;
  let bestProcess = -1;
  const end = at(candStart, task + 1);
  candidates: for (let c = at(candStart, task); c < end; c++) {
    const member = at(candMember, c);
    if (isSet(frozen, member)) continue;
    const process = at(procOf, member);
    for (let i = 0; i < holderCount; i++) if (at(holders, i) === process) continue candidates;
    if (
      best === -1 ||
      (at(count, member) < at(count, best) &&
        at(procCount, process) * at(procCapacity, bestProcess) <
          at(procCount, bestProcess) * at(procCapacity, process))
    ) {
      best = member;
      bestProcess = process;
    }
  }
  return best;
}

/** The fresh members, by process. */
export function leastLoadedMembers(dense: Dense): LeastLoaded {
  const { size, procOf, frozen, count, memberGroup } = dense;
  for (let m = 0; m < size.members; m++) memberGroup[m] = isSet(frozen, m) ? -1 : at(procOf, m);
  return new LeastLoaded({ count, group: memberGroup, groupCount: size.processes });
}

/**
 * The processes that have a fresh member; of equally loaded ones those with fewer stateless tasks per member first.
 *
 * @param members the fresh members, of the same run.
 * @param dealt what is placed as long as this is used: a stateless task changes the order of processes, all others
 *   leave it alone.
 * @param group of each process; all are in one when it is left out.
 */
export function leastLoadedProcesses(
  dense: Dense,
  members: LeastLoaded,
  dealt: 'stateful' | 'stateless',
  group?: Int32Array,
): LeastLoaded {
  const { size, procCount, procStateless, procCapacity, procGroup, procOrder } = dense;
  for (let p = 0; p < size.processes; p++) {
    procGroup[p] = members.first(p) === -1 ? -1 : group === undefined ? 0 : at(group, p);
    // Of equal counts the one with fewer stateless tasks has more stateful ones, and keeps them.
    procOrder[p] =
      dealt === 'stateful'
        ? at(procStateless, p)
        : size.tasks - (at(procCount, p) - at(procStateless, p));
  }
  return new LeastLoaded({
    count: procCount,
    group: procGroup,
    groupCount: group === undefined ? 1 : size.tagGroups,
    shares: { capacity: procCapacity, tie: procStateless, order: procOrder },
  });
}

/** Fills `order`: stateful tasks, then stateless ones, each by (partition, subtopology). Counting sort. */
function orderTasks(dense: Dense): number {
  const { size, base, subtopologyOf, stateful, order, cursor } = dense;
  let filled = 0;
  let statefulCount = 0;
  for (const wanted of [true, false]) {
    cursor.fill(0);
    for (let s = 0; s < size.subtopologies; s++) {
      if (isSet(stateful, s) !== wanted) continue;
      const length = at(base, s + 1) - at(base, s);
      for (let partition = 0; partition < length; partition++) {
        cursor[partition] = at(cursor, partition) + 1;
      }
    }
    for (let partition = 0; partition < size.tasks; partition++) {
      const length = at(cursor, partition);
      cursor[partition] = filled;
      filled += length;
    }
    for (let task = 0; task < size.tasks; task++) {
      const s = at(subtopologyOf, task);
      if (isSet(stateful, s) !== wanted) continue;
      const partition = task - at(base, s);
      const to = at(cursor, partition);
      order[to] = task;
      cursor[partition] = to + 1;
    }
    if (wanted) statefulCount = filled;
  }
  return statefulCount;
}

function countFrozenHolders({ prevActive, frozen, count, size }: Dense): number {
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

function keepFrozenActives(dense: Dense, from: number, to: number, limit: number): number {
  const { order, prevActive, frozen, active, count, subtopologyOf, stateful, procOf } = dense;
  let kept = 0;
  for (let i = from; i < to; i++) {
    const task = at(order, i);
    const member = at(prevActive, task);
    if (member === -1 || !isSet(frozen, member) || at(count, member) >= limit) continue;
    active[task] = member;
    countTask(dense, member);
    if (!isSet(stateful, at(subtopologyOf, task))) {
      const process = at(procOf, member);
      dense.procStateless[process] = at(dense.procStateless, process) + 1;
    }
    kept++;
  }
  return kept;
}
