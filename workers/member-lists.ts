import { at, type Dense, isSet } from './dense.ts';
import type { Run } from './run.ts';

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

/** {@link listActives} and {@link listStandbys} where nobody has counted. */
export function listAll(dense: Dense): void {
  const count = new Int32Array(dense.size.members);
  countInto(count, dense.active);
  listActives(dense, count, ALL_BITS);
  countInto(count, dense.standby);
  listStandbys(dense, count, ALL_BITS);
}

const ALL_BITS = -1;

function countInto(count: Int32Array, memberOf: Int32Array): void {
  for (let i = 0; i < memberOf.length; i++) {
    const member = memberOf[i] as number;
    if (member !== -1) count[member] = (count[member] as number) + 1;
  }
}

/**
 * As {@link listActives}, made of the lists of what was held: who neither lost nor got a task is copied with its neighbours.
 * For a run that tells what may have moved, and where that is little; sorts `loose`.
 */
export function listMovedActives(run: Run): void {
  const { dense } = run;
  const { size, heldStart, heldTask, activeStart, activeTask, loose, planned: first } = dense;
  first.fill(UNTOUCHED);
  loose.subarray(0, run.loose).sort();
  // Backwards, so that what a member got is linked ascending.
  for (let i = run.loose - 1; i >= 0; i--) linkMoved(dense, loose[i] as number);
  let end = 0;
  for (let m = 0; m < size.members; m++) {
    activeStart[m] = end;
    const from = heldStart[m] as number;
    if (first[m] !== UNTOUCHED) {
      end = mergeActives(dense, m, end);
      continue;
    }
    const moved = end - from;
    while (m + 1 < size.members && first[m + 1] === UNTOUCHED) {
      m++;
      activeStart[m] = (heldStart[m] as number) + moved;
    }
    const to = heldStart[m + 1] as number;
    // A loop: as long as not both ends are at whole words, `set` copies shared memory byte by byte.
    for (let i = from; i < to; i++) activeTask[end++] = heldTask[i] as number;
  }
  activeStart[size.members] = end;
}

/** Puts a task in front of those that its owner got, if it has moved. */
function linkMoved({ active, prevActive, planned: first, order: next }: Dense, task: number): void {
  const owner = active[task] as number;
  const holder = prevActive[task] as number;
  if (owner === holder) return;
  if (holder !== -1 && first[holder] === UNTOUCHED) first[holder] = LOST;
  if (owner === -1) return;
  next[task] = first[owner] as number;
  first[owner] = task;
}

/** Writes what a member kept and what it got, ascending, from a place on; returns where it ends. */
function mergeActives(
  { active, heldStart, heldTask, activeTask, planned: first, order: next }: Dense,
  member: number,
  from: number,
): number {
  const heldEnd = heldStart[member + 1] as number;
  let end = from;
  let got = first[member] as number;
  for (let i = heldStart[member] as number; i < heldEnd; i++) {
    const task = heldTask[i] as number;
    if (active[task] !== member) continue;
    while (got >= 0 && got < task) {
      activeTask[end++] = got;
      got = next[got] as number;
    }
    activeTask[end++] = task;
  }
  for (; got >= 0; got = next[got] as number) activeTask[end++] = got;
  return end;
}

/** In place of the first task that a member got: it has what it had; it has lost some, and got none. */
const UNTOUCHED = -1;
const LOST = -2;

function shiftStarts(start: Int32Array): void {
  for (let m = start.length - 1; m > 0; m--) start[m] = start[m - 1] as number;
  start[0] = 0;
}
