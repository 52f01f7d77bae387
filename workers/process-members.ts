import { at, type Dense } from './dense.ts';

/**
 * Finds the member of a process that has the fewest tasks, of equals the first. Water fills each process level by level: a
 * member is looked at again only when all after it are above the level.
 *
 * Source: assignors 8, 9.4.
 */
export class ProcessMembers {
  readonly #count: Int32Array;
  readonly #member: Int32Array;
  readonly #start: Int32Array;
  /** Place of the next member to look at, and the level it is looked at for, by process. */
  readonly #next: Int32Array;
  readonly #level: Int32Array;

  /** Counts of `dense` may rise at any time, and never fall while this is used. */
  constructor(dense: Dense) {
    this.#count = dense.count;
    this.#member = dense.procMember;
    this.#start = dense.procStart;
    this.#next = dense.procNext;
    this.#level = dense.procLevel;
    for (let p = 0; p < dense.size.processes; p++) {
      this.#next[p] = at(this.#start, p + 1);
      this.#level[p] = -1;
    }
  }

  /** The member of the process with the fewest tasks; a stale one only where no member is fresh. */
  least(process: number): number {
    const start = at(this.#start, process);
    const end = at(this.#start, process + 1);
    if (end - start === 1) return at(this.#member, start);
    const level = at(this.#level, process);
    for (let i = at(this.#next, process); i < end; i++) {
      const member = at(this.#member, i);
      if (at(this.#count, member) !== level) continue;
      this.#next[process] = i;
      return member;
    }
    return this.#lookOver(process, start, end);
  }

  #lookOver(process: number, start: number, end: number): number {
    let least = start;
    for (let i = start + 1; i < end; i++) {
      if (at(this.#count, at(this.#member, i)) < at(this.#count, at(this.#member, least)))
        least = i;
    }
    const member = at(this.#member, least);
    this.#next[process] = least;
    this.#level[process] = at(this.#count, member);
    return member;
  }
}
