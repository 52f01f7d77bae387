import { isWithin, lagBetween, NOT_STARTED, offsetsByTask } from '../../model/lag.ts';
import type { Position } from '../../model/refinement.ts';
import { hasTask, taskKey } from '../../model/task-list.ts';
import type { Role, TaskList, TaskOffset, TasksByRole } from '../../model/tasks.ts';

/** A member as the refiner sees it. */
export type RefinerMember = {
  readonly memberId: string;
  readonly processId: string;
  /** What it has now, without what it is to give up. */
  readonly assigned: TasksByRole;
  /** The warm-ups it is to give up and has until it says that it did. */
  readonly revokedWarmups: TaskList;
  /** What the assignor wants it to have: active and standby tasks. */
  readonly target: TasksByRole;
  readonly taskOffsets: readonly TaskOffset[];
  readonly taskEndOffsets: readonly TaskOffset[];
  /** Wall clock, ms, at which the last of these lists came; undefined = none did. */
  readonly reportedAtMs: number | undefined;
  /** Whether it reports how far its copies are; `unknown`: it was not heard since a load (OFS-4). */
  readonly reportsCopies: 'yes' | 'no' | 'unknown';
};

/** A copy of a task that a member has now. */
export type Copy = { readonly member: RefinerMember; readonly role: Exclude<Role, 'active'> };

/** What a member last reported of one task. */
type Report = { readonly offset: bigint | undefined; readonly end: bigint | undefined };

/** A stateful task that is not active where the target wants it, with all that is known of it. */
export type Mover = {
  readonly subtopologyId: string;
  readonly partition: number;
  readonly key: string;
  /** Who has it as its active task. Of two, the one with the lower id. */
  readonly holder: RefinerMember | undefined;
  /** Whom the target names. */
  readonly owner: RefinerMember | undefined;
  /** By member id. */
  readonly copies: Copy[];
  /** The members the target wants to have a standby, by id. */
  readonly standbyTargets: RefinerMember[];
  readonly reports: Map<RefinerMember, Report>;
};

/** Gives every stateful task a number, in (subtopology, partition) order. */
class TaskNumbers {
  readonly count: number;
  readonly #ranges = new Map<string, { readonly first: number; readonly taskCount: number }>();

  constructor(
    subtopologies: readonly {
      readonly subtopologyId: string;
      readonly taskCount: number;
      readonly stateful: boolean;
    }[],
  ) {
    let first = 0;
    for (const { subtopologyId, taskCount, stateful } of subtopologies) {
      if (!stateful) continue;
      this.#ranges.set(subtopologyId, { first, taskCount });
      first += taskCount;
    }
    this.count = first;
  }

  /** Undefined: no stateful task of this topology. */
  numberOf(subtopologyId: string, partition: number): number | undefined {
    const range = this.#ranges.get(subtopologyId);
    return range === undefined || partition >= range.taskCount
      ? undefined
      : range.first + partition;
  }

  forEachIn(tasks: TaskList, each: (task: number) => void): void {
    for (const { subtopologyId, partitions } of tasks) {
      const range = this.#ranges.get(subtopologyId);
      if (range === undefined) continue;
      for (const partition of partitions) {
        if (partition < range.taskCount) each(range.first + partition);
      }
    }
  }

  forEach(each: (task: number, subtopologyId: string, partition: number) => void): void {
    for (const [subtopologyId, { first, taskCount }] of this.#ranges) {
      for (let at = 0; at < taskCount; at++) each(first + at, subtopologyId, at);
    }
  }
}

/** Stateful tasks per member of each process, in all roles (WU-7). */
export class Loads {
  readonly #processes = new Map<string, { tasks: number; members: number }>();

  addMember(processId: string, tasks: number): void {
    const known = this.#processes.get(processId);
    if (known === undefined) this.#processes.set(processId, { tasks, members: 1 });
    else {
      known.tasks += tasks;
      known.members++;
    }
  }

  addTasks(processId: string, tasks: number): void {
    const known = this.#processes.get(processId);
    if (known !== undefined) known.tasks += tasks;
  }

  of(processId: string): number {
    const known = this.#processes.get(processId);
    return known === undefined ? 0 : known.tasks / known.members;
  }
}

/** Everything the refiner decides by. */
export type Facts = {
  /** In (subtopology, partition) order. */
  readonly movers: readonly Mover[];
  readonly loads: Loads;
  /** How many warm-ups of stateful tasks members have, with those they are to give up. */
  readonly warmupCount: number;
  readonly acceptableRecoveryLag: bigint;
  /** What {@link restoringLagOf} found so far. */
  readonly restoringLags: Map<RefinerMember, bigint>;
};

/**
 * Finds the stateful tasks that are not active where the target wants them, and what is known of each.
 *
 * @param members by member id.
 */
export function gatherFacts(input: {
  readonly subtopologies: ConstructorParameters<typeof TaskNumbers>[0];
  readonly members: readonly RefinerMember[];
  readonly acceptableRecoveryLag: bigint;
}): Facts {
  const { members, acceptableRecoveryLag } = input;
  const numbers = new TaskNumbers(input.subtopologies);
  const { movers, byNumber } = findMovers(numbers, members);
  const loads = new Loads();
  let warmupCount = 0;
  for (const member of members) {
    const { active, standby, warmup } = member.assigned;
    let held = 0;
    for (const list of [active, standby, warmup]) numbers.forEachIn(list, () => held++);
    for (const list of [warmup, member.revokedWarmups]) {
      numbers.forEachIn(list, () => warmupCount++);
    }
    loads.addMember(member.processId, held);
    if (movers.length === 0) continue;
    for (const role of ['standby', 'warmup'] as const) {
      numbers.forEachIn(member.assigned[role], (task) =>
        byNumber[task]?.copies.push({ member, role }),
      );
    }
    numbers.forEachIn(member.target.standby, (task) => byNumber[task]?.standbyTargets.push(member));
    readReports(member, (id, at) => byNumber[numbers.numberOf(id, at) ?? -1]);
  }
  return { movers, loads, warmupCount, acceptableRecoveryLag, restoringLags: new Map() };
}

function findMovers(
  numbers: TaskNumbers,
  members: readonly RefinerMember[],
): { readonly movers: readonly Mover[]; readonly byNumber: readonly (Mover | undefined)[] } {
  const holders = new Array<RefinerMember | undefined>(numbers.count).fill(undefined);
  const owners = new Array<RefinerMember | undefined>(numbers.count).fill(undefined);
  for (const member of members) {
    numbers.forEachIn(member.assigned.active, (task) => {
      holders[task] ??= member;
    });
    numbers.forEachIn(member.target.active, (task) => {
      owners[task] ??= member;
    });
  }
  const movers: Mover[] = [];
  const byNumber = new Array<Mover | undefined>(numbers.count).fill(undefined);
  numbers.forEach((task, subtopologyId, partition) => {
    const holder = holders[task];
    const owner = owners[task];
    if (holder === owner && owner !== undefined) return;
    const key = taskKey(subtopologyId, partition);
    const lists = { copies: [], standbyTargets: [], reports: new Map() };
    const mover: Mover = { subtopologyId, partition, key, holder, owner, ...lists };
    byNumber[task] = mover;
    movers.push(mover);
  });
  return { movers, byNumber };
}

function readReports(
  member: RefinerMember,
  moverOf: (subtopologyId: string, partition: number) => Mover | undefined,
): void {
  for (const { subtopologyId, partition, offset } of member.taskOffsets) {
    moverOf(subtopologyId, partition)?.reports.set(member, { offset, end: undefined });
  }
  for (const { subtopologyId, partition, offset: end } of member.taskEndOffsets) {
    const reports = moverOf(subtopologyId, partition)?.reports;
    reports?.set(member, { offset: reports.get(member)?.offset, end });
  }
}

function lagOf(mover: Mover, member: RefinerMember): bigint | undefined {
  const report = mover.reports.get(member);
  return report === undefined ? undefined : lagBetween(report.offset, report.end);
}

/** The member's state of the task is known to be within the acceptable lag. */
export function isCaughtUp(facts: Facts, mover: Mover, member: RefinerMember): boolean {
  return isWithin(lagOf(mover, member), facts.acceptableRecoveryLag);
}

/**
 * Where a copy on a process is of which its member cannot tell how far it has to go: so it is for good where a changelog
 * of the task is empty, and at first with any. The time is that of the report.
 */
export function endlessCopyOn(mover: Mover, processId: string): Position | undefined {
  for (const { member } of copiesOn(mover, processId)) {
    const report = mover.reports.get(member);
    if (report?.offset === undefined || report.offset === NOT_STARTED) continue;
    if (report.end === NOT_STARTED && member.reportedAtMs !== undefined) {
      return { offset: report.offset, atMs: member.reportedAtMs };
    }
  }
  return undefined;
}

/** The member has restored something of the task. */
export function hasStarted(mover: Mover, member: RefinerMember): boolean {
  const offset = mover.reports.get(member)?.offset;
  return offset !== undefined && offset !== NOT_STARTED;
}

/**
 * The member that has the task as its active one processes it, rather than restoring it (WU-6).
 *
 * Clients leave a running task out of both lists, but its entry goes from the list of offsets only when that is sent
 * again, up to a task offset interval later, while the list of ends is news at once: an offset without an end is of
 * the past.
 */
export function isHot(facts: Facts, mover: Mover, holder: RefinerMember): boolean {
  const report = mover.reports.get(holder);
  const restores = report?.offset !== undefined && report.end !== undefined;
  return !restores || isCaughtUp(facts, mover, holder);
}

/**
 * How much a member has left to restore of its active tasks, those within the acceptable lag apart; until it is 0, its
 * warm-ups stand still.
 */
export function restoringLagOf(facts: Facts, member: RefinerMember): bigint {
  const known = facts.restoringLags.get(member);
  if (known !== undefined) return known;
  const left = sumRestoringLags(member, facts.acceptableRecoveryLag);
  facts.restoringLags.set(member, left);
  return left;
}

/** As {@link restoringLagOf}, counted anew. */
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
  const offsets = offsetsByTask(taskOffsets, isActive);
  let left = 0n;
  for (const [task, end] of offsetsByTask(taskEndOffsets, isActive)) {
    const offset = offsets.get(task);
    if (offset === undefined) continue;
    // A restoration that has not started has all of it left.
    const lag = lagBetween(offset, end) ?? (end === NOT_STARTED ? 0n : end);
    if (lag > acceptableRecoveryLag) left += lag;
  }
  return left;
}

/** The copies on a process. */
export function copiesOn(mover: Mover, processId: string): readonly Copy[] {
  return mover.copies.filter(({ member }) => member.processId === processId);
}

/** The least lag of the copies on a process; undefined = unknown. */
export function leastLagOn(mover: Mover, processId: string): bigint | undefined {
  let least: bigint | undefined;
  for (const { member } of copiesOn(mover, processId)) {
    const lag = lagOf(mover, member);
    if (lag !== undefined && (least === undefined || lag < least)) least = lag;
  }
  return least;
}

/** A process that holds the task in no role has state of it on its disk (WU-6). */
export function isOnDisk(mover: Mover, processId: string): boolean {
  if (mover.holder?.processId === processId || copiesOn(mover, processId).length > 0) return false;
  for (const member of mover.reports.keys()) {
    if (member.processId === processId && hasStarted(mover, member)) return true;
  }
  return false;
}
