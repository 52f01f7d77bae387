import { ALGORITHMS, at, type Dense, isSet } from './dense.ts';
import { nameBreach } from './name-breach.ts';
import { countTasks } from './task-order.ts';

/**
 * Checks a result against the hard invariants, from the lists that will be handed out, before anyone uses it. Trusts
 * nothing that the assignor computed; uses the scratch of the buffer.
 *
 * @param options.promisesQuotas whether H7 is asked for; sticky alone promises it.
 * @returns the first breach found, in words, beginning with the rule's id; undefined if the result is sound.
 *
 * Source: assignors 2 (H1 to H7), 2.1; coordination ASG-11. H8 is a matter of two runs.
 */
export function findBreach(
  dense: Dense,
  { promisesQuotas = ALGORITHMS[dense.facts.algorithm] === 'sticky' } = {},
): string | undefined {
  if (dense.facts.stale > 0) return nameBreach(dense, promisesQuotas);
  const isSound =
    areActivesSound(dense) &&
    (dense.size.slots === 0 ? hasNoStandbys(dense) : areStandbysSound(dense)) &&
    (!promisesQuotas || areQuotasKept(dense));
  if (isSound) return undefined;
  return nameBreach(dense, promisesQuotas) ?? 'H2: lists of the result differ from its places';
}

/**
 * H1, H2. Lists have room for all tasks and no more. Each is ascending, so no task is twice in one; and each of its tasks
 * names its member as owner, so none is in two.
 */
function areActivesSound({ size, active, activeStart, activeTask }: Dense): boolean {
  const { members, tasks } = size;
  if (at(activeStart, 0) !== 0 || at(activeStart, members) !== tasks) return false;
  let from = 0;
  for (let m = 0; m < members; m++) {
    const to = activeStart[m + 1] as number;
    if (to < from || to > tasks) return false;
    let last = -1;
    for (let i = from; i < to; i++) {
      const task = activeTask[i] as number;
      if (task <= last || task >= tasks || active[task] !== m) return false;
      last = task;
    }
    from = to;
  }
  return true;
}

function hasNoStandbys({ standbyStart }: Dense): boolean {
  for (let m = 0; m < standbyStart.length; m++) if (standbyStart[m] !== 0) return false;
  return true;
}

/**
 * H2 to H5. Lists have room for all standbys that are wanted and no more, which is `slots` for each stateful task where
 * everybody is fresh. Each entry has a place of its own among those of a stateful task, so that all places are members;
 * and the processes of a task are different.
 */
function areStandbysSound(dense: Dense): boolean {
  const { size, subtopologyOf, stateful, standby, standbyStart, standbyTask } = dense;
  const { members, tasks, slots } = size;
  const wanted = countTasks(dense, 'stateful') * slots;
  if (at(standbyStart, 0) !== 0 || at(standbyStart, members) !== wanted) return false;
  let from = 0;
  for (let m = 0; m < members; m++) {
    const to = standbyStart[m + 1] as number;
    if (to < from || to > wanted) return false;
    let last = -1;
    for (let i = from; i < to; i++) {
      const task = standbyTask[i] as number;
      if (task <= last || task >= tasks) return false;
      if (stateful[subtopologyOf[task] as number] !== 1) return false;
      last = task;
      let place = task * slots;
      const end = place + slots;
      while (place < end && standby[place] !== m) place++;
      if (place === end) return false;
    }
    from = to;
  }
  return areOnDifferentProcesses(dense);
}

function areOnDifferentProcesses({
  size,
  base,
  stateful,
  active,
  standby,
  procOf,
}: Dense): boolean {
  const { slots } = size;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const first = task * slots;
      const owner = procOf[active[task] as number] as number;
      for (let place = first; place < first + slots; place++) {
        const process = procOf[standby[place] as number] as number;
        if (process === owner) return false;
        for (let other = first; other < place; other++) {
          if (procOf[standby[other] as number] === process) return false;
        }
      }
    }
  }
  return true;
}

/** H7. */
function areQuotasKept(dense: Dense): boolean {
  const { size, base, stateful, active, activeStart, planned } = dense;
  const { members } = size;
  const most = Math.ceil(size.tasks / members);
  const mostStateful = Math.ceil(countTasks(dense, 'stateful') / members);
  planned.fill(0);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const owner = active[task] as number;
      planned[owner] = (planned[owner] as number) + 1;
    }
  }
  for (let m = 0; m < members; m++) {
    if (at(activeStart, m + 1) - at(activeStart, m) > most) return false;
    if (at(planned, m) > mostStateful) return false;
  }
  return true;
}
