import { type Candidates, copyLists, newCandidates, renumber, roomFor } from './candidate-lists.ts';
import { at, type Dense } from './dense.ts';
import type { MemberTasks } from './member-tasks.ts';
import { numbersBefore, TasksByMember } from './tasks-by-member.ts';

/** What a member had and has, and its number before and after; undefined and -1: it was not there, or is no more. */
export type MemberChange = {
  readonly before: MemberTasks | undefined;
  readonly beforeNumber: number;
  readonly after: MemberTasks | undefined;
  readonly afterNumber: number;
};

/** What of a view bears on who is a candidate of what. */
export type StateRules = {
  readonly isStateful: (task: number) => boolean;
  /** Of two members that claim one active task the first one has it, and the other is a candidate; else the last. */
  readonly firstClaimCounts: boolean;
  /** What the sum "not started" is worth when candidates are ranked. */
  readonly notStarted: number;
  /** What was read of a member, with the tasks as ones that it is a candidate of. */
  readonly withLostClaims: (
    read: MemberTasks,
    member: number,
    tasks: readonly number[],
  ) => MemberTasks;
};

/** Longer lists than this are left to the library; an insertion sort would take its time. */
const SHORT_LIST = 16;
/** More changes than this share of all state, and making everything anew is faster. */
const PATCHED_SHARE = 1 / 8;

/**
 * Who has which task as active, and who else may have state of it. Candidates come by rank: first those that hold the
 * task now, then those that have it on disk; of these the larger sum first, then the member with the smaller number.
 * Sums that doubles do not tell apart are compared exactly.
 *
 * Few changes are put into what is there, at the cost of copying numbers; what comes of it does not depend on the way.
 *
 * Source: assignors 4.
 */
export class StateByTask {
  readonly #rules: StateRules;
  readonly #prevActive: Int32Array;
  #candidates: Candidates;
  /** Lists of a time before, to be filled anew. */
  #spare: Candidates | undefined;
  #read: readonly MemberTasks[] = [];
  /** The same by member: actives, copies and what is on disk. */
  readonly #activesOf: TasksByMember;
  readonly #copiesOf: TasksByMember;
  readonly #onDiskOf: TasksByMember;
  #held = 0;
  #copies = 0;
  /** Somebody claims an active task of another member. */
  #contested = false;
  #activesVersion = 0;
  #candidatesVersion = 0;

  constructor(taskCount: number, rules: StateRules) {
    this.#rules = rules;
    this.#prevActive = new Int32Array(taskCount).fill(-1);
    this.#candidates = newCandidates(taskCount, 0);
    const { isStateful } = rules;
    this.#activesOf = new TasksByMember(({ active }) => active, isStateful);
    this.#copiesOf = new TasksByMember(
      ({ tasks, copyCount }) => tasks.slice(0, copyCount),
      isStateful,
    );
    this.#onDiskOf = new TasksByMember(
      ({ tasks, copyCount }) => tasks.slice(copyCount),
      isStateful,
    );
  }

  /** Tasks that somebody has as active. */
  get held(): number {
    return this.#held;
  }

  get candidateCount(): number {
    return at(this.#candidates.candStart, this.#prevActive.length);
  }

  /** Changes whenever a task may be somebody else's. */
  get activesVersion(): number {
    return this.#activesVersion;
  }

  /** Changes whenever a task may have other candidates. */
  get candidatesVersion(): number {
    return this.#candidatesVersion;
  }

  /** Bytes that its lists take, those to be filled anew included. */
  get bytes(): number {
    const lists = [this.#candidates, this.#spare].filter((each) => each !== undefined);
    return lists.reduce(
      (sum, each) =>
        sum + Object.values(each).reduce((bytes, { byteLength }) => bytes + byteLength, 0),
      this.#prevActive.byteLength +
        this.#activesOf.bytes +
        this.#copiesOf.bytes +
        this.#onDiskOf.bytes,
    );
  }

  /** Candidates that hold the task, in whatever role. */
  get copies(): number {
    return this.#copies;
  }

  /**
   * Takes the members as they are now.
   *
   * @param read by number.
   * @param changes all there are since the last update.
   * @param renumbered the number now by the number before, -1 for who is gone, in the same order; undefined: no number
   *   is another one.
   */
  update(
    read: readonly MemberTasks[],
    changes: readonly MemberChange[],
    renumbered: Int32Array | undefined,
  ): void {
    this.#read = read;
    let changed = 0;
    for (const { before, after } of changes) changed += weightOf(before) + weightOf(after);
    const all = this.#prevActive.length + this.candidateCount;
    const isPatched =
      !this.#contested &&
      this.#rules.firstClaimCounts &&
      changed <= all * PATCHED_SHARE &&
      this.#patchActives(changes, renumbered);
    if (!isPatched) {
      this.#rebuild();
      return;
    }
    this.#patchCandidates(changes, renumbered);
    const before = numbersBefore(read.length, changes, renumbered);
    for (const lists of [this.#activesOf, this.#copiesOf, this.#onDiskOf]) {
      lists.patch(read.length, changes, before);
    }
  }

  copyActives({ prevActive, heldTask }: Dense): void {
    // Filling is several times faster than copying into shared memory.
    if (this.#held === 0) prevActive.fill(-1);
    else prevActive.set(this.#prevActive);
    heldTask.set(this.#activesOf.tasks);
    heldTask.fill(-1, this.#held);
  }

  /** Where each member's list of actives is. */
  copyHeldLists({ heldStart, heldStateful }: Dense): void {
    heldStart.set(this.#activesOf.start);
    heldStateful.set(this.#activesOf.stateful);
  }

  /** Where each task's list of candidates is. */
  copyLists({ candStart, candDisk }: Dense): void {
    candStart.set(this.#candidates.candStart);
    candDisk.set(this.#candidates.candDisk);
  }

  copyCandidates(dense: Dense): void {
    const { candMember, candRole, candCaughtUp, copyStart, diskStart, candTask } = dense;
    const copies = this.#copiesOf.tasks.length;
    copyStart.set(this.#copiesOf.start);
    for (let m = 0; m < diskStart.length; m++) {
      diskStart[m] = copies + at(this.#onDiskOf.start, m);
    }
    const count = this.candidateCount;
    if (count === 0) return;
    candMember.set(this.#candidates.candMember.subarray(0, count));
    candRole.set(this.#candidates.candRole.subarray(0, count));
    candCaughtUp.set(this.#candidates.candCaughtUp.subarray(0, count));
    candTask.set(this.#copiesOf.tasks);
    candTask.set(this.#onDiskOf.tasks, copies);
  }

  /** The offset sums of all candidates, rounded above 2^53: -1 unknown, Infinity not started. The order of the lists is the exact one. */
  offsets(): Float64Array {
    return this.#candidates.candOffset.slice(0, this.candidateCount);
  }

  // --- everything anew --------------------------------------------------------------------------------------------

  #rebuild(): void {
    this.#activesVersion++;
    this.#candidatesVersion++;
    const read = this.#claimActives(this.#read);
    this.#read = read;
    let count = 0;
    this.#copies = 0;
    for (let m = 0; m < read.length; m++) {
      const { tasks, copyCount } = read[m] as MemberTasks;
      count += tasks.length;
      this.#copies += copyCount;
    }
    const lists = newCandidates(this.#prevActive.length, count);
    this.#candidates = lists;
    if (count > 0) this.#rankCandidates(lists);
    this.#listByMember(lists);
  }

  #rankCandidates(lists: Candidates): void {
    const read = this.#read;
    const { candStart, candDisk } = lists;
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

  #listByMember({ candStart, candDisk, candMember }: Candidates): void {
    const memberCount = this.#read.length;
    const prevActive = this.#prevActive;
    this.#activesOf.rebuild(memberCount, (visit) => {
      for (let task = 0; task < prevActive.length; task++) {
        const holder = at(prevActive, task);
        if (holder !== -1) visit(task, holder);
      }
    });
    this.#copiesOf.rebuild(memberCount, (visit) => {
      for (let task = 0; task < prevActive.length; task++) {
        for (let c = at(candStart, task); c < at(candDisk, task); c++)
          visit(task, at(candMember, c));
      }
    });
    this.#onDiskOf.rebuild(memberCount, (visit) => {
      for (let task = 0; task < prevActive.length; task++) {
        for (let c = at(candDisk, task); c < at(candStart, task + 1); c++) {
          visit(task, at(candMember, c));
        }
      }
    });
  }

  /** @returns what was read, where those whose claims do not count are candidates instead. */
  #claimActives(read: readonly MemberTasks[]): readonly MemberTasks[] {
    const prevActive = this.#prevActive;
    const { firstClaimCounts, withLostClaims } = this.#rules;
    const lost = new Map<number, number[]>();
    prevActive.fill(-1);
    this.#held = 0;
    for (let m = 0; m < read.length; m++) {
      const { active } = read[m] as MemberTasks;
      for (let i = 0; i < active.length; i++) {
        const task = active[i] as number;
        const isFree = at(prevActive, task) === -1;
        if (isFree) this.#held++;
        if (isFree || !firstClaimCounts) prevActive[task] = m;
        else if (lost.get(m)?.push(task) === undefined) lost.set(m, [task]);
      }
    }
    this.#contested = lost.size > 0;
    if (!this.#contested) return read;
    return read.map((each, m) => {
      const tasks = lost.get(m);
      return tasks === undefined ? each : withLostClaims(each, m, tasks);
    });
  }

  // --- what changed -----------------------------------------------------------------------------------------------

  /** @returns whether no active task is claimed twice; else everything has to be made anew. */
  #patchActives(changes: readonly MemberChange[], renumbered: Int32Array | undefined): boolean {
    const prevActive = this.#prevActive;
    const isTouched =
      changes.some(({ before, after }) => hasActives(before) || hasActives(after)) ||
      (renumbered !== undefined && this.#held > 0);
    if (!isTouched) return true;
    this.#activesVersion++;
    for (const { before, beforeNumber } of changes) {
      for (const task of before?.active ?? []) {
        if (at(prevActive, task) !== beforeNumber) continue;
        prevActive[task] = -1;
        this.#held--;
      }
    }
    if (renumbered !== undefined)
      renumber(prevActive, prevActive, renumbered, 0, prevActive.length);
    for (const { after, afterNumber } of changes) {
      for (const task of after?.active ?? []) {
        if (at(prevActive, task) !== -1) return false;
        prevActive[task] = afterNumber;
        this.#held++;
      }
    }
    return true;
  }

  /** Copies the lists of the tasks that nothing changed about, as many at once as lie together, and makes the others anew. */
  #patchCandidates(changes: readonly MemberChange[], renumbered: Int32Array | undefined): void {
    const old = this.#candidates;
    const changed = new Set<number>();
    const added = new Map<number, Candidate[]>();
    let count = this.candidateCount;
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
      this.#candidatesVersion++;
      renumber(old.candMember, old.candMember, renumbered, 0, count);
      return;
    }
    this.#candidatesVersion++;
    const lists = this.#nextLists(count);
    const touched = Int32Array.from(added.keys()).sort();
    let from = 0;
    for (const task of touched) {
      copyLists(old, lists, from, task, renumbered);
      this.#patchList(old, lists, task, changed, renumbered, added.get(task) ?? []);
      from = task + 1;
    }
    copyLists(old, lists, from, this.#prevActive.length, renumbered);
    this.#spare = old;
    this.#candidates = lists;
  }

  /** Lists to be filled, with anything in them. */
  #nextLists(count: number): Candidates {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare !== undefined && spare.candMember.length === roomFor(count)
      ? spare
      : newCandidates(this.#prevActive.length, count);
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
    const { candMember, candOffset, candRole, candCaughtUp } = this.#candidates;
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
    const { candMember, candOffset } = this.#candidates;
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
    return sum === Infinity ? this.#rules.notStarted : Math.max(0, sum);
  }

  #exact(m: number, task: number): bigint {
    return (this.#read[m] as MemberTasks).exact.get(task) ?? 0n;
  }

  #sortLong(task: number, from: number, to: number): void {
    if (to - from <= SHORT_LIST) return;
    const { candMember, candOffset, candRole, candCaughtUp } = this.#candidates;
    const list = Array.from({ length: to - from }, (_, i) => ({
      task,
      onDisk: false,
      member: at(candMember, from + i),
      sum: candOffset[from + i] as number,
      role: candRole[from + i] as number,
      caughtUp: candCaughtUp[from + i] as number,
    }));
    list.sort((a, b) => this.#byRank(a, b));
    for (const [i, candidate] of list.entries())
      putCandidate(this.#candidates, from + i, candidate);
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

function hasActives(read: MemberTasks | undefined): boolean {
  return read !== undefined && read.active.length > 0;
}

function weightOf(read: MemberTasks | undefined): number {
  return read === undefined ? 0 : read.active.length + read.tasks.length;
}
