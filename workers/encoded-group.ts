import type {
  AssignmentHolder,
  AssignmentQuestion,
  GroupProblem,
  TaskReports,
} from '../machines/model/assignment.ts';
import { PersistentMap } from '../machines/model/persistent-map.ts';
import { invariant } from '../machines/model/refusal.ts';
import type { KeyValue } from '../machines/model/topology.ts';
import { CandidateWriter } from './candidate-writer.ts';
import { at, type Dense, type DenseSizes } from './dense.ts';
import { MemberReader, type MemberTasks } from './member-tasks.ts';
import { Ordered } from './ordered.ts';
import type { ProblemView } from './problem-view.ts';
import { TaskNumbers } from './task-numbers.ts';

/** A member with what was read of it, which no run that finds it as the last one did reads again. */
type Entry = {
  readonly id: string;
  member: AssignmentHolder;
  reports: TaskReports;
  /** Undefined: to be read. */
  tasks: MemberTasks | undefined;
  process: Process;
};

/** A process of the group, with how many members it has. */
type Process = { readonly id: string; number: number; size: number };

type WholeQuestion = AssignmentQuestion & Pick<GroupProblem, 'assignToStaleMembers'>;

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
  readonly #entries = new Map<string, Entry>();
  readonly #processes = new Map<string, Process>();
  readonly #memberOrder: Ordered<Entry>;
  readonly #processOrder: Ordered<Process>;
  #unread: Entry[] = [];
  #prevActive = new Int32Array(0);

  constructor(view: ProblemView) {
    this.#view = view;
    this.#memberOrder = new Ordered(view.order);
    this.#processOrder = new Ordered(view.order);
  }

  /** The members of the last problem, in the order of their numbers. */
  get memberIds(): readonly string[] {
    return this.#memberOrder.ids;
  }

  get numbers(): TaskNumbers {
    return this.#numbers;
  }

  /** What it keeps, in tasks and members: for whoever keeps many. */
  get weight(): number {
    return this.#numbers.count + this.#entries.size;
  }

  /** Takes note of a problem. What members have is read by {@link read}, before anything is written. */
  follow(problem: GroupProblem): void {
    const isSame = this.#numbers.fit(problem.subtopologies);
    if (!isSame) {
      this.#numbers = new TaskNumbers(problem.subtopologies);
      this.#reader = new MemberReader(this.#numbers);
      this.#prevActive = new Int32Array(this.#numbers.count);
    }
    if (!isSame || this.#acceptableRecoveryLag !== problem.acceptableRecoveryLag) {
      this.#acceptableRecoveryLag = problem.acceptableRecoveryLag;
      this.#unread = [];
      for (const entry of this.#entries.values()) this.#forget(entry);
    }
    this.#members.forEachChange(problem.members, (memberId, before, after) => {
      this.#noteMember(memberId, before, after, problem.reports.get(memberId) ?? NO_REPORTS);
    });
    this.#members = problem.members;
    this.#reports.forEachChange(problem.reports, (memberId, _, after) => {
      const entry = this.#entries.get(memberId);
      if (entry !== undefined) this.#noteReports(entry, after ?? NO_REPORTS);
    });
    this.#reports = problem.reports;
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

  /**
   * Writes the problem down. To be called when all is read.
   *
   * @param open gives the arrays for so much.
   */
  write(
    question: WholeQuestion,
    open: (size: DenseSizes, facts: Omit<Dense['facts'], 'algorithm'>) => Dense,
  ): Dense {
    const members = this.#memberOrder.items;
    const processes =
      this.#view.orderProcesses?.(members.map(({ process }) => process)) ??
      this.#processOrder.items;
    const { rackAwareAssignmentTags } = question;
    const tags = tagsOf(members, processes, rackAwareAssignmentTags);
    const read = members.map(tasksOf);
    const held = this.#claimActives(members, read);
    const frozen = frozenOf(members, question);
    const dense = open(
      {
        subtopologies: this.#numbers.subtopologyIds.length,
        tasks: this.#numbers.count,
        members: members.length,
        processes: processes.length,
        replicas: question.numStandbyReplicas,
        slots: Math.max(0, Math.min(question.numStandbyReplicas, processes.length - 1)),
        tagKeys: rackAwareAssignmentTags.length,
        tagGroups: tags.groupCount,
        candidates: sum(read, ({ tasks }) => tasks.length),
      },
      { held, copies: sum(read, ({ copyCount }) => copyCount), stale: frozen.count },
    );
    dense.base.set(this.#numbers.base);
    dense.subtopologyOf.set(this.#numbers.subtopologyOf);
    dense.stateful.set(this.#numbers.stateful);
    dense.prevActive.set(this.#prevActive);
    dense.frozen.set(frozen.flags);
    dense.tagValue.set(tags.values);
    dense.tagGroup.set(tags.groups);
    writeProcesses(dense, members, processes, this.#view);
    new CandidateWriter(dense, read, this.#view.notStarted).write();
    return dense;
  }

  #noteMember(
    memberId: string,
    before: AssignmentHolder | undefined,
    after: AssignmentHolder | undefined,
    reports: TaskReports,
  ): void {
    const entry = this.#entries.get(memberId);
    if (after === undefined) {
      if (entry === undefined) return;
      this.#entries.delete(memberId);
      this.#memberOrder.remove(entry);
      this.#leaveProcess(entry.process);
      return;
    }
    if (entry === undefined) {
      const process = this.#joinProcess(after.processId);
      const made: Entry = { id: memberId, member: after, reports, tasks: undefined, process };
      this.#entries.set(memberId, made);
      this.#memberOrder.add(made);
      this.#unread.push(made);
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
  }

  /**
   * Finds who has which task as active. Who claims one that another one has becomes a candidate of it in `read`.
   *
   * @returns how many tasks somebody has.
   */
  #claimActives(members: readonly Entry[], read: MemberTasks[]): number {
    const prevActive = this.#prevActive;
    const { firstClaimCounts } = this.#view;
    prevActive.fill(-1);
    let held = 0;
    for (let m = 0; m < members.length; m++) {
      const { active } = read[m] as MemberTasks;
      for (let i = 0; i < active.length; i++) {
        const task = active[i] as number;
        const isFree = at(prevActive, task) === -1;
        if (isFree) held++;
        if (isFree || !firstClaimCounts) prevActive[task] = m;
        else {
          read[m] = this.#reader.withLostClaim(
            read[m] as MemberTasks,
            task,
            (members[m] as Entry).reports,
            this.#acceptableRecoveryLag,
          );
        }
      }
    }
    return held;
  }
}

function sum(read: readonly MemberTasks[], of: (each: MemberTasks) => number): number {
  let total = 0;
  for (let m = 0; m < read.length; m++) total += of(read[m] as MemberTasks);
  return total;
}

function tasksOf({ tasks }: Entry): MemberTasks {
  invariant(tasks !== undefined, 'every member is read before the problem is written');
  return tasks;
}

/** 1 = the member has another topology epoch, and gets nothing new. */
function frozenOf(
  members: readonly Entry[],
  { topologyEpoch, assignToStaleMembers }: WholeQuestion,
): { readonly flags: Uint8Array; readonly count: number } {
  const flags = new Uint8Array(members.length);
  let count = 0;
  for (let m = 0; !assignToStaleMembers && m < members.length; m++) {
    if ((members[m] as Entry).member.topologyEpoch === topologyEpoch) continue;
    flags[m] = 1;
    count++;
  }
  return { flags, count };
}

function writeProcesses(
  { procOf, procStart, procMember, procCapacity, placeInProcess }: Dense,
  members: readonly Entry[],
  processes: readonly Process[],
  { orderWithin }: ProblemView,
): void {
  let start = 0;
  for (let p = 0; p < processes.length; p++) {
    const process = processes[p] as Process;
    process.number = p;
    procStart[p] = start;
    procCapacity[p] = process.size;
    start += process.size;
  }
  procStart[processes.length] = start;
  // Each start serves as the place for the next member of its process, and is put back afterwards.
  for (let m = 0; m < members.length; m++) {
    const p = (members[m] as Entry).process.number;
    const place = at(procStart, p);
    procOf[m] = p;
    procMember[place] = m;
    procStart[p] = place + 1;
  }
  for (let p = processes.length - 1; p >= 0; p--) {
    const from = at(procStart, p) - at(procCapacity, p);
    procStart[p] = from;
    if (orderWithin !== undefined) {
      const own = Array.from(procMember.subarray(from, from + at(procCapacity, p)), (m) => {
        return { id: (members[m] as Entry).id, m };
      });
      procMember.set(
        orderWithin(own).map(({ m }) => m),
        from,
      );
    }
    for (let place = 0; place < at(procCapacity, p); place++) {
      placeInProcess[at(procMember, from + place)] = place;
    }
  }
}

/** A process has the tags of its first member; all are expected to report the same. */
function tagsOf(
  members: readonly Entry[],
  processes: readonly Process[],
  tagKeys: readonly string[],
): {
  readonly values: readonly number[];
  readonly groups: readonly number[];
  readonly groupCount: number;
} {
  if (tagKeys.length === 0) return { values: [], groups: processes.map(() => 0), groupCount: 1 };
  const tagsOfProcess = new Map<Process, readonly KeyValue[]>();
  for (const { member, process } of members) {
    if (!tagsOfProcess.has(process)) tagsOfProcess.set(process, member.clientTags);
  }
  const valueNumbers = tagKeys.map(() => new Map<string, number>());
  const groupNumbers = new Map<string, number>();
  const values: number[] = [];
  const groups: number[] = [];
  for (const process of processes) {
    const tags = tagsOfProcess.get(process) ?? [];
    const tuple = tagKeys.map((key, k) => {
      const value = tags.find((tag) => tag.key === key)?.value;
      return value === undefined ? -1 : numberOf(value, valueNumbers[k] as Map<string, number>);
    });
    values.push(...tuple);
    groups.push(numberOf(tuple.join(), groupNumbers));
  }
  return { values, groups, groupCount: groupNumbers.size };
}

function numberOf(text: string, numbers: Map<string, number>): number {
  const known = numbers.get(text) ?? numbers.size;
  numbers.set(text, known);
  return known;
}
