import { at, type Dense } from './dense.ts';
import type { Shares } from './shares.ts';

/**
 * Keeps the tasks of one subtopology even over processes: each has the whole part of its share, and so many of them one
 * more as that leaves over.
 *
 * Source: assignors 6.3 (step 2), section 3 (Q3).
 */
export class Spread {
  readonly #dense: Dense;
  readonly #shares: Shares;
  /** Tasks of the subtopology on each process. */
  readonly #has: Int32Array;
  readonly #floor: Int32Array;
  /** Whether the share is no whole number, by process. */
  readonly #isUneven: Uint8Array;
  /** How many processes may yet go above the whole part. */
  #above = 0;

  constructor(dense: Dense, shares: Shares) {
    this.#dense = dense;
    this.#shares = shares;
    this.#has = new Int32Array(dense.size.processes);
    this.#floor = new Int32Array(dense.size.processes);
    this.#isUneven = new Uint8Array(dense.size.processes);
  }

  /** Turns to a subtopology; `dense.taskProc` says where its tasks are. */
  start(subtopology: number): void {
    const { size, base, taskProc, active } = this.#dense;
    const { members, memberCount } = this.#shares;
    const from = at(base, subtopology);
    const to = at(base, subtopology + 1);
    let taskCount = 0;
    this.#has.fill(0);
    for (let task = from; task < to; task++) {
      if (at(active, task) !== -1) continue;
      taskCount++;
      const process = at(taskProc, task);
      if (process !== -1) this.#has[process] = at(this.#has, process) + 1;
    }
    this.#above = taskCount;
    for (let p = 0; p < size.processes; p++) {
      const share = taskCount * at(members, p);
      this.#floor[p] = Math.floor(share / memberCount);
      this.#isUneven[p] = share % memberCount === 0 ? 0 : 1;
      this.#above -= at(this.#floor, p);
    }
    for (let p = 0; p < size.processes; p++) {
      this.#above -= Math.max(0, at(this.#has, p) - at(this.#floor, p));
    }
  }

  /** Whether one more on the process keeps the subtopology even. */
  hasRoom(process: number): boolean {
    const over = at(this.#has, process) - at(this.#floor, process);
    return over < 0 || (over === 0 && this.#isUneven[process] === 1 && this.#above > 0);
  }

  /** Whether the process has less than the whole part of its share. */
  isBelow(process: number): boolean {
    return at(this.#has, process) < at(this.#floor, process);
  }

  /** Of the processes that have room, the one that makes the subtopology the least uneven. Looks at each. */
  leastUneven(room: Int32Array): number {
    let best = -1;
    for (let p = 0; p < room.length; p++) {
      if (at(room, p) <= 0) continue;
      if (best === -1 || this.#over(p) < this.#over(best)) best = p;
    }
    return best;
  }

  #over(process: number): number {
    return at(this.#has, process) - at(this.#floor, process) - (this.#isUneven[process] as number);
  }

  /** Puts one task more on the process. */
  add(process: number): void {
    if (at(this.#has, process) >= at(this.#floor, process)) this.#above--;
    this.#has[process] = at(this.#has, process) + 1;
  }

  /** Takes one task from the process. */
  remove(process: number): void {
    this.#has[process] = at(this.#has, process) - 1;
    if (at(this.#has, process) >= at(this.#floor, process)) this.#above++;
  }
}
