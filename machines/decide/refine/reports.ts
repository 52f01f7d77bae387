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
  readonly #survey: Survey;
  /** By member. */
  readonly #isHeard: Uint8Array;
  readonly #restoringLags: Offsets;
  /** By process. */
  readonly #isAllHeard: Uint8Array;
  /** By mover: what its holder says. */
  readonly #holderOffsets: Offsets;
  readonly #holderEnds: Offsets;
  /** By copy. */
  readonly #offsets: Offsets;
  readonly #ends: Offsets;
  /** By mover: a member of the owner's process that has been asked for has restored something of it. */
  readonly #isBegun: Uint8Array;

  constructor(survey: Survey, acceptableRecoveryLag: bigint) {
    this.#survey = survey;
    this.acceptableRecoveryLag = acceptableRecoveryLag;
    const { members, holders, copies, processes } = survey;
    this.#isHeard = new Uint8Array(members.length);
    this.#restoringLags = new Array(members.length);
    this.#isAllHeard = new Uint8Array(processes.sizes.length);
    this.#holderOffsets = new Array(holders.length);
    this.#holderEnds = new Array(holders.length);
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
    const offset = this.#holderOffsets[mover];
    const end = this.#holderEnds[mover];
    if (offset === undefined || end === undefined) return true;
    return isWithin(lagBetween(offset, end), this.acceptableRecoveryLag);
  }

  /** How much a member has left to restore of its active tasks; until it is 0, its warm-ups stand still. */
  restoringLagOf(member: number): bigint {
    const known = this.#restoringLags[member];
    if (known !== undefined) return known;
    const reporter = this.#survey.members[member];
    const left =
      reporter === undefined ? 0n : sumRestoringLags(reporter, this.acceptableRecoveryLag);
    this.#restoringLags[member] = left;
    return left;
  }

  /** The process of the owner holds the task in no role, and has state of it on its disk (WU-6). */
  isOnDisk(mover: number): boolean {
    const { holders, owners } = this.#survey;
    const owner = owners[mover] ?? NONE;
    const holder = holders[mover] ?? NONE;
    if (owner === NONE) return false;
    const process = processOf(this.#survey, owner);
    if (holder !== NONE && processOf(this.#survey, holder) === process) return false;
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
      if (offset !== NOT_STARTED && this.#isOwnerBeside(mover, member)) this.#isBegun[mover] = 1;
      this.#put(mover, member, offset, this.#holderOffsets, this.#offsets);
    }
    for (const { subtopologyId, partition, offset } of reporter.taskEndOffsets) {
      const mover = moverOf(this.#survey, subtopologyId, partition);
      if (mover !== NONE) this.#put(mover, member, offset, this.#holderEnds, this.#ends);
    }
  }

  #put(mover: number, member: number, said: bigint, ofHolders: Offsets, ofCopies: Offsets): void {
    const { holders, copies } = this.#survey;
    if (holders[mover] === member) ofHolders[mover] = said;
    for (
      let copy = copies.firsts[mover] ?? NONE;
      copy !== NONE;
      copy = copies.nexts[copy] ?? NONE
    ) {
      if (copies.members[copy] === member) ofCopies[copy] = said;
    }
  }

  #isOwnerBeside(mover: number, member: number): boolean {
    const owner = this.#survey.owners[mover] ?? NONE;
    return owner !== NONE && processOf(this.#survey, owner) === processOf(this.#survey, member);
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
