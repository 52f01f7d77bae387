import { at, type Dense } from './dense.ts';
import type { MemberTasks } from './member-tasks.ts';

/** Longer lists than this are left to the library; an insertion sort would take its time. */
const SHORT_LIST = 16;

/**
 * Writes candidates by task, each list by rank: first those that hold the task now, then those that have it on disk; of these
 * the larger sum first, then the member with the smaller number. Sums that doubles do not tell apart are compared
 * exactly.
 *
 * Source: assignors 4.
 */
export class CandidateWriter {
  readonly #dense: Dense;
  readonly #members: readonly MemberTasks[];
  /** What the sum "not started" is worth. */
  readonly #notStarted: number;
  #longLists = false;

  constructor(dense: Dense, members: readonly MemberTasks[], notStarted: number) {
    this.#dense = dense;
    this.#members = members;
    this.#notStarted = notStarted;
  }

  write(): void {
    const { candStart, candDisk, size } = this.#dense;
    const members = this.#members;
    candStart.fill(0);
    candDisk.fill(0);
    if (size.candidates === 0) return;
    for (let m = 0; m < members.length; m++) {
      const { tasks } = members[m] as MemberTasks;
      for (let i = 0; i < tasks.length; i++) {
        const next = (tasks[i] as number) + 1;
        candStart[next] = at(candStart, next) + 1;
      }
    }
    for (let t = 0; t < size.tasks; t++) candStart[t + 1] = at(candStart, t + 1) + at(candStart, t);
    const next = candStart.slice();
    for (let m = 0; m < members.length; m++) {
      this.#place(m, 0, (members[m] as MemberTasks).copyCount, candStart, next);
    }
    candDisk.set(next.subarray(0, size.tasks));
    for (let m = 0; m < members.length; m++) {
      const { copyCount, tasks } = members[m] as MemberTasks;
      this.#place(m, copyCount, tasks.length, candDisk, next);
    }
    if (this.#longLists) this.#sortLong();
  }

  /** Puts some of a member's candidates in at their ranks; lists begin at `start`, and end before `next`. */
  #place(m: number, from: number, to: number, start: Int32Array, next: Int32Array): void {
    if (from === to) return;
    const { candMember, candOffset, candRole, candCaughtUp } = this.#dense;
    const { tasks, sums, roles, caughtUp } = this.#members[m] as MemberTasks;
    for (let i = from; i < to; i++) {
      const task = tasks[i] as number;
      const first = at(start, task);
      let place = at(next, task);
      next[task] = place + 1;
      if (place - first >= SHORT_LIST) this.#longLists = true;
      else {
        for (; place > first && this.#isBetter(m, i, place - 1); place--) {
          candMember[place] = at(candMember, place - 1);
          candOffset[place] = candOffset[place - 1] as number;
          candRole[place] = candRole[place - 1] as number;
          candCaughtUp[place] = candCaughtUp[place - 1] as number;
        }
      }
      candMember[place] = m;
      candOffset[place] = sums[i] as number;
      candRole[place] = roles[i] as number;
      candCaughtUp[place] = caughtUp[i] as number;
    }
  }

  /** Whether a member's candidate goes before the one at a place, whose member has the smaller number. */
  #isBetter(m: number, i: number, place: number): boolean {
    const { tasks, sums } = this.#members[m] as MemberTasks;
    const sum = sums[i] as number;
    const worth = this.#worth(sum);
    const other = this.#worth(this.#dense.candOffset[place] as number);
    if (worth !== other || worth <= Number.MAX_SAFE_INTEGER) return worth > other;
    const task = tasks[i] as number;
    return this.#exact(m, task) > this.#exact(at(this.#dense.candMember, place), task);
  }

  #worth(sum: number): number {
    return sum === Infinity ? this.#notStarted : Math.max(0, sum);
  }

  #exact(m: number, task: number): bigint {
    return (this.#members[m] as MemberTasks).exact.get(task) ?? 0n;
  }

  #sortLong(): void {
    const { size, candStart, candDisk } = this.#dense;
    for (let t = 0; t < size.tasks; t++) {
      this.#sort(t, at(candStart, t), at(candDisk, t));
      this.#sort(t, at(candDisk, t), at(candStart, t + 1));
    }
  }

  #sort(task: number, from: number, to: number): void {
    if (to - from <= SHORT_LIST) return;
    const { candMember, candOffset, candRole, candCaughtUp } = this.#dense;
    const list = Array.from({ length: to - from }, (_, i) => ({
      member: at(candMember, from + i),
      sum: candOffset[from + i] as number,
      role: candRole[from + i] as number,
      caughtUp: candCaughtUp[from + i] as number,
    }));
    list.sort((a, b) => {
      const lead = this.#worth(b.sum) - this.#worth(a.sum);
      // Infinity less itself is no number.
      if (lead !== 0 && !Number.isNaN(lead)) return lead;
      const [exactA, exactB] = [this.#exact(a.member, task), this.#exact(b.member, task)];
      return exactA > exactB ? -1 : exactA < exactB ? 1 : a.member - b.member;
    });
    list.forEach(({ member, sum, role, caughtUp }, i) => {
      candMember[from + i] = member;
      candOffset[from + i] = sum;
      candRole[from + i] = role;
      candCaughtUp[from + i] = caughtUp;
    });
  }
}
