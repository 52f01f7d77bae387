import { CopyTags } from './copy-tags.ts';
import { at, CANDIDATE, type Dense, isSet } from './dense.ts';
import { LAND, LEAVE } from './reason-codes.ts';
import { isAbove, type Standing, standingOf } from './standing.ts';
import type { Tally } from './tally.ts';

/**
 * Says why each task that is new to its member is there: into `dense.activeReason`, by task, and into `dense.standbyReason`,
 * beside `dense.standbyTask`. Reads problem and result alone, so it is true whatever assignor ran; only what moved is looked
 * at closely.
 *
 * See `LEAVING` and `LANDING` for what each reason promises.
 */
export function explainMoves(dense: Dense, tally: Tally): void {
  const standing = standingOf(dense, tally);
  explainActives(dense, tally, standing);
  explainStandbys(dense, standing);
}

function explainActives(dense: Dense, tally: Tally, standing: Standing): void {
  const { size, base, active, prevActive, candStart, activeReason } = dense;
  activeReason.fill(0);
  const held = new HeldOfSubtopology(dense, tally);
  for (let s = 0; s < size.subtopologies; s++) {
    const isStateful = isSet(dense.stateful, s);
    const leaves = isStateful ? standing.statefulLeaves : standing.statelessLeaves;
    const hasRoom = isStateful ? standing.hasRoomForStateful : standing.hasRoomForActive;
    for (let task = at(base, s); task < at(base, s + 1); task++) {
      const owner = at(active, task);
      const holder = at(prevActive, task);
      if (owner === holder || owner === -1) continue;
      let left: number;
      if (holder === -1) {
        const isUnheard = isStateful && at(candStart, task) === at(candStart, task + 1);
        left = isUnheard ? LEAVE.unheard : LEAVE.unowned;
      } else {
        left = leaves[holder] as number;
        if (left === 0 && held.isAboveShare(s, holder)) left = LEAVE.aboveSubtopologyShare;
        if (left === 0) left = (standing.fullOfActives[holder] as number) || LEAVE.assignor;
      }
      const state = stateAt(dense, task, owner, isStateful);
      activeReason[task] = left + (state || (hasRoom[owner] as number) || LAND.assignor);
    }
  }
}

function explainStandbys(dense: Dense, standing: Standing): void {
  const { size, standbyStart, standbyTask, standbyReason } = dense;
  const { candStart, candDisk, candMember, candRole } = dense;
  standbyReason.fill(0);
  if (size.slots === 0) return;
  const tags = new CopyTags(dense);
  const everywhere = new Everywhere(dense);
  for (let m = 0; m < size.members; m++) {
    for (let i = at(standbyStart, m); i < at(standbyStart, m + 1); i++) {
      const task = at(standbyTask, i);
      const disk = at(candDisk, task);
      let c = at(candStart, task);
      while (c < disk && at(candMember, c) !== m) c++;
      if (c < disk && candRole[c] === CANDIDATE.standby) continue;
      const landed =
        stateAt(dense, task, m, true) ||
        (size.tagKeys > 0 && tags.bringsValue(task, m) ? LAND.newTags : 0) ||
        (standing.hasRoomForStandby[m] as number) ||
        (everywhere.has(task) ? LAND.noOtherProcess : LAND.assignor);
      standbyReason[i] = whyNeeded(dense, task, m, { standing, tags }) + landed;
    }
  }
}

/** What the member or its process had of the task, as half of a code; 0: nothing. */
function stateAt(dense: Dense, task: number, member: number, isStateful: boolean): number {
  const { prevActive, procOf, candStart, candDisk, candMember, candRole } = dense;
  const holder = at(prevActive, task);
  if (holder === member) return LAND.wasActive;
  const process = at(procOf, member);
  let found = holder !== -1 && at(procOf, holder) === process ? LAND.processHad : 0;
  const disk = at(candDisk, task);
  for (let c = at(candStart, task); c < disk; c++) {
    const candidate = at(candMember, c);
    if (candidate === member) return COPY[candRole[c] as number] as number;
    if (at(procOf, candidate) === process) found = LAND.processHad;
  }
  if (found !== 0 || !isStateful) return found;
  for (let c = disk; c < at(candStart, task + 1); c++) {
    if (at(procOf, at(candMember, c)) === process) return LAND.onDisk;
  }
  return 0;
}

/** What it is called when the member itself had a copy, by the role of the candidate. */
const COPY: Readonly<Record<number, number>> = {
  [CANDIDATE.standby]: LAND.hadStandby,
  [CANDIDATE.warmup]: LAND.hadWarmup,
  [CANDIDATE.secondActive]: LAND.claimed,
};

/** Why the task has a standby that it had not. */
function whyNeeded(
  dense: Dense,
  task: number,
  member: number,
  { standing, tags }: { readonly standing: Standing; readonly tags: CopyTags },
): number {
  const { active, procOf, candStart, candDisk, candMember, candRole } = dense;
  const owner = at(active, task);
  let before = 0;
  let why: number = LEAVE.assignor;
  for (let c = at(candStart, task); c < at(candDisk, task); c++) {
    if (candRole[c] !== CANDIDATE.standby) continue;
    before++;
    const holder = at(candMember, c);
    if (isStandby(dense, task, holder)) continue;
    let own: number = LEAVE.assignor;
    if (owner !== -1 && at(procOf, owner) === at(procOf, holder)) own = LEAVE.copyPromoted;
    else if (tags.replacesLike(task, member, holder)) own = LEAVE.sameTags;
    else own = (standing.fullOfTasks[holder] as number) || LEAVE.assignor;
    why = Math.min(why, own);
  }
  return before < countStandbys(dense, task) ? LEAVE.tooFewCopies : why;
}

function isStandby({ size, standby }: Dense, task: number, member: number): boolean {
  for (let slot = task * size.slots; slot < (task + 1) * size.slots; slot++) {
    if (at(standby, slot) === member) return true;
  }
  return false;
}

function countStandbys({ size, standby }: Dense, task: number): number {
  let count = 0;
  for (let slot = task * size.slots; slot < (task + 1) * size.slots; slot++) {
    if (at(standby, slot) !== -1) count++;
  }
  return count;
}

/** How many actives of a subtopology members and processes had; counted when it is asked for. */
class HeldOfSubtopology {
  readonly #dense: Dense;
  readonly #tally: Tally;
  readonly #byMember: Int32Array;
  readonly #byProcess: Int32Array;
  #counted = -1;

  constructor(dense: Dense, tally: Tally) {
    this.#dense = dense;
    this.#tally = tally;
    this.#byMember = new Int32Array(dense.size.members);
    this.#byProcess = new Int32Array(dense.size.processes);
  }

  /** Whether the member, or its process, had more than its share of the subtopology. */
  isAboveShare(s: number, member: number): boolean {
    if (this.#counted !== s) this.#count(s);
    const { base, procOf } = this.#dense;
    const { sharers, procSharers } = this.#tally;
    const process = at(procOf, member);
    const taskCount = at(base, s + 1) - at(base, s);
    return (
      isAbove(at(this.#byMember, member), taskCount / sharers) ||
      isAbove(at(this.#byProcess, process), (taskCount * at(procSharers, process)) / sharers)
    );
  }

  #count(s: number): void {
    const { base, prevActive, procOf } = this.#dense;
    this.#byMember.fill(0);
    this.#byProcess.fill(0);
    for (let task = at(base, s); task < at(base, s + 1); task++) {
      const member = at(prevActive, task);
      if (member === -1) continue;
      const process = at(procOf, member);
      this.#byMember[member] = at(this.#byMember, member) + 1;
      this.#byProcess[process] = at(this.#byProcess, process) + 1;
    }
    this.#counted = s;
  }
}

/** Says whether every process with a fresh member has a copy of a task. */
class Everywhere {
  readonly #dense: Dense;
  readonly #isFresh: Uint8Array;
  readonly #freshCount: number;

  constructor(dense: Dense) {
    const { size, frozen, procOf } = dense;
    this.#dense = dense;
    this.#isFresh = new Uint8Array(size.processes);
    for (let m = 0; m < size.members; m++) {
      if (!isSet(frozen, m)) this.#isFresh[at(procOf, m)] = 1;
    }
    this.#freshCount = this.#isFresh.reduce((count, each) => count + each, 0);
  }

  has(task: number): boolean {
    const { size, active, standby } = this.#dense;
    let copies = this.#copyOn(at(active, task));
    for (let slot = task * size.slots; slot < (task + 1) * size.slots; slot++) {
      copies += this.#copyOn(at(standby, slot));
    }
    return copies === this.#freshCount;
  }

  #copyOn(member: number): number {
    return member === -1 ? 0 : (this.#isFresh[at(this.#dense.procOf, member)] as number);
  }
}
