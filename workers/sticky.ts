import { at, type Dense, isSet } from './dense.ts';
import { listByMember } from './list-by-member.ts';
import type { Quota } from './quota.ts';
import { placeStandbys } from './standbys.ts';
import {
  bestCandidate,
  countTask,
  leastLoadedMembers,
  leastLoadedProcesses,
  type StickyRun,
  startRun,
} from './sticky-run.ts';

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
  placeActives(run, { from: 0, to: run.statefulCount, stateful: true });
  placeActives(run, { from: run.statefulCount, to: dense.size.tasks, stateful: false });
  if (dense.size.slots > 0) placeStandbys(run);
  listByMember(dense.active, dense.activeStart, dense.activeTask, 1);
  listByMember(dense.standby, dense.standbyStart, dense.standbyTask, dense.size.slots);
}

/** The part of the order a pass is about. */
type Part = { readonly from: number; readonly to: number; readonly stateful: boolean };

function placeActives(run: StickyRun, part: Part): void {
  const { dense } = run;
  const { order, active, prevActive, count, frozen, candStart, holders } = dense;
  const quota = part.stateful ? run.statefulQuota : run.activeQuota;
  let left = 0;

  // 1. Where it is.
  for (let i = part.from; i < part.to; i++) {
    const task = at(order, i);
    if (at(active, task) !== -1) continue;
    const member = at(prevActive, task);
    if (member !== -1 && !isSet(frozen, member) && at(count, member) < quota.limit) {
      placeActive(run, task, member, part.stateful);
    } else {
      left++;
    }
  }
  if (left === 0) return;

  // 2. Where its state is.
  for (let i = part.from; i < part.to; i++) {
    const task = at(order, i);
    if (at(active, task) !== -1 || at(candStart, task) === at(candStart, task + 1)) continue;
    const member = bestCandidate(dense, task, holders, 0);
    if (member === -1 || at(count, member) >= quota.limit) continue;
    placeActive(run, task, member, part.stateful);
    left--;
  }
  if (left > 0) dealActives(run, part, quota);
}

/** 3. The rest, in (subtopology, partition) order, so that neighbours land on different processes. */
function dealActives(run: StickyRun, part: Part, quota: Quota): void {
  const { dense } = run;
  const { size, active, subtopologyOf, stateful, count } = dense;
  const members = leastLoadedMembers(dense);
  const dealt = part.stateful ? 'stateful' : 'stateless';
  const processes = leastLoadedProcesses(dense, members, dealt);
  for (let task = 0; task < size.tasks; task++) {
    if (at(active, task) !== -1) continue;
    if (isSet(stateful, at(subtopologyOf, task)) !== part.stateful) continue;
    let process = processes.first(0);
    // Room never comes back: counts rise, limits fall.
    while (process !== -1 && at(count, members.first(process)) >= quota.limit) {
      processes.drop(process);
      process = processes.first(0);
    }
    // Nobody is fresh.
    if (process === -1) return;
    placeActive(run, task, members.first(process), part.stateful);
  }
}

function placeActive(run: StickyRun, task: number, member: number, stateful: boolean): void {
  const { dense } = run;
  dense.active[task] = member;
  const count = countTask(dense, member);
  if (stateful) {
    run.statefulQuota.reached(count);
  } else {
    const process = at(dense.procOf, member);
    dense.procStateless[process] = at(dense.procStateless, process) + 1;
  }
  run.activeQuota.reached(count);
  run.totalQuota.reached(count);
}
