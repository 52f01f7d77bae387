import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import { has, listOf, NOT_STARTED, offsetOf, type Task } from './reference-parts.ts';

/** A group being assigned, as the reference assignors see it: everything is looked up by going over everything. */
export class ReferenceGroup {
  readonly problem: AssignmentProblem;
  readonly members: readonly AssignmentMember[];
  readonly processIds: readonly string[];
  readonly tasks: readonly Task[];
  readonly active = new Map<Task, AssignmentMember>();
  readonly standbys = new Map<Task, AssignmentMember[]>();
  readonly previousActive = new Map<Task, AssignmentMember>();
  readonly candidates = new Map<Task, AssignmentMember[]>();

  constructor(problem: AssignmentProblem) {
    this.problem = problem;
    this.members = problem.members.toSorted((a, b) => byCodeUnits(a.memberId, b.memberId));
    this.processIds = [...new Set(this.members.map((m) => m.processId))].sort(byCodeUnits);
    this.tasks = problem.subtopologies
      .toSorted((a, b) => byCodeUnits(a.subtopologyId, b.subtopologyId))
      .flatMap(({ subtopologyId, taskCount, stateful }) =>
        Array.from({ length: taskCount }, (_, partition) => ({
          subtopologyId,
          partition,
          stateful,
        })),
      );
    for (const task of this.tasks) {
      this.standbys.set(task, []);
      const claimers = this.members.filter((m) => has(m.active, task));
      const [first] = claimers;
      if (first !== undefined) this.previousActive.set(task, first);
      this.candidates.set(task, this.rank(task, claimers.slice(1)));
    }
  }

  /** Section 4, candidate rank; section 7, two members that claim the same active. */
  rank(task: Task, secondActives: readonly AssignmentMember[]): AssignmentMember[] {
    const holdsNow = (m: AssignmentMember): boolean =>
      secondActives.includes(m) || (task.stateful && (has(m.standby, task) || has(m.warmup, task)));
    const reports = (m: AssignmentMember): boolean =>
      task.stateful && offsetOf(m.taskOffsets, task) !== undefined;
    const sum = (m: AssignmentMember): bigint => {
      const offset = task.stateful ? offsetOf(m.taskOffsets, task) : undefined;
      return offset === undefined || offset === NOT_STARTED ? 0n : offset;
    };
    return this.members
      .filter((m) => m !== this.previousActive.get(task) && (holdsNow(m) || reports(m)))
      .sort((a, b) => {
        if (holdsNow(a) !== holdsNow(b)) return holdsNow(a) ? -1 : 1;
        if (sum(a) !== sum(b)) return sum(a) > sum(b) ? -1 : 1;
        return byCodeUnits(a.memberId, b.memberId);
      });
  }

  /** 2.1: stale members keep first, up to an even share; parts in (partition, subtopology) order. */
  keepStaleActives(stateful: readonly Task[], stateless: readonly Task[]): void {
    const fresh = this.members.filter((m) => this.isFresh(m));
    const holders = this.members.filter(
      (m) => !this.isFresh(m) && [...this.previousActive.values()].includes(m),
    );
    for (const [part, all] of [
      [stateful, stateful.length],
      [stateless, this.tasks.length],
    ] as const) {
      const share = Math.ceil(all / (fresh.length + holders.length));
      for (const task of part) {
        const holder = this.previousActive.get(task);
        if (holder === undefined || this.isFresh(holder)) continue;
        if (fresh.length === 0 || this.count(holder) < share) this.active.set(task, holder);
      }
    }
  }

  result(): AssignmentResult {
    return {
      members: this.problem.members.map((m) => ({
        active: listOf(this.tasks.filter((task) => this.active.get(task) === m)),
        standby: listOf(this.tasks.filter((task) => this.standbys.get(task)?.includes(m))),
      })),
      unassigned: listOf(this.tasks.filter((task) => !this.active.has(task))),
    };
  }

  /** The fresh member that holds the task as active, while it is not placed. */
  holderOf(task: Task): AssignmentMember | undefined {
    const holder = this.previousActive.get(task);
    if (this.active.has(task) || holder === undefined) return undefined;
    return this.isFresh(holder) ? holder : undefined;
  }

  /** Those that hold a copy, or those that only have the task on disk. */
  candidatesOf(task: Task, copies: boolean): AssignmentMember[] {
    return (this.candidates.get(task) ?? []).filter(
      (m) => (has(m.active, task) || has(m.standby, task) || has(m.warmup, task)) === copies,
    );
  }

  isCaughtUp(member: AssignmentMember, task: Task): boolean {
    const [offset, end] = [
      offsetOf(member.taskOffsets, task),
      offsetOf(member.taskEndOffsets, task),
    ];
    if (!task.stateful || offset === undefined || end === undefined) return false;
    if (offset === NOT_STARTED || end === NOT_STARTED) return false;
    return end - offset <= this.problem.acceptableRecoveryLag;
  }

  /**
   * 6.2, step 4, for the tasks that one process gets in one round: each member to the level, who holds a task first; what is
   * left then is less than one each.
   *
   * @param how.even no member gets more of a subtopology than its even share over fresh members while others can take it.
   */
  fanOut(
    processId: string,
    tasks: readonly Task[],
    how: { readonly stays: boolean; readonly even?: boolean },
    give: (task: Task, member: AssignmentMember) => void,
  ): void {
    const members = this.freshOf(processId);
    const before = members.reduce((sum, m) => sum + this.count(m), 0);
    const level = Math.floor((before + tasks.length) / members.length);
    const isBelow = (m: AssignmentMember): boolean => this.count(m) < level;
    const isAtLevel = (m: AssignmentMember): boolean => this.count(m) === level;
    const given = new Map<Task, AssignmentMember>();
    const take = (task: Task, member: AssignmentMember): void => {
      given.set(task, member);
      give(task, member);
    };
    const staysEven = (task: Task, member: AssignmentMember): boolean => {
      const isOfIt = (other: Task): boolean => other.subtopologyId === task.subtopologyId;
      const shared = this.tasks.filter((other) => isOfIt(other) && !this.isKeptByStale(other));
      const share = Math.ceil(shared.length / this.members.filter((m) => this.isFresh(m)).length);
      const has = [...given].filter(([other, owner]) => owner === member && isOfIt(other)).length;
      return how.even !== true || has < share;
    };
    const leave = (
      list: readonly Task[],
      mayKeep: (member: AssignmentMember) => boolean,
    ): readonly Task[] =>
      list.filter((task) => {
        const holder = how.stays ? this.holderIn(processId, task) : undefined;
        if (holder === undefined || !mayKeep(holder) || !staysEven(task, holder)) return true;
        take(task, holder);
        return false;
      });
    const pick = (
      task: Task,
      turns: readonly AssignmentMember[],
      may: (member: AssignmentMember) => boolean,
    ): AssignmentMember | undefined => {
      const able = turns.filter(may);
      return able.find((m) => staysEven(task, m)) ?? able[0];
    };
    let rest = leave(tasks, isBelow);
    let turns = members;
    while (members.some(isBelow)) {
      const [task, ...others] = rest;
      const member = task && pick(task, turns, isBelow);
      if (task === undefined || member === undefined) break;
      take(task, member);
      rest = others;
      const next = members.indexOf(member) + 1;
      turns = [...members.slice(next), ...members.slice(0, next)];
    }
    for (const task of leave(rest, isAtLevel)) {
      const member = pick(task, members, isAtLevel);
      if (member !== undefined) take(task, member);
    }
  }

  isKeptByStale(task: Task): boolean {
    const owner = this.active.get(task);
    return owner !== undefined && !this.isFresh(owner);
  }

  /** The member of the process that holds the task now, in any role: as active before as a copy; if it is fresh. */
  holderIn(processId: string, task: Task): AssignmentMember | undefined {
    const previous = this.previousActive.get(task);
    const holders = [...(previous ? [previous] : []), ...this.candidatesOf(task, true)];
    const holder = holders.find((m) => m.processId === processId);
    return holder !== undefined && this.isFresh(holder) ? holder : undefined;
  }

  /** The processes that may get tasks. */
  able(): string[] {
    return this.processIds.filter((p) => this.freshOf(p).length > 0);
  }

  leastMember(processId: string): AssignmentMember {
    const [least] = this.freshOf(processId).toSorted((a, b) => this.count(a) - this.count(b));
    if (least === undefined) throw new Error(`Process "${processId}" has no fresh member`);
    return least;
  }

  compareLoads(a: string, b: string): number {
    const total = (p: string): number =>
      this.membersOf(p).reduce((sum, m) => sum + this.count(m), 0);
    return total(a) * this.capacity(b) - total(b) * this.capacity(a);
  }

  count(member: AssignmentMember): number {
    let count = 0;
    for (const owner of this.active.values()) if (owner === member) count++;
    for (const copies of this.standbys.values()) if (copies.includes(member)) count++;
    return count;
  }

  holds(processId: string, task: Task): boolean {
    return (
      this.active.get(task)?.processId === processId ||
      this.copies(task).some((m) => m.processId === processId)
    );
  }

  copies(task: Task): AssignmentMember[] {
    return this.standbys.get(task) ?? [];
  }

  tagOf(processId: string, key: string): string | undefined {
    return this.membersOf(processId)[0]?.clientTags.find((tag) => tag.key === key)?.value;
  }

  isFresh(member: AssignmentMember): boolean {
    return member.topologyEpoch === this.problem.topologyEpoch;
  }

  membersOf(processId: string): AssignmentMember[] {
    return this.members.filter((m) => m.processId === processId);
  }

  freshOf(processId: string): AssignmentMember[] {
    return this.membersOf(processId).filter((m) => this.isFresh(m));
  }

  capacity(processId: string): number {
    return this.membersOf(processId).length;
  }
}
