import { at, type Dense } from './dense.ts';

/** Places in a list of tasks. */
export type DealtTasks = {
  readonly list: Int32Array;
  readonly from: number;
  readonly step: number;
  readonly to: number;
};

/**
 * Finds the member of a process that has the fewest tasks, of equals the first. Water fills each process level by level:
 * a window holds the members that were at the lowest count when it was made. All in it are the window of the next level,
 * until those outside are reached.
 *
 * Source: assignors 8, 9.4.
 */
export class ProcessMembers {
  /** Whether each process has but one member. */
  readonly areLone: boolean;
  readonly #count: Int32Array;
  readonly #member: Int32Array;
  readonly #start: Int32Array;
  /** The window of a process lies where its members lie; it is read from `#head` up to `#end`. */
  readonly #window: Int32Array;
  readonly #head: Int32Array;
  readonly #end: Int32Array;
  readonly #level: Int32Array;
  /** Nobody outside the window is below it. */
  readonly #outside: Int32Array;

  /** Counts of `dense` may rise at any time, and never fall while this is used. */
  constructor(dense: Dense) {
    this.#count = dense.count;
    this.#member = dense.procMember;
    this.#start = dense.procStart;
    this.#window = dense.procWindow;
    this.#head = dense.procNext;
    this.#end = dense.procEnd;
    this.#level = dense.procLevel;
    this.#outside = dense.procOutside;
    this.areLone = dense.size.members === dense.size.processes;
    if (this.areLone) return;
    this.#head.set(this.#start.subarray(0, dense.size.processes));
    this.#end.set(this.#head);
    this.#level.fill(0);
    this.#outside.fill(0);
  }

  /** How many tasks the members of a process can take, the one with the fewest first, until one comes to this count. */
  roomBelow(process: number, limit: number): number {
    const end = at(this.#start, process + 1);
    let room = 0;
    for (let i = at(this.#start, process); i < end; i++) {
      room += Math.max(0, limit - 1 - at(this.#count, at(this.#member, i)));
    }
    return room;
  }

  /** The member of the process with the fewest tasks; a stale one only where no member is fresh. */
  least(process: number): number {
    if (this.areLone) return this.#member[process] as number;
    const head = this.#head;
    const window = this.#window;
    const count = this.#count;
    const end = this.#end[process] as number;
    const level = this.#level[process] as number;
    for (let i = head[process] as number; i < end; i++) {
      const member = window[i] as number;
      if (count[member] !== level) continue;
      head[process] = i;
      return member;
    }
    return this.#rise(process, at(this.#start, process));
  }

  /** Gives every `step`th task of a list, up to a place, to the member of the process that has the fewest then. */
  deal(process: number, { list, from, step, to }: DealtTasks, memberOf: Int32Array): void {
    const window = this.#window;
    const count = this.#count;
    for (let place = from; place < to; ) {
      const end = this.#end[process] as number;
      const level = this.#level[process] as number;
      let i = this.#head[process] as number;
      for (; i < end && place < to; i++) {
        const member = window[i] as number;
        if (count[member] !== level) continue;
        memberOf[list[place] as number] = member;
        count[member] = level + 1;
        place += step;
      }
      this.#head[process] = i;
      if (place < to) this.#rise(process, at(this.#start, process));
    }
  }

  #rise(process: number, start: number): number {
    const next = at(this.#level, process) + 1;
    if (next >= at(this.#outside, process)) return this.#lookOver(process, start);
    this.#level[process] = next;
    this.#head[process] = start;
    return this.least(process);
  }

  #lookOver(process: number, start: number): number {
    let level = NOBODY;
    let outside = NOBODY;
    let end = start;
    for (let i = start; i < at(this.#start, process + 1); i++) {
      const member = at(this.#member, i);
      const count = at(this.#count, member);
      if (count < level) {
        outside = level;
        level = count;
        end = start;
      } else if (count > level) {
        if (count < outside) outside = count;
        continue;
      }
      this.#window[end++] = member;
    }
    this.#head[process] = start;
    this.#end[process] = end;
    this.#level[process] = level;
    this.#outside[process] = outside;
    return at(this.#window, start);
  }
}

/** Above every count. */
const NOBODY = 2 ** 31 - 1;
