import { at, type Dense, isSet } from './dense.ts';

/**
 * Turns members by task into ascending lists of tasks by member: `activeTask` from `active`. Counting sort.
 *
 * @param count how many actives each member has; only the bits of `mask` count.
 */
export function listActives(dense: Dense, count: Int32Array, mask: number): void {
  const { size, active, activeStart, activeTask } = dense;
  activeStart[0] = 0;
  for (let m = 0; m < size.members; m++) {
    activeStart[m + 1] = at(activeStart, m) + (at(count, m) & mask);
  }
  // Each start serves as the place for the next task of its member, and so ends as the start of the next member.
  for (let task = 0; task < size.tasks; task++) {
    const member = at(active, task);
    if (member === -1) continue;
    const to = at(activeStart, member);
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
  standbyStart[0] = 0;
  for (let m = 0; m < size.members; m++) {
    const actives = at(activeStart, m + 1) - at(activeStart, m);
    standbyStart[m + 1] = at(standbyStart, m) + (at(count, m) & mask) - actives;
  }
  if (size.slots === 0) return;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    let slot = at(base, s) * size.slots;
    for (let task = at(base, s); task < at(base, s + 1); task++) {
      for (let i = 0; i < size.slots; i++) {
        const member = at(standby, slot++);
        if (member === -1) continue;
        const to = at(standbyStart, member);
        standbyTask[to] = task;
        standbyStart[member] = to + 1;
      }
    }
  }
  shiftStarts(standbyStart);
}

function shiftStarts(start: Int32Array): void {
  start.copyWithin(1, 0, start.length - 1);
  start[0] = 0;
}
