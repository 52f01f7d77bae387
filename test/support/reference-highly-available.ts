import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import { inPartitionOrder, quotaOf, reached, type Task } from './reference-parts.ts';
import { ReferenceStandbys } from './reference-standbys.ts';

/**
 * The highly available assignor as assignors 6.3 and 2.1 tell it, with objects, maps and linear scans: slow, and meant to be
 * checked by reading it next to the text. The oracle for the fast one. Its standbys are placed as those of `sticky`.
 */
export function referenceHighlyAvailable(problem: AssignmentProblem): AssignmentResult {
  return new ReferenceHighlyAvailable(problem).assign();
}

class ReferenceHighlyAvailable extends ReferenceStandbys {
  /** Actives that lie on processes, without those that stale members keep. */
  readonly processOf = new Map<Task, string>();
  /** So many actives each process is to have at this step. */
  shares = new Map<string, number>();

  assign(): AssignmentResult {
    const { tasks, members, problem } = this;
    const stateful = tasks.filter((task) => task.stateful);
    const stateless = tasks.filter((task) => !task.stateful);
    this.keepStaleActives(inPartitionOrder(stateful), inPartitionOrder(stateless));
    const fresh = members.filter((m) => this.isFresh(m));
    const copies = problem.numStandbyReplicas * stateful.length;
    const totalQuota = quotaOf(tasks.length - this.active.size + copies, fresh.length);
    for (const part of [stateful, stateless]) {
      const open = part.filter((task) => !this.active.has(task));
      if (fresh.length > 0) this.placeOnProcesses(open);
      for (const processId of this.able()) {
        const mine = open.filter((task) => this.processOf.get(task) === processId);
        this.fanOut(processId, mine, { stays: true, even: true }, (task, member) =>
          this.active.set(task, member),
        );
      }
    }
    for (const member of fresh) reached(totalQuota, this.count(member));
    this.placeStandbys(inPartitionOrder(stateful), totalQuota);
    return this.result();
  }

  placeOnProcesses(open: readonly Task[]): void {
    this.shares = this.dealShares(open);
    this.keep(open);
    for (const copies of [true, false]) this.moveToState(open, copies);
    this.giveUp(open);
    this.deal(open);
  }

  /** Step 1: the whole part of each even share, and of what is left over one more where it is held, else by largest remainder. */
  dealShares(open: readonly Task[]): Map<string, number> {
    const all = this.processOf.size + open.length;
    const even = (p: string): number => all * this.freshOf(p).length;
    const whole = (p: string): number => Math.floor(even(p) / this.freshCount());
    const remainder = (p: string): number => even(p) % this.freshCount();
    const isBound = (p: string): number => (this.placedOn(p) > whole(p) ? 1 : 0);
    const keepsOne = (p: string): number => (this.heldBy(p, open) > whole(p) ? 1 : 0);
    const shares = new Map(this.processIds.map((p) => [p, whole(p)]));
    const left = all - this.processIds.reduce((sum, p) => sum + whole(p), 0);
    const able = this.processIds
      .filter((p) => remainder(p) > 0)
      .sort(
        (a, b) =>
          isBound(b) - isBound(a) ||
          keepsOne(b) - keepsOne(a) ||
          remainder(b) - remainder(a) ||
          this.heldBy(b, open) - this.heldBy(a, open) ||
          byCodeUnits(a, b),
      );
    for (const p of able.slice(0, left)) shares.set(p, whole(p) + 1);
    return shares;
  }

  /** Step 2: where it is held; last what could go to somebody who lacks tasks and has its state. */
  keep(open: readonly Task[]): void {
    const lacking = this.processIds.filter((p) => this.heldBy(p, open) < (this.shares.get(p) ?? 0));
    const isWanted = (task: Task): boolean =>
      (this.candidates.get(task) ?? []).some((m) => lacking.includes(m.processId));
    const ordered = bySubtopology(open).flatMap((part) => [
      ...part.filter((task) => !isWanted(task)),
      ...part.filter(isWanted),
    ]);
    for (const task of ordered) {
      const processId = this.previousActive.get(task)?.processId;
      if (processId === undefined || this.freshOf(processId).length === 0) continue;
      if (this.keepsEven(processId, task, open)) this.processOf.set(task, processId);
    }
  }

  /** Step 2: what is nowhere, or with who has too many, goes to who has room and a copy; then to who has it on disk. */
  moveToState(open: readonly Task[], copies: boolean): void {
    for (const task of open) {
      const from = this.processOf.get(task);
      if (from !== undefined && this.room(from) >= 0) continue;
      const to = this.candidatesOf(task, copies).find(
        ({ processId: p }) => this.room(p) > 0 && this.keepsEven(p, task, open),
      );
      if (to !== undefined) this.processOf.set(task, to.processId);
    }
  }

  giveUp(open: readonly Task[]): void {
    for (const task of inPartitionOrder(open).reverse()) {
      const processId = this.processOf.get(task);
      if (processId !== undefined && this.room(processId) < 0) this.processOf.delete(task);
    }
  }

  /** The rest by deficit: of the subtopology, then of all, as long as it stays even; else where it is the least uneven. */
  deal(open: readonly Task[]): void {
    for (const task of open) {
      if (this.processOf.has(task)) continue;
      const able = this.able().filter((p) => this.room(p) > 0);
      const [leastUneven] = able.toSorted(
        (a, b) => this.over(a, task, open) - this.over(b, task, open) || byCodeUnits(a, b),
      );
      const [leastLoaded] = able
        .filter((p) => this.keepsEven(p, task, open))
        .sort(
          (a, b) =>
            this.placedOn(a) * this.capacity(b) - this.placedOn(b) * this.capacity(a) ||
            byCodeUnits(a, b),
        );
      const below = able.find((p) => this.partOn(p, task) < this.wholePart(p, task, open));
      const processId = below ?? leastLoaded ?? leastUneven;
      if (processId !== undefined) this.processOf.set(task, processId);
    }
  }

  /** One more of the subtopology on the process leaves it with no more than the whole part of its share, or one above. */
  keepsEven(processId: string, task: Task, open: readonly Task[]): boolean {
    const over = (p: string): number => this.partOn(p, task) - this.wholePart(p, task, open);
    if (over(processId) < 0) return true;
    if (over(processId) > 0 || !this.isUneven(processId, task, open)) return false;
    const parts = this.processIds.map((p) => this.wholePart(p, task, open));
    const count = open.filter((other) => other.subtopologyId === task.subtopologyId).length;
    const mayBeAbove = count - parts.reduce((sum, part) => sum + part, 0);
    const above = this.processIds.reduce((sum, p) => sum + Math.max(0, over(p)), 0);
    return above < mayBeAbove;
  }

  /** How far a process is above what it may have of the task's subtopology. */
  over(processId: string, task: Task, open: readonly Task[]): number {
    const most =
      this.wholePart(processId, task, open) + (this.isUneven(processId, task, open) ? 1 : 0);
    return this.partOn(processId, task) - most;
  }

  wholePart(processId: string, task: Task, open: readonly Task[]): number {
    return Math.floor(this.partShare(processId, task, open) / this.freshCount());
  }

  isUneven(processId: string, task: Task, open: readonly Task[]): boolean {
    return this.partShare(processId, task, open) % this.freshCount() !== 0;
  }

  /** The process's share of the task's subtopology, times the fresh members there are. */
  partShare(processId: string, { subtopologyId }: Task, open: readonly Task[]): number {
    const count = open.filter((other) => other.subtopologyId === subtopologyId).length;
    return count * this.freshOf(processId).length;
  }

  partOn(processId: string, { subtopologyId }: Task): number {
    return [...this.processOf].filter(
      ([other, p]) => p === processId && other.subtopologyId === subtopologyId,
    ).length;
  }

  placedOn(processId: string): number {
    return [...this.processOf.values()].filter((p) => p === processId).length;
  }

  /** Below zero: so many it has to give up. */
  room(processId: string): number {
    return (this.shares.get(processId) ?? 0) - this.placedOn(processId);
  }

  /** Actives of the process: those placed at an earlier step, and those it holds now. */
  heldBy(processId: string, open: readonly Task[]): number {
    const holds = (task: Task): boolean => this.previousActive.get(task)?.processId === processId;
    const earlier = [...this.processOf].filter(([task]) => !open.includes(task));
    return earlier.filter(([, p]) => p === processId).length + open.filter(holds).length;
  }

  freshCount(): number {
    return this.members.filter((m) => this.isFresh(m)).length;
  }
}

function bySubtopology(tasks: readonly Task[]): readonly Task[][] {
  const parts = new Map<string, Task[]>();
  for (const task of tasks) {
    parts.set(task.subtopologyId, [...(parts.get(task.subtopologyId) ?? []), task]);
  }
  return [...parts.values()];
}
