import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import type { TaskList, TaskOffset } from '../../machines/model/tasks.ts';

type Task = {
  readonly subtopologyId: string;
  readonly partition: number;
  readonly stateful: boolean;
};
const NOT_STARTED = 2n ** 63n - 1n;

/** The three numbers of a shrinking quota (assignors 4). */
type Quota = { tasks: number; members: number; limit: number };

/**
 * The sticky assignor as assignors 6.1 and 2.1 tell it, with objects, maps and linear scans: slow, and meant to be
 * checked by reading it next to the text. The oracle for the fast one. Takes a problem with its lists in any order.
 */
export function referenceSticky(problem: AssignmentProblem): AssignmentResult {
  return new ReferenceSticky(problem).assign();
}

class ReferenceSticky {
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

  assign(): AssignmentResult {
    const { tasks, members, problem } = this;
    const stateful = inPartitionOrder(tasks.filter((task) => task.stateful));
    const stateless = inPartitionOrder(tasks.filter((task) => !task.stateful));
    const fresh = members.filter((m) => this.isFresh(m));

    // 2.1: stale members keep first, up to an even share.
    const holders = members.filter(
      (m) => !this.isFresh(m) && [...this.previousActive.values()].includes(m),
    );
    for (const [part, all] of [
      [stateful, stateful.length],
      [stateless, tasks.length],
    ] as const) {
      const share = Math.ceil(all / (fresh.length + holders.length));
      for (const task of part) {
        const holder = this.previousActive.get(task);
        if (holder === undefined || this.isFresh(holder)) continue;
        if (fresh.length === 0 || this.count(holder) < share) this.active.set(task, holder);
      }
    }
    const kept = this.active.size;
    const keptStateful = stateful.filter((task) => this.active.has(task)).length;
    const statefulQuota = quotaOf(stateful.length - keptStateful, fresh.length);
    const activeQuota = quotaOf(tasks.length - kept, fresh.length);
    const totalQuota = quotaOf(
      tasks.length - kept + problem.numStandbyReplicas * stateful.length,
      fresh.length,
    );

    this.handOver(stateful, statefulQuota, [statefulQuota, activeQuota, totalQuota]);
    this.placeActives(stateful, statefulQuota, [statefulQuota, activeQuota, totalQuota]);
    this.placeActives(stateless, activeQuota, [activeQuota, totalQuota]);
    this.placeStandbys(stateful, totalQuota);
    return {
      members: problem.members.map((m) => ({
        active: listOf(tasks.filter((task) => this.active.get(task) === m)),
        standby: listOf(tasks.filter((task) => this.standbys.get(task)?.includes(m))),
      })),
      unassigned: listOf(tasks.filter((task) => !this.active.has(task))),
    };
  }

  /**
   * Chooses who leaves the members above their share: first tasks whose copy lies with a process where somebody is below the
   * floor, then those whose state is on disk there.
   */
  handOver(stateful: readonly Task[], quota: Quota, updated: readonly Quota[]): void {
    const fresh = this.members.filter((m) => this.isFresh(m));
    if (fresh.length === 0) return;
    const floor = Math.floor(quota.tasks / quota.members);
    const planned = new Map(
      fresh.map((m) => [m, stateful.filter((task) => this.holderOf(task) === m).length]),
    );
    const plan = (m: AssignmentMember): number => planned.get(m) ?? 0;
    const mayStayAbove = quota.tasks - floor * quota.members;
    let toFloor = fresh.filter((m) => plan(m) > floor).length - mayStayAbove;
    for (const copies of [true, false]) {
      for (const task of stateful) {
        const holder = this.holderOf(task);
        if (holder === undefined || plan(holder) <= floor) continue;
        if (plan(holder) === floor + 1 && toFloor <= 0) continue;
        const receiver = this.candidatesOf(task, copies)
          .flatMap((m) => [m, ...this.membersOf(m.processId)])
          .find((m) => this.isFresh(m) && plan(m) < floor);
        if (receiver === undefined) continue;
        if (plan(holder) === floor + 1) toFloor--;
        planned.set(holder, plan(holder) - 1);
        planned.set(receiver, plan(receiver) + 1);
        this.active.set(task, receiver);
        for (const each of updated) reached(each, this.count(receiver));
      }
    }
  }

  placeActives(part: readonly Task[], quota: Quota, updated: readonly Quota[]): void {
    const place = (task: Task, member: AssignmentMember): void => {
      this.active.set(task, member);
      for (const each of updated) reached(each, this.count(member));
    };
    for (const task of part) {
      const holder = this.holderOf(task);
      if (holder !== undefined && this.count(holder) < quota.limit) place(task, holder);
    }
    for (const copies of [true, false]) {
      for (const siblings of [false, true]) {
        for (const task of part) {
          if (this.active.has(task)) continue;
          const options = { siblings, limit: quota.limit };
          const best = this.bestCandidate(task, this.candidatesOf(task, copies), options);
          if (best !== undefined) place(task, best);
        }
      }
    }
    for (const task of this.tasks.filter((each) => part.includes(each) && !this.active.has(each))) {
      // Section 3, second weakness: only processes with a member below the quota are asked.
      const process = this.leastLoaded(
        this.processIds.filter((p) => this.freshOf(p).some((m) => this.count(m) < quota.limit)),
      );
      if (process !== undefined) place(task, this.leastMember(process));
    }
  }

  placeStandbys(stateful: readonly Task[], quota: Quota): void {
    const wanted = this.problem.numStandbyReplicas;
    const lacks = (task: Task): boolean =>
      this.copies(task).length < Math.min(wanted, this.processIds.length - 1);
    const place = (task: Task, member: AssignmentMember): void => {
      this.copies(task).push(member);
      reached(quota, this.count(member));
    };
    for (const task of stateful.toReversed()) {
      for (const member of this.candidatesOf(task, true)) {
        const keeps = !this.isFresh(member) && has(member.standby, task);
        if (!keeps || !lacks(task) || this.holds(member.processId, task)) continue;
        this.copies(task).push(member);
        Object.assign(quota, quotaOf(quota.tasks - 1, quota.members));
      }
    }
    const room = new Map(this.processIds.map((p) => [p, this.rackRoom(p, stateful)]));
    for (const holdersOnly of [true, false]) {
      for (const task of stateful.toReversed()) {
        const tags = [...this.problem.rackAwareAssignmentTags];
        while (tags.length > 0 && lacks(task)) {
          const member = this.pickForDiversity(task, tags, holdersOnly, (process) =>
            Math.max(quota.limit, room.get(process) ?? 0),
          );
          if (member === 'noHolder') break;
          if (member === undefined) tags.shift();
          else place(task, member);
        }
      }
    }
    for (const copies of [true, false]) {
      for (const task of stateful.toReversed()) {
        const previous = this.previousActive.get(task);
        if (
          copies &&
          lacks(task) &&
          previous !== undefined &&
          this.isFresh(previous) &&
          !this.holds(previous.processId, task) &&
          this.count(previous) < quota.limit
        ) {
          place(task, previous);
        }
        while (lacks(task)) {
          const open = this.candidatesOf(task, copies).filter(
            (m) => !this.holds(m.processId, task),
          );
          const best = this.bestCandidate(task, open, { siblings: true, limit: quota.limit });
          if (best === undefined) break;
          place(task, best);
        }
      }
    }
    for (const task of this.tasks.filter((each) => each.stateful).reverse()) {
      while (lacks(task)) {
        const process = this.leastLoaded(
          this.processIds.filter((p) => this.freshOf(p).length > 0 && !this.holds(p, task)),
        );
        if (process === undefined) break;
        place(task, this.leastMember(process));
      }
    }
  }

  /** How many tasks a member of the process needs to take where all tasks need a copy in its rack. */
  rackRoom(processId: string, stateful: readonly Task[]): number {
    const keys = this.problem.rackAwareAssignmentTags;
    const slots = Math.min(this.problem.numStandbyReplicas, this.processIds.length - 1);
    const rooms = keys.map((key) => {
      const value = this.tagOf(processId, key);
      const values = new Set(this.processIds.map((p) => this.tagOf(p, key)));
      values.delete(undefined);
      const rack = this.processIds.filter((p) => this.tagOf(p, key) === value);
      const taking = rack.flatMap((p) => this.freshOf(p)).length;
      if (value === undefined || taking === 0) return 0;
      const inRack = [...this.active].filter(([, owner]) => rack.includes(owner.processId));
      const total = rack
        .flatMap((p) => this.membersOf(p))
        .reduce((sum, m) => sum + this.count(m), 0);
      const missing =
        slots >= values.size - 1
          ? stateful.length - inRack.filter(([task]) => task.stateful).length
          : 0;
      return Math.ceil((total + missing) / taking);
    });
    return Math.max(0, ...rooms);
  }

  /** Section 5; `tags` begins with the priority key. */
  pickForDiversity(
    task: Task,
    tags: readonly string[],
    holdersOnly: boolean,
    limitOf: (processId: string) => number,
  ): AssignmentMember | 'noHolder' | undefined {
    const holders = this.processIds.filter((p) => this.holds(p, task));
    const isNew = (process: string, key: string): boolean => {
      const value = this.tagOf(process, key);
      return value !== undefined && holders.every((p) => this.tagOf(p, key) !== value);
    };
    const vector = (process: string): string =>
      tags.map((key) => (isNew(process, key) ? '1' : '0')).join('');
    const open = this.processIds.filter(
      (p) => !holders.includes(p) && this.freshOf(p).length > 0 && isNew(p, tags[0] ?? ''),
    );
    // Processes with the same tags have room together: that of the least loaded.
    const tagsOf = (p: string): string =>
      this.problem.rackAwareAssignmentTags.map((key) => this.tagOf(p, key) ?? '-').join();
    const withRoom = open.filter((p) => {
      const least = this.leastLoaded(open.filter((each) => tagsOf(each) === tagsOf(p))) ?? p;
      return this.count(this.leastMember(least)) < limitOf(p);
    });
    const eligible = withRoom.length > 0 ? withRoom : open;
    const best = eligible.map(vector).sort(byCodeUnits).at(-1);
    if (best === undefined) return undefined;
    const chosen = eligible.filter((p) => vector(p) === best);
    const previous = this.previousActive.get(task);
    for (const member of [
      ...(previous === undefined ? [] : [previous]),
      ...(this.candidates.get(task) ?? []),
    ]) {
      if (!chosen.includes(member.processId) || withRoom.length === 0) continue;
      if (this.count(this.leastMember(member.processId)) >= limitOf(member.processId)) continue;
      const hasRoom = this.isFresh(member) && this.count(member) < limitOf(member.processId);
      return hasRoom ? member : this.leastMember(member.processId);
    }
    if (holdersOnly) return 'noHolder';
    const process = this.leastLoaded(chosen);
    return process === undefined ? undefined : this.leastMember(process);
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

  /** 6.1, step 2; with siblings, a member without room is stood in for by the least loaded of its process. */
  bestCandidate(
    task: Task,
    candidates: readonly AssignmentMember[],
    { siblings, limit }: { readonly siblings: boolean; readonly limit: number },
  ): AssignmentMember | undefined {
    let best: { readonly member: AssignmentMember; readonly caughtUp: boolean } | undefined;
    for (const candidate of candidates) {
      const sameProcess = siblings ? this.freshOf(candidate.processId) : [];
      const [least] = sameProcess.toSorted((a, b) => this.count(a) - this.count(b));
      const hasRoom = this.isFresh(candidate) && this.count(candidate) < limit;
      const member = hasRoom ? candidate : least;
      if (member === undefined || this.count(member) >= limit) continue;
      const caughtUp = this.isCaughtUp(candidate, task);
      if (
        best === undefined ||
        (caughtUp >= best.caughtUp &&
          this.compareLoads(member.processId, best.member.processId) < 0 &&
          this.count(member) < this.count(best.member))
      ) {
        best = { member, caughtUp };
      }
    }
    return best?.member;
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

  /** Least load, then fewer stateless tasks per capacity, then process order. */
  leastLoaded(processIds: readonly string[]): string | undefined {
    return processIds.toSorted(
      (a, b) =>
        this.compareLoads(a, b) ||
        this.stateless(a) * this.capacity(b) - this.stateless(b) * this.capacity(a) ||
        byCodeUnits(a, b),
    )[0];
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

  stateless(processId: string): number {
    let count = 0;
    for (const [task, owner] of this.active) {
      if (!task.stateful && owner.processId === processId) count++;
    }
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

function quotaOf(tasks: number, members: number): Quota {
  return { tasks, members, limit: members === 0 ? 0 : Math.ceil(tasks / members) };
}

function reached(quota: Quota, count: number): void {
  if (count !== quota.limit) return;
  Object.assign(quota, quotaOf(quota.tasks - count, quota.members - 1));
}

function inPartitionOrder(tasks: readonly Task[]): Task[] {
  return tasks.toSorted(
    (a, b) => a.partition - b.partition || byCodeUnits(a.subtopologyId, b.subtopologyId),
  );
}

function has(list: TaskList, task: Task): boolean {
  return list.some(
    (each) => each.subtopologyId === task.subtopologyId && each.partitions.includes(task.partition),
  );
}

function offsetOf(reports: readonly TaskOffset[], task: Task): bigint | undefined {
  return reports.findLast(
    (each) => each.subtopologyId === task.subtopologyId && each.partition === task.partition,
  )?.offset;
}

function listOf(tasks: readonly Task[]): TaskList {
  const grouped = new Map<string, number[]>();
  for (const { subtopologyId, partition } of tasks) {
    grouped.set(subtopologyId, [...(grouped.get(subtopologyId) ?? []), partition]);
  }
  return [...grouped].map(([subtopologyId, partitions]) => ({ subtopologyId, partitions }));
}
