import { at, type Dense } from './dense.ts';

/** Lists by task, as {@link Dense} has them, with room for more at their ends. */
export type Candidates = Pick<
  Dense,
  'candStart' | 'candDisk' | 'candMember' | 'candRole' | 'candCaughtUp'
> & {
  /** Offset sum, rounded above 2^53: -1 unknown, Infinity not started. The order of the list is the exact one. */
  readonly candOffset: Float64Array;
};

/** Room for candidates grows by a quarter, so that lists can be used again. */
const ROOM_GROWTH = 1.25;
const ROOM_LEAST = 16;

/** For how many candidates lists are made that are to hold so many. */
export function roomFor(count: number): number {
  if (count === 0) return 0;
  const steps = Math.ceil(Math.log(count / ROOM_LEAST) / Math.log(ROOM_GROWTH));
  return Math.max(count, Math.ceil(ROOM_LEAST * ROOM_GROWTH ** Math.max(0, steps)));
}

/** Lists with nothing in them. */
export function newCandidates(taskCount: number, count: number): Candidates {
  const room = roomFor(count);
  return {
    candStart: new Int32Array(taskCount + 1),
    candDisk: new Int32Array(taskCount),
    candMember: new Int32Array(room),
    candOffset: new Float64Array(room),
    candRole: new Uint8Array(room),
    candCaughtUp: new Uint8Array(room),
  };
}

/** Copies the lists of some tasks; the first one's start is known. */
export function copyLists(
  old: Candidates,
  lists: Candidates,
  fromTask: number,
  toTask: number,
  renumbered: Int32Array | undefined,
): void {
  const from = at(old.candStart, fromTask);
  const to = at(old.candStart, toTask);
  const start = at(lists.candStart, fromTask);
  const moved = start - from;
  for (let t = fromTask; t < toTask; t++) {
    lists.candDisk[t] = at(old.candDisk, t) + moved;
    lists.candStart[t + 1] = at(old.candStart, t + 1) + moved;
  }
  if (from === to) return;
  if (renumbered === undefined) {
    lists.candMember.set(old.candMember.subarray(from, to), start);
  } else {
    renumber(old.candMember.subarray(from, to), lists.candMember, renumbered, start, to - from);
  }
  lists.candOffset.set(old.candOffset.subarray(from, to), start);
  lists.candRole.set(old.candRole.subarray(from, to), start);
  lists.candCaughtUp.set(old.candCaughtUp.subarray(from, to), start);
}

/** Writes the new numbers of some members; -1 stays nobody. */
export function renumber(
  members: Int32Array,
  into: Int32Array,
  renumbered: Int32Array,
  start: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    const number = at(members, i);
    into[start + i] = number === -1 ? -1 : at(renumbered, number);
  }
}
