import { isWithin, lagBetween, NOT_STARTED, offsetsByTask } from '../../model/lag.ts';
import type { Position } from '../../model/refinement.ts';
import { NONE, type RefinerMember, type Survey } from '../../model/survey.ts';
import { hasTask } from '../../model/task-list.ts';
import { copiesOn, moverOf, processOf } from './survey.ts';

type Offsets = (bigint | undefined)[];

/**
 * What members report of the movers. A member's lists are put to its tasks when it is asked for first, so that of a group
 * only those are read on whom something depends.
 */
export class Reports {
  readonly acceptableRecoveryLag: bigint;
  /** By member, as far as it was asked for: how much it has left to restore of its active tasks. */
  readonly restoringLags: Offsets;
  readonly #survey: Survey;
  /** By member. */
  readonly #isHeard: Uint8Array;
  readonly #mayRestore: Uint8Array;
  /** By process. */
  readonly #isAllHeard: Uint8Array;
  /** By mover: what its holder says, which is nothing of most. */
  readonly #holderOffsets = new Map<number, bigint>();
  readonly #holderEnds = new Map<number, bigint>();
  /** By copy. */
  readonly #offsets: Offsets;
  readonly #ends: Offsets;
  /** By mover: a member of the owner's process that has been asked for has restored something of it. */
  readonly #isBegun: Uint8Array;

  /** @param restoringLags what is known of them; empty places are filled. */
  constructor(
    survey: Survey,
    acceptableRecoveryLag: bigint,
    restoringLags: Offsets = new Array(survey.members.length),
  ) {
    this.#survey = survey;
    this.acceptableRecoveryLag = acceptableRecoveryLag;
    const { members, holders, copies, processes } = survey;
    this.#isHeard = new Uint8Array(members.length);
    this.#mayRestore = new Uint8Array(members.length);
    this.restoringLags = restoringLags;
    this.#isAllHeard = new Uint8Array(processes.sizes.length);
    this.#offsets = new Array(copies.members.length);
    this.#ends = new Array(copies.members.length);
    this.#isBegun = new Uint8Array(holders.length);
  }

  /** How far a copy is behind; undefined = unknown. */
  lagOf(copy: number): bigint | undefined {
    this.#hear(this.#memberOf(copy));
    return lagBetween(this.#offsets[copy], this.#ends[copy]);
  }

  /** What is reported of a copy is known to be within the acceptable lag. */
  isCaughtUp(copy: number): boolean {
    return isWithin(this.lagOf(copy), this.acceptableRecoveryLag);
  }

  /** Something of a copy was restored. */
  hasStarted(copy: number): boolean {
    this.#hear(this.#memberOf(copy));
    const offset = this.#offsets[copy];
    return offset !== undefined && offset !== NOT_STARTED;
  }

  /** The least lag of some copies; undefined = unknown. */
  leastLagOf(copies: readonly number[]): bigint | undefined {
    let least: bigint | undefined;
    for (const copy of copies) {
      const lag = this.lagOf(copy);
      if (lag !== undefined && (least === undefined || lag < least)) least = lag;
    }
    return least;
  }

  /**
   * Where the first of some copies is of which its member cannot tell how far it has to go: so it is for good where a
   * changelog of the task is empty, and at first with any. The time is that of the report.
   */
  endlessOf(copies: readonly number[]): Position | undefined {
    for (const copy of copies) {
      if (!this.hasStarted(copy) || this.#ends[copy] !== NOT_STARTED) continue;
      const offset = this.#offsets[copy];
      const atMs = this.#survey.members[this.#memberOf(copy)]?.reportedAtMs;
      if (offset !== undefined && atMs !== undefined) return { offset, atMs };
    }
    return undefined;
  }

  /**
   * The holder of a mover processes it, rather than restoring it (WU-6).
   *
   * Clients leave a running task out of both lists, but its entry goes from the list of offsets only when that is sent
   * again, up to a task offset interval later, while the list of ends is news at once: an offset without an end is of
   * the past.
   */
  isHot(mover: number): boolean {
    const holder = this.#survey.holders[mover] ?? NONE;
    if (holder === NONE) return false;
    this.#hear(holder);
    const end = this.#holderEnds.get(mover);
    if (end === undefined) return true;
    const offset = this.#holderOffsets.get(mover);
    if (offset === undefined) return true;
    return isWithin(lagBetween(offset, end), this.acceptableRecoveryLag);
  }

  /** How much a member has left to restore of its active tasks; until it is 0, its warm-ups stand still. */
  restoringLagOf(member: number): bigint {
    const known = this.restoringLags[member];
    if (known !== undefined) return known;
    this.#hear(member);
    const reporter = this.#mayRestore[member] === 1 ? this.#survey.members[member] : undefined;
    const left =
      reporter === undefined ? 0n : sumRestoringLags(reporter, this.acceptableRecoveryLag);
    this.restoringLags[member] = left;
    return left;
  }

  /**
   * Nobody has the task as its active one, and the process of its owner, which has no copy, has state of it on its disk
   * (WU-6).
   */
  isOnDisk(mover: number): boolean {
    const { holders, owners } = this.#survey;
    const owner = owners[mover] ?? NONE;
    if (holders[mover] !== NONE || owner === NONE) return false;
    const process = processOf(this.#survey, owner);
    if (copiesOn(this.#survey, mover, process).length > 0) return false;
    this.#hearAllOf(process);
    return this.#isBegun[mover] === 1;
  }

  #memberOf(copy: number): number {
    return this.#survey.copies.members[copy] ?? NONE;
  }

  #hearAllOf(process: number): void {
    if (this.#isAllHeard[process] === 1) return;
    this.#isAllHeard[process] = 1;
    const { firstMember, nextMember } = this.#survey.processes;
    let member = firstMember[process] ?? NONE;
    for (; member !== NONE; member = nextMember[member] ?? NONE) this.#hear(member);
  }

  #hear(member: number): void {
    if (this.#isHeard[member] === 1) return;
    this.#isHeard[member] = 1;
    const reporter = this.#survey.members[member];
    if (reporter === undefined) return;
    for (const { subtopologyId, partition, offset } of reporter.taskOffsets) {
      const mover = moverOf(this.#survey, subtopologyId, partition);
      if (mover === NONE) continue;
      if (this.#isBegunBy(member, mover, offset)) this.#isBegun[mover] = 1;
      if (this.#survey.holders[mover] === member) this.#holderOffsets.set(mover, offset);
      const copy = this.#copyOf(member, mover);
      if (copy !== NONE) this.#offsets[copy] = offset;
    }
    for (const { subtopologyId, partition, offset } of reporter.taskEndOffsets) {
      const mover = moverOf(this.#survey, subtopologyId, partition);
      const copy = mover === NONE ? NONE : this.#copyOf(member, mover);
      if (copy !== NONE) this.#ends[copy] = offset;
      // Not of a copy: it may be of one of its active tasks.
      else this.#mayRestore[member] = 1;
      if (mover !== NONE && this.#survey.holders[mover] === member)
        this.#holderEnds.set(mover, offset);
    }
  }

  /** The copy of a mover that a member has, or `NONE`; a task is with it in one role at most. */
  #copyOf(member: number, mover: number): number {
    const { firsts, nexts, members } = this.#survey.copies;
    let copy = firsts[mover] ?? NONE;
    while (copy !== NONE && members[copy] !== member) copy = nexts[copy] ?? NONE;
    return copy;
  }

  /** Asked only where nobody has the task: elsewhere it makes no difference. */
  #isBegunBy(member: number, mover: number, offset: bigint): boolean {
    const { holders, owners } = this.#survey;
    if (holders[mover] !== NONE || owners[mover] === NONE || offset === NOT_STARTED) return false;
    return processOf(this.#survey, owners[mover] ?? NONE) === processOf(this.#survey, member);
  }
}

/** How much a member has left to restore of its active tasks, those within the acceptable lag apart. */
export function sumRestoringLags(
  {
    assigned,
    taskOffsets,
    taskEndOffsets,
  }: Pick<RefinerMember, 'assigned' | 'taskOffsets' | 'taskEndOffsets'>,
  acceptableRecoveryLag: bigint,
): bigint {
  const isActive = (subtopologyId: string, partition: number) =>
    hasTask(assigned.active, subtopologyId, partition);
  const ends = offsetsByTask(taskEndOffsets, isActive);
  // So it is with whoever runs its tasks.
  if (ends.size === 0) return 0n;
  const offsets = offsetsByTask(taskOffsets, isActive);
  let left = 0n;
  for (const [task, end] of ends) {
    const offset = offsets.get(task);
    if (offset === undefined) continue;
    // A restoration that has not started has all of it left.
    const lag = lagBetween(offset, end) ?? (end === NOT_STARTED ? 0n : end);
    if (lag > acceptableRecoveryLag) left += lag;
  }
  return left;
}
