import { type Candidates, copyLists, newCandidates, renumber, roomFor } from './candidate-lists.ts';
import { at } from './dense.ts';
import type { MemberChange, MemberTasks } from './member-tasks.ts';

/** Longer lists than this are left to the library; an insertion sort would take its time. */
const SHORT_LIST = 16;

/**
 * The candidates of each task by rank: first those that hold the task now, then those that have it on disk; of these the
 * larger sum first, then the member with the smaller number. Sums that doubles do not tell apart are compared exactly.
 *
 * Source: assignors 4.
 */
export class RankedCandidates {
  readonly #taskCount: number;
  readonly #notStarted: number;
  #lists: Candidates;
  /** Lists of a time before, to be filled anew. */
  #spare: Candidates | undefined;
  #read: readonly MemberTasks[] = [];
  #copies = 0;
  #version = 0;

  /** @param notStarted what the sum "not started" is worth. */
  constructor(taskCount: number, notStarted: number) {
    this.#taskCount = taskCount;
    this.#notStarted = notStarted;
    this.#lists = newCandidates(taskCount, 0);
  }

  /** To be read until the next change. */
  get lists(): Candidates {
    return this.#lists;
  }

  get count(): number {
    return at(this.#lists.candStart, this.#taskCount);
  }

  /** How many of them hold the task, in whatever role. */
  get copies(): number {
    return this.#copies;
  }

  /** Changes whenever a task may have other candidates. */
  get version(): number {
    return this.#version;
  }

  /** Bytes that the lists take, those to be filled anew included. */
  get bytes(): number {
    return [this.#lists, this.#spare]
      .filter((each) => each !== undefined)
      .flatMap((each) => Object.values(each))
      .reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Makes all lists anew. */
  rebuild(read: readonly MemberTasks[]): void {
    this.#read = read;
    this.#version++;
    let count = 0;
    this.#copies = 0;
    for (let m = 0; m < read.length; m++) {
      const { tasks, copyCount } = read[m] as MemberTasks;
      count += tasks.length;
      this.#copies += copyCount;
    }
    this.#lists = newCandidates(this.#taskCount, count);
    if (count > 0) this.#rank(this.#lists);
  }

  #rank({ candStart, candDisk }: Candidates): void {
    const read = this.#read;
    for (let m = 0; m < read.length; m++) {
      const { tasks } = read[m] as MemberTasks;
      for (let i = 0; i < tasks.length; i++) {
        const next = (tasks[i] as number) + 1;
        candStart[next] = at(candStart, next) + 1;
      }
    }
    for (let t = 1; t < candStart.length; t++)
      candStart[t] = at(candStart, t) + at(candStart, t - 1);
    const next = candStart.slice();
    for (let m = 0; m < read.length; m++) {
      const { copyCount } = read[m] as MemberTasks;
      for (let i = 0; i < copyCount; i++) this.#insert(m, i, candStart, next);
    }
    candDisk.set(next.subarray(0, candDisk.length));
    for (let m = 0; m < read.length; m++) {
      const { copyCount, tasks } = read[m] as MemberTasks;
      for (let i = copyCount; i < tasks.length; i++) this.#insert(m, i, candDisk, next);
    }
    for (let t = 0; t < candDisk.length; t++) {
      this.#sortLong(t, at(candStart, t), at(candDisk, t));
      this.#sortLong(t, at(candDisk, t), at(candStart, t + 1));
    }
  }

  /** Copies the lists of the tasks that nothing changed about, as many at once as lie together, and makes the others anew. */
  patch(
    read: readonly MemberTasks[],
    changes: readonly MemberChange[],
    renumbered: Int32Array | undefined,
  ): void {
    this.#read = read;
    const old = this.#lists;
    const changed = new Set<number>();
    const added = new Map<number, Candidate[]>();
    let count = this.count;
    for (const { before, beforeNumber, after, afterNumber } of changes) {
      changed.add(beforeNumber);
      for (const task of before?.tasks ?? []) if (!added.has(task)) added.set(task, []);
      count -= before?.tasks.length ?? 0;
      this.#copies -= before?.copyCount ?? 0;
      for (let i = 0; i < (after?.tasks.length ?? 0); i++) {
        const candidate = candidateOf(after as MemberTasks, afterNumber, i);
        const list = added.get(candidate.task);
        if (list === undefined) added.set(candidate.task, [candidate]);
        else list.push(candidate);
      }
      count += after?.tasks.length ?? 0;
      this.#copies += after?.copyCount ?? 0;
    }
    if (added.size === 0) {
      if (renumbered === undefined || count === 0) return;
      this.#version++;
      renumber(old.candMember, old.candMember, renumbered, 0, count);
      return;
    }
    this.#version++;
    const lists = this.#nextLists(count);
    const touched = Int32Array.from(added.keys()).sort();
    let from = 0;
    for (const task of touched) {
      copyLists(old, lists, from, task, renumbered);
      this.#patchList(old, lists, task, changed, renumbered, added.get(task) ?? []);
      from = task + 1;
    }
    copyLists(old, lists, from, this.#taskCount, renumbered);
    this.#spare = old;
    this.#lists = lists;
  }

  /** Lists to be filled, with anything in them. */
  #nextLists(count: number): Candidates {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare !== undefined && spare.candMember.length === roomFor(count)
      ? spare
      : newCandidates(this.#taskCount, count);
  }

  /** Makes one list out of the old one without those that changed, and those that were added. */
  #patchList(
    old: Candidates,
    lists: Candidates,
    task: number,
    changed: ReadonlySet<number>,
    renumbered: Int32Array | undefined,
    added: Candidate[],
  ): void {
    const start = at(lists.candStart, task);
    const all = added;
    for (let c = at(old.candStart, task); c < at(old.candStart, task + 1); c++) {
      const number = at(old.candMember, c);
      if (changed.has(number)) continue;
      all.push({
        task,
        member: renumbered === undefined ? number : at(renumbered, number),
        onDisk: c >= at(old.candDisk, task),
        role: old.candRole[c] as number,
        sum: old.candOffset[c] as number,
        caughtUp: old.candCaughtUp[c] as number,
      });
    }
    all.sort((a, b) => Number(a.onDisk) - Number(b.onDisk) || this.#byRank(a, b));
    for (const [i, candidate] of all.entries()) putCandidate(lists, start + i, candidate);
    lists.candDisk[task] = start + all.filter(({ onDisk }) => !onDisk).length;
    lists.candStart[task + 1] = start + all.length;
  }

  // --- ranks ------------------------------------------------------------------------------------------------------

  /** Puts a member's candidate in at its rank; the list begins at `start`, and ends before `next`. */
  #insert(m: number, i: number, start: Int32Array, next: Int32Array): void {
    const { candMember, candOffset, candRole, candCaughtUp } = this.#lists;
    const { tasks, sums, roles, caughtUp } = this.#read[m] as MemberTasks;
    const task = tasks[i] as number;
    const sum = sums[i] as number;
    const first = at(start, task);
    let place = at(next, task);
    next[task] = place + 1;
    if (place - first < SHORT_LIST) {
      for (; place > first && this.#isBetter(m, task, sum, place - 1); place--) {
        candMember[place] = at(candMember, place - 1);
        candOffset[place] = candOffset[place - 1] as number;
        candRole[place] = candRole[place - 1] as number;
        candCaughtUp[place] = candCaughtUp[place - 1] as number;
      }
    }
    candMember[place] = m;
    candOffset[place] = sum;
    candRole[place] = roles[i] as number;
    candCaughtUp[place] = caughtUp[i] as number;
  }

  /** Whether a member goes before the one at a place, whose number is smaller. */
  #isBetter(m: number, task: number, sum: number, place: number): boolean {
    const { candMember, candOffset } = this.#lists;
    const worth = this.#worth(sum);
    const other = this.#worth(candOffset[place] as number);
    if (worth !== other || worth <= Number.MAX_SAFE_INTEGER) return worth > other;
    return this.#exact(m, task) > this.#exact(at(candMember, place), task);
  }

  #byRank(a: RankedBy, b: RankedBy): number {
    const [worthA, worthB] = [this.#worth(a.sum), this.#worth(b.sum)];
    if (worthA !== worthB) return worthA > worthB ? -1 : 1;
    if (worthA > Number.MAX_SAFE_INTEGER) {
      const [exactA, exactB] = [this.#exact(a.member, a.task), this.#exact(b.member, b.task)];
      if (exactA !== exactB) return exactA > exactB ? -1 : 1;
    }
    return a.member - b.member;
  }

  #worth(sum: number): number {
    return sum === Infinity ? this.#notStarted : Math.max(0, sum);
  }

  #exact(m: number, task: number): bigint {
    return (this.#read[m] as MemberTasks).exact.get(task) ?? 0n;
  }

  #sortLong(task: number, from: number, to: number): void {
    if (to - from <= SHORT_LIST) return;
    const { candMember, candOffset, candRole, candCaughtUp } = this.#lists;
    const list = Array.from({ length: to - from }, (_, i) => ({
      task,
      onDisk: false,
      member: at(candMember, from + i),
      sum: candOffset[from + i] as number,
      role: candRole[from + i] as number,
      caughtUp: candCaughtUp[from + i] as number,
    }));
    list.sort((a, b) => this.#byRank(a, b));
    for (const [i, candidate] of list.entries()) putCandidate(this.#lists, from + i, candidate);
  }
}

type RankedBy = { readonly task: number; readonly member: number; readonly sum: number };
type Candidate = RankedBy & {
  readonly onDisk: boolean;
  readonly role: number;
  readonly caughtUp: number;
};

function candidateOf(read: MemberTasks, member: number, i: number): Candidate {
  return {
    task: read.tasks[i] as number,
    member,
    onDisk: i >= read.copyCount,
    role: read.roles[i] as number,
    sum: read.sums[i] as number,
    caughtUp: read.caughtUp[i] as number,
  };
}

function putCandidate(
  { candMember, candOffset, candRole, candCaughtUp }: Candidates,
  place: number,
  { member, sum, role, caughtUp }: Candidate,
): void {
  candMember[place] = member;
  candOffset[place] = sum;
  candRole[place] = role;
  candCaughtUp[place] = caughtUp;
}
