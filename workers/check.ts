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
  if (isSound(dense) && (!promisesQuotas || areQuotasKept(dense))) return undefined;
  return nameBreach(dense, promisesQuotas) ?? 'H2: lists of the result differ from its places';
}

/** H1 to H5. */
function isSound(dense: Dense): boolean {
  const { size, base, stateful, standbyStart, procWindow } = dense;
  const standbys = countTasks(dense, 'stateful') * size.slots;
  if (!areStarts(dense.activeStart, size.tasks) || !areStarts(standbyStart, standbys)) return false;
  if (!areActivesSound(dense)) return false;
  if (standbys === 0) return true;
  procWindow.set(standbyStart.subarray(0, size.members));
  for (let s = 0; s < size.subtopologies; s++) {
    if (isSet(stateful, s) && !areCopiesSound(dense, at(base, s), at(base, s + 1))) return false;
  }
  // Each list ends where the next one begins.
  for (let m = 0; m < size.members; m++) if (procWindow[m] !== standbyStart[m + 1]) return false;
  return true;
}

function areStarts(start: Int32Array, total: number): boolean {
  if (start[0] !== 0 || start[start.length - 1] !== total) return false;
  for (let m = 1; m < start.length; m++) {
    if ((start[m] as number) < (start[m - 1] as number)) return false;
  }
  return true;
}

/**
 * H1, H2. Lists have room for all tasks and no more. Each is ascending, so no task is twice in one; and each of its tasks
 * names its member as owner, so none is in two.
 */
function areActivesSound({ size, active, activeStart, activeTask }: Dense): boolean {
  let from = 0;
  for (let m = 0; m < size.members; m++) {
    const to = activeStart[m + 1] as number;
    let last = -1;
    for (let i = from; i < to; i++) {
      const task = activeTask[i] as number;
      if (task <= last || task >= size.tasks || active[task] !== m) return false;
      last = task;
    }
    from = to;
  }
  return true;
}

/**
 * H2 to H5. Task by task everyone who has a standby finds it next in its list, which `procWindow` says: so every place is a
 * member, and no list has anything else. And the processes of a task are different.
 */
function areCopiesSound(
  { size, active, standby, standbyTask, procOf, procWindow: next }: Dense,
  from: number,
  to: number,
): boolean {
  const { slots } = size;
  for (let task = from; task < to; task++) {
    const owner = procOf[active[task] as number] as number;
    const first = task * slots;
    for (let copy = first; copy < first + slots; copy++) {
      const member = standby[copy] as number;
      const place = next[member] as number;
      if (standbyTask[place] !== task) return false;
      next[member] = place + 1;
      const process = procOf[member] as number;
      if (process === owner) return false;
      for (let other = first; other < copy; other++) {
        if (procOf[standby[other] as number] === process) return false;
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
