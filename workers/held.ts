import type { AssignmentMember, AssignmentProblem } from '../machines/model/assignment.ts';
import { isWithin, lagBetween, NOT_STARTED } from '../machines/model/lag.ts';
import type { TaskList, TaskOffset } from '../machines/model/tasks.ts';
import { at, CANDIDATE } from './dense.ts';

/** The numbers of a subtopology's tasks: from `base` up to `end`. */
export type TaskRange = { readonly base: number; readonly end: number; readonly stateful: boolean };
export type TaskNumbers = {
  readonly count: number;
  readonly of: (subtopologyId: string) => TaskRange | undefined;
};

/** Numbers tasks by (subtopology, partition); subtopologies as they come. */
export function numberTasks(subtopologies: AssignmentProblem['subtopologies']): TaskNumbers {
  const ranges = new Map<string, TaskRange>();
  let count = 0;
  for (const { subtopologyId, taskCount, stateful } of subtopologies) {
    ranges.set(subtopologyId, { base: count, end: count + taskCount, stateful });
    count += taskCount;
  }
  return { count, of: (subtopologyId) => ranges.get(subtopologyId) };
}

/** A member that may have state for a task. */
export type Candidate = {
  readonly task: number;
  readonly member: number;
  readonly role: number;
  /** Exact; undefined when nothing was reported. */
  readonly offset: bigint | undefined;
  readonly caughtUp: boolean;
};

/** Who holds what, in task numbers. */
export type Held = {
  readonly prevActive: Int32Array;
  readonly candidates: readonly Candidate[];
};

/** Who holds what. Each member is at most once a candidate of a task, and never of one it is the active of. */
export function gatherHeld(
  members: readonly AssignmentMember[],
  tasks: TaskNumbers,
  acceptableRecoveryLag: bigint,
): Held {
  const prevActive = new Int32Array(tasks.count).fill(-1);
  const candidates: Candidate[] = [];
  // Per member only the stamped places count, so that nothing has to be cleared between members.
  const listedFor = new Int32Array(tasks.count).fill(-1);
  const offsets = new StampedSums(tasks);
  const ends = new StampedSums(tasks);

  members.forEach((member, m) => {
    const add = (task: number, role: number): void => {
      if (at(prevActive, task) === m || at(listedFor, task) === m) return;
      listedFor[task] = m;
      const offset = offsets.get(task, m);
      const caughtUp = isWithin(lagBetween(offset, ends.get(task, m)), acceptableRecoveryLag);
      candidates.push({ task, member: m, role, offset, caughtUp });
    };
    offsets.put(member.taskOffsets, m);
    ends.put(member.taskEndOffsets, m);
    // Two members claim the same active: the smaller id has it, the other is a candidate (section 7).
    forEachTask(member.active, tasks, false, (task) => {
      if (at(prevActive, task) === -1) prevActive[task] = m;
      else add(task, CANDIDATE.secondActive);
    });
    forEachTask(member.standby, tasks, true, (task) => add(task, CANDIDATE.standby));
    forEachTask(member.warmup, tasks, true, (task) => add(task, CANDIDATE.warmup));
    for (const task of offsets.stamped) add(task, CANDIDATE.disk);
  });
  return { prevActive, candidates };
}

/** Visits the tasks of a list that the topology has; with `statefulOnly` only those with a changelog. */
export function forEachTask(
  list: TaskList,
  tasks: TaskNumbers,
  statefulOnly: boolean,
  visit: (task: number) => void,
): void {
  for (const { subtopologyId, partitions } of list) {
    const range = tasks.of(subtopologyId);
    if (range === undefined || (statefulOnly && !range.stateful)) continue;
    for (const partition of partitions) {
      const task = range.base + partition;
      if (partition >= 0 && task < range.end) visit(task);
    }
  }
}

/** The offset sums one member reports, by task; forgotten when the next member's are put. */
class StampedSums {
  readonly #tasks: TaskNumbers;
  readonly #stampedBy: Int32Array;
  readonly #sums: bigint[];
  stamped: number[] = [];

  constructor(tasks: TaskNumbers) {
    this.#tasks = tasks;
    this.#stampedBy = new Int32Array(tasks.count).fill(-1);
    this.#sums = new Array(tasks.count);
  }

  put(reports: readonly TaskOffset[], member: number): void {
    this.stamped = [];
    let range: TaskRange | undefined;
    let rangeId: string | undefined;
    for (const { subtopologyId, partition, offset } of reports) {
      // Reports come by subtopology, as a rule.
      if (subtopologyId !== rangeId) range = this.#tasks.of(subtopologyId);
      rangeId = subtopologyId;
      if (range === undefined || !range.stateful) continue;
      const task = range.base + partition;
      if (partition < 0 || task >= range.end) continue;
      this.#stampedBy[task] = member;
      this.#sums[task] = offset;
      this.stamped.push(task);
    }
  }

  get(task: number, member: number): bigint | undefined {
    return at(this.#stampedBy, task) === member ? this.#sums[task] : undefined;
  }
}

/** Who holds the task now comes first, then the larger sum; "not started" counts as nothing (section 4). */
export function byRank(a: Candidate, b: Candidate): number {
  const onDisk = a.role === CANDIDATE.disk;
  if (onDisk !== (b.role === CANDIDATE.disk)) return onDisk ? 1 : -1;
  const sumA = rankedSum(a);
  const sumB = rankedSum(b);
  return sumA > sumB ? -1 : sumA < sumB ? 1 : 0;
}

function rankedSum({ offset }: Candidate): bigint {
  return offset === undefined || offset === NOT_STARTED ? 0n : offset;
}
