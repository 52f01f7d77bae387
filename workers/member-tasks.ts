import type { AssignmentHolder, TaskReports } from '../machines/model/assignment.ts';
import { isWithin, lagBetween, NOT_STARTED } from '../machines/model/lag.ts';
import type { TaskOffset } from '../machines/model/tasks.ts';
import { at, CANDIDATE } from './dense.ts';
import type { TaskNumbers } from './task-numbers.ts';

/** What one member has and may have state of, in task numbers; tasks that the topology does not have are left out. */
export type MemberTasks = {
  readonly active: readonly number[];
  /** Tasks it is a candidate of, each once, those that it holds first; the lists below go with this one. */
  readonly tasks: readonly number[];
  readonly roles: readonly number[];
  /** Offset sum, rounded above 2^53: -1 unknown, Infinity not started. */
  readonly sums: readonly number[];
  /** 1 = the lag is within the bound, judged by the exact sums. */
  readonly caughtUp: readonly number[];
  /** By task, the sums that doubles do not tell apart. */
  readonly exact: ReadonlyMap<number, bigint>;
  /** How many of the tasks it holds; the others it only has on disk. */
  readonly copyCount: number;
};

/** What a member had and has, and its number before and after; undefined and -1: it was not there, or is no more. */
export type MemberChange = {
  readonly before: MemberTasks | undefined;
  readonly beforeNumber: number;
  readonly after: MemberTasks | undefined;
  readonly afterNumber: number;
};

const NOTHING_EXACT: ReadonlyMap<number, bigint> = new Map();

export const NO_MEMBER_TASKS: MemberTasks = {
  active: [],
  tasks: [],
  roles: [],
  sums: [],
  caughtUp: [],
  exact: NOTHING_EXACT,
  copyCount: 0,
};

/** Reads members one after the other; what it remembers of one is forgotten at the next. */
export class MemberReader {
  readonly #numbers: TaskNumbers;
  readonly #listed: Int32Array;
  readonly #offsets: StampedSums;
  readonly #ends: StampedSums;
  /** Only what bears the present stamp counts, so that nothing has to be cleared between members. */
  #stamp = 0;

  constructor(numbers: TaskNumbers) {
    this.#numbers = numbers;
    this.#listed = new Int32Array(numbers.count);
    // No state is behind its own beginning; but the end of an empty store may be one less than its position.
    this.#offsets = new StampedSums(numbers, 0n);
    this.#ends = new StampedSums(numbers, INT64_MIN);
  }

  /**
   * A member is a candidate of the tasks it has as standby or warm-up, and of those it only reports an offset for; never
   * of one it has as active.
   */
  read(
    { assigned }: AssignmentHolder,
    { taskOffsets, taskEndOffsets }: TaskReports,
    acceptableRecoveryLag: bigint,
  ): MemberTasks {
    const { active, standby, warmup } = assigned;
    if (isEmpty(active) && isEmpty(standby) && isEmpty(warmup) && isEmpty(taskOffsets)) {
      return NO_MEMBER_TASKS;
    }
    const stamp = ++this.#stamp;
    const list = newCandidates();
    const actives: number[] = [];
    this.#offsets.put(taskOffsets, stamp);
    this.#ends.put(taskEndOffsets, stamp);
    const add = (task: number, role: number): void => {
      if (at(this.#listed, task) === stamp) return;
      this.#listed[task] = stamp;
      const offset = this.#offsets.get(task, stamp);
      pushCandidate(list, task, role, offset, this.#ends.get(task, stamp), acceptableRecoveryLag);
    };
    this.#numbers.forEachIn(active, false, (task) => {
      if (at(this.#listed, task) === stamp) return;
      this.#listed[task] = stamp;
      actives.push(task);
    });
    this.#numbers.forEachIn(standby, true, (task) => add(task, CANDIDATE.standby));
    this.#numbers.forEachIn(warmup, true, (task) => add(task, CANDIDATE.warmup));
    for (const task of this.#offsets.stamped) add(task, CANDIDATE.disk);
    return { active: actives, ...list, exact: list.exact ?? NOTHING_EXACT };
  }

  /**
   * As Kafka's sticky reads it: candidate is who has a standby, and whoever reports an offset, also of a task it runs
   * itself; a warm-up counts only by its offset.
   */
  readAsKafka({ assigned }: AssignmentHolder, { taskOffsets }: TaskReports): MemberTasks {
    const list = newCandidates();
    const actives: number[] = [];
    const offsets = new Map<number, bigint>();
    for (const { subtopologyId, partition, offset } of taskOffsets) {
      this.#numbers.forEachIn([{ subtopologyId, partitions: [partition] }], false, (task) =>
        offsets.set(task, offset),
      );
    }
    this.#numbers.forEachIn(assigned.active, false, (task) => actives.push(task));
    this.#numbers.forEachIn(assigned.standby, false, (task) => {
      pushCandidate(list, task, CANDIDATE.standby, offsets.get(task), undefined, 0n);
      offsets.delete(task);
    });
    for (const [task, offset] of offsets)
      pushCandidate(list, task, CANDIDATE.disk, offset, undefined, 0n);
    return { active: actives, ...list, exact: list.exact ?? NOTHING_EXACT };
  }

  /** What was read of a member, if some of its active tasks count as others': then it is a candidate of them. */
  withLostClaims(
    read: MemberTasks,
    tasks: readonly number[],
    { taskOffsets, taskEndOffsets }: TaskReports,
    acceptableRecoveryLag: bigint,
  ): MemberTasks {
    const stamp = ++this.#stamp;
    this.#offsets.put(taskOffsets, stamp);
    this.#ends.put(taskEndOffsets, stamp);
    const list = newCandidates();
    for (const task of tasks) {
      const offset = this.#offsets.get(task, stamp);
      const end = this.#ends.get(task, stamp);
      pushCandidate(list, task, CANDIDATE.secondActive, offset, end, acceptableRecoveryLag);
    }
    return {
      active: read.active,
      tasks: [...list.tasks, ...read.tasks],
      roles: [...list.roles, ...read.roles],
      sums: [...list.sums, ...read.sums],
      caughtUp: [...list.caughtUp, ...read.caughtUp],
      exact: new Map([...(list.exact ?? []), ...read.exact]),
      copyCount: list.copyCount + read.copyCount,
    };
  }
}

type Candidates = {
  readonly tasks: number[];
  readonly roles: number[];
  readonly sums: number[];
  readonly caughtUp: number[];
  exact: Map<number, bigint> | undefined;
  copyCount: number;
};

function newCandidates(): Candidates {
  return { tasks: [], roles: [], sums: [], caughtUp: [], exact: undefined, copyCount: 0 };
}

function isEmpty(list: readonly unknown[]): boolean {
  return list.length === 0;
}

function pushCandidate(
  list: Candidates,
  task: number,
  role: number,
  offset: bigint | undefined,
  end: bigint | undefined,
  acceptableRecoveryLag: bigint,
): void {
  list.tasks.push(task);
  list.roles.push(role);
  if (role !== CANDIDATE.disk) list.copyCount++;
  const sum = offset === undefined ? -1 : offset === NOT_STARTED ? Infinity : Number(offset);
  list.sums.push(sum);
  if (offset !== undefined && sum > Number.MAX_SAFE_INTEGER && sum !== Infinity) {
    list.exact ??= new Map();
    list.exact.set(task, offset);
  }
  list.caughtUp.push(isWithin(lagBetween(offset, end), acceptableRecoveryLag) ? 1 : 0);
}

const INT64_MIN = -(2n ** 63n);

/** The offset sums one member reports, by task; what is less than the least there can be is no report. */
class StampedSums {
  readonly #numbers: TaskNumbers;
  readonly #least: bigint;
  readonly #stampedBy: Int32Array;
  readonly #sums: bigint[];
  stamped: number[] = [];

  constructor(numbers: TaskNumbers, least: bigint) {
    this.#numbers = numbers;
    this.#least = least;
    this.#stampedBy = new Int32Array(numbers.count);
    this.#sums = new Array(numbers.count);
  }

  put(reports: readonly TaskOffset[], stamp: number): void {
    this.stamped = [];
    let range: ReturnType<TaskNumbers['of']>;
    let rangeId: string | undefined;
    for (const { subtopologyId, partition, offset } of reports) {
      // Reports come by subtopology, as a rule.
      if (subtopologyId !== rangeId) range = this.#numbers.of(subtopologyId);
      rangeId = subtopologyId;
      if (range === undefined || !range.stateful) continue;
      const task = range.base + partition;
      if (partition < 0 || task >= range.end || offset < this.#least) continue;
      this.#stampedBy[task] = stamp;
      this.#sums[task] = offset;
      this.stamped.push(task);
    }
  }

  get(task: number, stamp: number): bigint | undefined {
    return at(this.#stampedBy, task) === stamp ? this.#sums[task] : undefined;
  }
}
