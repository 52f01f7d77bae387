import { at, type Dense, isSet } from './dense.ts';

/**
 * Turns members by task into ascending lists of tasks by member: `activeTask` from `active`. Counting sort.
 *
 * @param count how many actives each member has; only the bits of `mask` count.
 */
export function listActives(dense: Dense, count: Int32Array, mask: number): void {
  const { size, active, activeStart, activeTask } = dense;
  const { members, tasks } = size;
  let end = 0;
  for (let m = 0; m < members; m++) {
    activeStart[m] = end;
    end += (count[m] as number) & mask;
  }
  // Each start serves as the place for the next task of its member, and so ends as the start of the next member.
  for (let task = 0; task < tasks; task++) {
    const member = active[task] as number;
    if (member === -1) continue;
    const to = activeStart[member] as number;
    activeTask[to] = task;
    activeStart[member] = to + 1;
  }
  shiftStarts(activeStart);
}

/**
 * As {@link listActives}, after it: `standbyTask` from `standby`.
 *
 * @param count how many tasks each member has in both roles; only the bits of `mask` count.
 */
export function listStandbys(dense: Dense, count: Int32Array, mask: number): void {
  const { size, base, stateful, standby, activeStart, standbyStart, standbyTask } = dense;
  const { members, slots } = size;
  let end = 0;
  for (let m = 0; m < members; m++) {
    standbyStart[m] = end;
    const actives = (activeStart[m + 1] as number) - (activeStart[m] as number);
    end += ((count[m] as number) & mask) - actives;
  }
  standbyStart[members] = end;
  if (slots === 0) return;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1) * slots;
    let slot = at(base, s) * slots;
    for (let task = at(base, s); slot < to; task++) {
      for (const next = slot + slots; slot < next; slot++) {
        const member = standby[slot] as number;
        if (member === -1) continue;
        const place = standbyStart[member] as number;
        standbyTask[place] = task;
        standbyStart[member] = place + 1;
      }
    }
  }
  shiftStarts(standbyStart);
}

function shiftStarts(start: Int32Array): void {
  start.copyWithin(1, 0, start.length - 1);
  start[0] = 0;
}
