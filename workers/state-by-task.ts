import { type Candidates, renumber } from './candidate-lists.ts';
import { at, type Dense } from './dense.ts';
import type { MemberChange, MemberTasks } from './member-tasks.ts';
import { RankedCandidates } from './ranked-candidates.ts';
import { numbersBefore, TasksByMember } from './tasks-by-member.ts';

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

/** More changes than this share of all state, and making everything anew is faster. */
const PATCHED_SHARE = 1 / 8;

/**
 * Who has which task as active, and who else may have state of it: by task, and by member.
 *
 * Few changes are put into what is there, at the cost of copying numbers; what comes of it does not depend on the way.
 *
 * Source: assignors 4.
 */
export class StateByTask {
  readonly #rules: StateRules;
  readonly #prevActive: Int32Array;
  readonly #candidates: RankedCandidates;
  #read: readonly MemberTasks[] = [];
  /** The same by member: actives, copies and what is on disk. */
  readonly #activesOf: TasksByMember;
  readonly #copiesOf: TasksByMember;
  readonly #onDiskOf: TasksByMember;
  #held = 0;
  /** Somebody claims an active task of another member. */
  #contested = false;
  #activesVersion = 0;

  constructor(taskCount: number, rules: StateRules) {
    this.#rules = rules;
    this.#prevActive = new Int32Array(taskCount).fill(-1);
    this.#candidates = new RankedCandidates(taskCount, rules.notStarted);
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
    return this.#candidates.count;
  }

  /** Changes whenever a task may be somebody else's. */
  get activesVersion(): number {
    return this.#activesVersion;
  }

  /** Changes whenever a task may have other candidates. */
  get candidatesVersion(): number {
    return this.#candidates.version;
  }

  /** Bytes that its lists take. */
  get bytes(): number {
    const lists = [this.#candidates, this.#activesOf, this.#copiesOf, this.#onDiskOf];
    return lists.reduce((sum, { bytes }) => sum + bytes, this.#prevActive.byteLength);
  }

  /** Candidates that hold the task, in whatever role. */
  get copies(): number {
    return this.#candidates.copies;
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
    this.#candidates.patch(read, changes, renumbered);
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
    candStart.set(this.#candidates.lists.candStart);
    candDisk.set(this.#candidates.lists.candDisk);
  }

  copyCandidates(dense: Dense): void {
    const { candMember, candRole, candCaughtUp, copyStart, diskStart, candTask } = dense;
    const copies = this.#copiesOf.tasks.length;
    copyStart.set(this.#copiesOf.start);
    for (let m = 0; m < diskStart.length; m++) {
      diskStart[m] = copies + at(this.#onDiskOf.start, m);
    }
    const { count, lists } = this.#candidates;
    if (count === 0) return;
    candMember.set(lists.candMember.subarray(0, count));
    candRole.set(lists.candRole.subarray(0, count));
    candCaughtUp.set(lists.candCaughtUp.subarray(0, count));
    candTask.set(this.#copiesOf.tasks);
    candTask.set(this.#onDiskOf.tasks, copies);
  }

  /** The offset sums of all candidates, rounded above 2^53: -1 unknown, Infinity not started. The order of the lists is the exact one. */
  offsets(): Float64Array {
    return this.#candidates.lists.candOffset.slice(0, this.candidateCount);
  }

  // --- everything anew --------------------------------------------------------------------------------------------

  #rebuild(): void {
    this.#activesVersion++;
    this.#read = this.#claimActives(this.#read);
    this.#candidates.rebuild(this.#read);
    this.#listByMember(this.#candidates.lists);
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
}

function hasActives(read: MemberTasks | undefined): boolean {
  return read !== undefined && read.active.length > 0;
}

function weightOf(read: MemberTasks | undefined): number {
  return read === undefined ? 0 : read.active.length + read.tasks.length;
}
