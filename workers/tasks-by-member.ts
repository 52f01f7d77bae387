import { roomFor } from './candidate-lists.ts';
import { at } from './dense.ts';
import type { MemberChange, MemberTasks } from './member-tasks.ts';

/** Which tasks of a member are meant, in any order. */
type TasksOf = (read: MemberTasks) => readonly number[];

/** In memory of this thread alone. */
type Numbers = Int32Array<ArrayBuffer>;

type Lists = Pick<TasksByMember, 'start' | 'tasks' | 'stateful'>;

const NO_LISTS: Lists = {
  start: new Int32Array(0),
  tasks: new Int32Array(0),
  stateful: new Int32Array(0),
};

/**
 * Ascending lists of tasks, one for each member, one behind the other: what is also told by task, seen from the other
 * side. Kept from run to run: who did not change is copied with its neighbours.
 *
 * Source: assignors 9.1.
 */
export class TasksByMember {
  readonly #tasksOf: TasksOf;
  readonly #isStateful: (task: number) => boolean;
  /** Member m has `tasks` from `start[m]` up to `start[m + 1]`. */
  start: Numbers = new Int32Array(1);
  tasks: Numbers = new Int32Array(0);
  /** How many of a member's tasks are stateful. */
  stateful: Numbers = new Int32Array(0);
  /** The lists before the last patch, whose memory the next one takes. */
  #spare = NO_LISTS;

  constructor(tasksOf: TasksOf, isStateful: (task: number) => boolean) {
    this.#tasksOf = tasksOf;
    this.#isStateful = isStateful;
  }

  get bytes(): number {
    const { start, tasks, stateful } = this.#spare;
    const arrays = [this.start, this.tasks, this.stateful, start, tasks, stateful];
    return arrays.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  }

  /**
   * Makes all lists anew.
   *
   * @param forEach visits each task with a member that has it, tasks ascending; asked twice.
   */
  rebuild(
    memberCount: number,
    forEach: (visit: (task: number, member: number) => void) => void,
  ): void {
    const start = new Int32Array(memberCount + 1);
    forEach((_, member) => {
      start[member + 1] = at(start, member + 1) + 1;
    });
    for (let m = 0; m < memberCount; m++) start[m + 1] = at(start, m + 1) + at(start, m);
    const tasks = new Int32Array(at(start, memberCount));
    const stateful = new Int32Array(memberCount);
    const next = start.slice();
    forEach((task, member) => {
      const place = at(next, member);
      tasks[place] = task;
      next[member] = place + 1;
      if (this.#isStateful(task)) stateful[member] = at(stateful, member) + 1;
    });
    this.start = start;
    this.tasks = tasks;
    this.stateful = stateful;
    this.#spare = NO_LISTS;
  }

  /**
   * Takes what changed since the lists were made.
   *
   * @param before see {@link numbersBefore}.
   */
  patch(memberCount: number, changes: readonly MemberChange[], before: Int32Array): void {
    const lists = this.#changedLists(changes);
    if (this.tasks.length === 0 && lists.size === 0) {
      this.start = new Int32Array(memberCount + 1);
      this.stateful = new Int32Array(memberCount);
      this.#spare = NO_LISTS;
      return;
    }
    const old = { start: this.start, tasks: this.tasks, stateful: this.stateful };
    const start = arrayIn(this.#spare.start, memberCount + 1);
    const stateful = arrayIn(this.#spare.stateful, memberCount);
    start[0] = 0;
    for (let m = 0; m < memberCount; m++) {
      const from = at(before, m);
      const length =
        from === -1 ? (lists.get(m)?.length ?? 0) : at(old.start, from + 1) - at(old.start, from);
      start[m + 1] = at(start, m) + length;
      stateful[m] = from === -1 ? this.#countStateful(lists.get(m)) : at(old.stateful, from);
    }
    const tasks = arrayIn(this.#spare.tasks, at(start, memberCount));
    for (let m = 0, to = 0; m < memberCount; m = to) {
      to = m + 1;
      const from = at(before, m);
      if (from === -1) {
        tasks.set(lists.get(m) ?? [], at(start, m));
        continue;
      }
      while (to < memberCount && at(before, to) === from + to - m) to++;
      tasks.set(
        old.tasks.subarray(at(old.start, from), at(old.start, from + to - m)),
        at(start, m),
      );
    }
    this.start = start;
    this.tasks = tasks;
    this.stateful = stateful;
    this.#spare = old;
  }

  #countStateful(tasks: Int32Array | undefined): number {
    return tasks?.reduce((sum, task) => sum + (this.#isStateful(task) ? 1 : 0), 0) ?? 0;
  }

  #changedLists(changes: readonly MemberChange[]): Map<number, Int32Array> {
    const lists = new Map<number, Int32Array>();
    for (const { after, afterNumber } of changes) {
      const tasks = after === undefined ? [] : this.#tasksOf(after);
      if (tasks.length > 0) lists.set(afterNumber, Int32Array.from(tasks).sort());
    }
    return lists;
  }
}

/** So many numbers, any at first, in the memory of an array that nobody reads any more, where it has the size for them. */
function arrayIn({ buffer }: Numbers, length: number): Numbers {
  const room = roomFor(length);
  const fits = buffer.byteLength >= 4 * length && buffer.byteLength <= 4 * 2 * room;
  return new Int32Array(fits ? buffer : new ArrayBuffer(4 * room), 0, length);
}

/** By number: that of the member before, or -1 for who came or changed; from what `StateByTask.update` is told. */
export function numbersBefore(
  memberCount: number,
  changes: readonly MemberChange[],
  renumbered: Int32Array | undefined,
): Int32Array {
  const before = new Int32Array(memberCount).fill(-1);
  if (renumbered === undefined) for (let m = 0; m < memberCount; m++) before[m] = m;
  else {
    for (let m = 0; m < renumbered.length; m++) {
      const number = at(renumbered, m);
      if (number !== -1) before[number] = m;
    }
  }
  for (const { afterNumber } of changes) if (afterNumber !== -1) before[afterNumber] = -1;
  return before;
}
