import type {
  AssignmentHolder,
  AssignmentQuestion,
  GroupProblem,
  TaskReports,
} from '../machines/model/assignment.ts';
import { PersistentMap } from '../machines/model/persistent-map.ts';
import { invariant } from '../machines/model/refusal.ts';
import type { TasksByRole } from '../machines/model/tasks.ts';
import { at, type Dense, isSet } from './dense.ts';
import { KeptBuffer, type WrittenProblem } from './kept-buffer.ts';
import type { Entry, Process } from './member-entry.ts';
import { type MemberChange, MemberReader, type MemberTasks } from './member-tasks.ts';
import { Ordered } from './ordered.ts';
import type { ProblemView } from './problem-view.ts';
import type { SharedBuffers } from './shared-buffers.ts';
import { StateByTask } from './state-by-task.ts';
import { TaskNumbers } from './task-numbers.ts';
import { tagsOf, writeProcesses } from './write-processes.ts';

type WholeQuestion = AssignmentQuestion & Pick<GroupProblem, 'assignToStaleMembers'>;

/** Bytes of a group without anything, and of what it has, measured on a heap of thousands of groups. */
const GROUP_BYTES = 6_000;
const MEMBER_BYTES = 1_500;
const TASK_BYTES = 48;
const HELD_BYTES = 32;

const NO_REPORTS: TaskReports = { taskOffsets: [], taskEndOffsets: [] };

/**
 * A group's problem in numbers, kept from run to run and brought up to date by what changed in between: the group's maps tell
 * that at the cost of the changes alone. What every run writes anew are numbers only, one pass over tasks and one over
 * candidates.
 *
 * It follows from the problem it was last brought to, whatever came before.
 *
 * Source: assignors 9.1 to 9.3.
 */
export class EncodedGroup {
  readonly #view: ProblemView;
  #numbers = new TaskNumbers([]);
  #reader = new MemberReader(this.#numbers);
  #acceptableRecoveryLag = 0n;
  #members: PersistentMap<AssignmentHolder> = PersistentMap.empty();
  #reports: PersistentMap<TaskReports> = PersistentMap.empty();
  #targets: PersistentMap<TasksByRole> = PersistentMap.empty();
  readonly #entries = new Map<string, Entry>();
  readonly #processes = new Map<string, Process>();
  readonly #memberOrder: Ordered<Entry>;
  readonly #processOrder: Ordered<Process>;
  #unread: Entry[] = [];
  /** Those that may have to be written otherwise than last time. */
  #changed = new Set<Entry>();
  #state: StateByTask;
  readonly #buffer = new KeptBuffer();
  /** The members as last written, with what was read of each. */
  #written: readonly Entry[] = [];
  #read: MemberTasks[] = [];
  /** Their targets; undefined: to be gathered. */
  #installed: readonly (TasksByRole | undefined)[] | undefined;
  /** How many members have each topology epoch. */
  readonly #topologyEpochs = new Map<number, number>();

  constructor(view: ProblemView) {
    this.#view = view;
    this.#memberOrder = new Ordered(view.order);
    this.#processOrder = new Ordered(view.order);
    this.#state = this.#newState();
  }

  /** Whether it knows nobody yet. */
  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** The members of the last problem, in the order of their numbers. */
  get memberIds(): readonly string[] {
    return this.#memberOrder.ids;
  }

  /** What each of these members has installed. */
  get installed(): readonly (TasksByRole | undefined)[] {
    return this.#installed ?? [];
  }

  get numbers(): TaskNumbers {
    return this.#numbers;
  }

  /** About how many bytes it keeps, what only it holds on to of the group's maps not counted. */
  get bytes(): number {
    const held = this.#state.held + this.#state.candidateCount;
    return (
      GROUP_BYTES +
      this.#entries.size * MEMBER_BYTES +
      this.#numbers.count * TASK_BYTES +
      held * HELD_BYTES +
      this.#state.bytes +
      this.#buffer.bytes
    );
  }

  /** Takes note of a problem. What members have is read by {@link read}, before anything is written. */
  follow(problem: GroupProblem): void {
    const isSame = this.#numbers.fit(problem.subtopologies);
    if (!isSame) {
      this.#numbers = new TaskNumbers(problem.subtopologies);
      this.#reader = new MemberReader(this.#numbers);
      this.#state = this.#newState();
      for (const entry of this.#written) entry.written = undefined;
    }
    if (!isSame || this.#acceptableRecoveryLag !== problem.acceptableRecoveryLag) {
      this.#acceptableRecoveryLag = problem.acceptableRecoveryLag;
      this.#unread = [];
      for (const entry of this.#entries.values()) this.#forget(entry);
    }
    this.#members.forEachChange(problem.members, (memberId, before, after) => {
      this.#noteMember(memberId, before, after, problem);
    });
    this.#members = problem.members;
    this.#reports.forEachChange(problem.reports, (memberId, _, after) => {
      const entry = this.#entries.get(memberId);
      if (entry !== undefined) this.#noteReports(entry, after ?? NO_REPORTS);
    });
    this.#reports = problem.reports;
    this.#targets.forEachChange(problem.targets, (memberId, _, after) => {
      const entry = this.#entries.get(memberId);
      if (entry === undefined) return;
      entry.target = after;
      this.#installed = undefined;
    });
    this.#targets = problem.targets;
  }

  /**
   * Reads members that changed, until so many tasks and offsets are read.
   *
   * @returns whether all are.
   */
  read(most = Infinity): boolean {
    let left = most;
    while (left > 0) {
      const entry = this.#unread.pop();
      if (entry === undefined) break;
      if (entry.tasks !== undefined || this.#entries.get(entry.id) !== entry) continue;
      entry.tasks = this.#view.read(
        this.#reader,
        entry.member,
        entry.reports,
        this.#acceptableRecoveryLag,
      );
      left -= 1 + entry.tasks.active.length + entry.tasks.tasks.length;
    }
    return this.#unread.length === 0;
  }

  /** Does the larger half of {@link write} ahead of it. To be called when all is read. */
  settle(): void {
    this.#updateState(this.#memberOrder.items);
  }

  /** Writes the problem down, in a buffer that is the caller's until it releases it. To be called when all is read. */
  write(question: WholeQuestion, algorithm: number, buffers: SharedBuffers): WrittenProblem {
    const members = this.#memberOrder.items;
    const processes =
      this.#view.orderProcesses?.(members.map(({ process }) => process)) ??
      this.#processOrder.items;
    const { rackAwareAssignmentTags } = question;
    const tags = tagsOf(members, processes, rackAwareAssignmentTags);
    this.#updateState(members);
    this.#installed ??= members.map(({ target }) => target);
    const stale = question.assignToStaleMembers
      ? 0
      : members.length - (this.#topologyEpochs.get(question.topologyEpoch) ?? 0);
    const size = {
      subtopologies: this.#numbers.subtopologyIds.length,
      tasks: this.#numbers.count,
      members: members.length,
      processes: processes.length,
      replicas: question.numStandbyReplicas,
      slots: Math.max(0, Math.min(question.numStandbyReplicas, processes.length - 1)),
      tagKeys: rackAwareAssignmentTags.length,
      tagGroups: tags.groupCount,
      candidates: this.#state.candidateCount,
    };
    const facts = { algorithm, held: this.#state.held, copies: this.#state.copies, stale };
    const written = this.#buffer.write(
      { size, facts, numbers: this.#numbers, state: this.#state },
      buffers,
    );
    const { dense } = written;
    dense.frozen.fill(0);
    if (stale > 0) writeFrozen(dense, members, question.topologyEpoch);
    dense.tagValue.set(tags.values);
    if (tags.groups === undefined) dense.tagGroup.fill(0);
    else dense.tagGroup.set(tags.groups);
    writeProcesses(dense, members, processes, this.#view);
    return written;
  }

  /** See {@link StateByTask.offsets}; those of the problem written last. */
  offsets(): Float64Array {
    return this.#state.offsets();
  }

  #noteMember(
    memberId: string,
    before: AssignmentHolder | undefined,
    after: AssignmentHolder | undefined,
    { reports, targets }: GroupProblem,
  ): void {
    const entry = this.#entries.get(memberId);
    if (before?.topologyEpoch !== after?.topologyEpoch) {
      this.#countEpoch(before?.topologyEpoch, -1);
      this.#countEpoch(after?.topologyEpoch, 1);
    }
    if (after === undefined) {
      if (entry === undefined) return;
      this.#entries.delete(memberId);
      this.#memberOrder.remove(entry);
      this.#changed.add(entry);
      this.#leaveProcess(entry.process);
      return;
    }
    if (entry === undefined) {
      const process = this.#joinProcess(after.processId);
      const made: Entry = {
        id: memberId,
        member: after,
        reports: reports.get(memberId) ?? NO_REPORTS,
        tasks: undefined,
        process,
        number: -1,
        written: undefined,
        target: targets.get(memberId),
      };
      this.#entries.set(memberId, made);
      this.#memberOrder.add(made);
      this.#forget(made);
      return;
    }
    entry.member = after;
    if (entry.process.id !== after.processId) {
      this.#leaveProcess(entry.process);
      entry.process = this.#joinProcess(after.processId);
    }
    if (before?.assigned !== after.assigned) this.#forget(entry);
  }

  #noteReports(entry: Entry, reports: TaskReports): void {
    const { taskOffsets, taskEndOffsets } = entry.reports;
    const isNews = taskOffsets !== reports.taskOffsets || taskEndOffsets !== reports.taskEndOffsets;
    entry.reports = reports;
    if (isNews) this.#forget(entry);
  }

  #countEpoch(topologyEpoch: number | undefined, by: 1 | -1): void {
    if (topologyEpoch === undefined) return;
    const count = (this.#topologyEpochs.get(topologyEpoch) ?? 0) + by;
    if (count > 0) this.#topologyEpochs.set(topologyEpoch, count);
    else this.#topologyEpochs.delete(topologyEpoch);
  }

  #joinProcess(id: string): Process {
    let process = this.#processes.get(id);
    if (process === undefined) {
      process = { id, number: 0, size: 0 };
      this.#processes.set(id, process);
      this.#processOrder.add(process);
    }
    process.size++;
    return process;
  }

  #leaveProcess(process: Process): void {
    process.size--;
    if (process.size > 0) return;
    this.#processes.delete(process.id);
    this.#processOrder.remove(process);
  }

  #forget(entry: Entry): void {
    entry.tasks = undefined;
    this.#unread.push(entry);
    this.#changed.add(entry);
  }

  #newState(): StateByTask {
    const { stateful, subtopologyOf, count } = this.#numbers;
    return new StateByTask(count, {
      isStateful: (task) => isSet(stateful, at(subtopologyOf, task)),
      firstClaimCounts: this.#view.firstClaimCounts,
      notStarted: this.#view.notStarted,
      withLostClaims: (read, member, tasks) => {
        const { reports } = this.#memberOrder.items[member] as Entry;
        return this.#reader.withLostClaims(read, tasks, reports, this.#acceptableRecoveryLag);
      },
    });
  }

  #updateState(members: readonly Entry[]): void {
    const changed = [...this.#changed].map((entry) => ({
      entry,
      before: entry.written,
      beforeNumber: entry.number,
    }));
    const renumbered = members === this.#written ? undefined : this.#renumber(members);
    const changes = changed.map(({ entry, before, beforeNumber }): MemberChange => {
      const after = entry.number === -1 ? undefined : tasksOf(entry);
      entry.written = after;
      return { before, beforeNumber, after, afterNumber: entry.number };
    });
    this.#changed = new Set();
    if (renumbered !== undefined) this.#read = members.map(tasksOf);
    else for (const { after, afterNumber } of changes) if (after) this.#read[afterNumber] = after;
    this.#written = members;
    this.#state.update(this.#read, changes, renumbered);
  }

  /** Gives members their numbers; tells the new number by the old one, or that those who were there keep theirs. */
  #renumber(members: readonly Entry[]): Int32Array | undefined {
    this.#installed = undefined;
    const before = this.#written;
    for (let m = 0; m < before.length; m++) (before[m] as Entry).number = -1;
    for (let m = 0; m < members.length; m++) (members[m] as Entry).number = m;
    let isSame = true;
    const renumbered = new Int32Array(before.length);
    for (let m = 0; m < before.length; m++) {
      const { number } = before[m] as Entry;
      renumbered[m] = number;
      isSame &&= number === m;
    }
    return isSame ? undefined : renumbered;
  }
}

function tasksOf({ tasks }: Entry): MemberTasks {
  invariant(tasks !== undefined, 'every member is read before the problem is written');
  return tasks;
}

/** Marks the members of another topology epoch, who get nothing new. */
function writeFrozen({ frozen }: Dense, members: readonly Entry[], topologyEpoch: number): void {
  for (let m = 0; m < members.length; m++) {
    if ((members[m] as Entry).member.topologyEpoch !== topologyEpoch) frozen[m] = 1;
  }
}
