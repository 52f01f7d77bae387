import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../../machines/model/assignment.ts';
import { inPartitionOrder, type Quota, quotaOf, reached, type Task } from './reference-parts.ts';
import { ReferenceStandbys } from './reference-standbys.ts';

/**
 * The sticky assignor as assignors 6.1 and 2.1 tell it, with objects, maps and linear scans: slow, and meant to be
 * checked by reading it next to the text. The oracle for the fast one. Takes a problem with its lists in any order.
 */
export function referenceSticky(problem: AssignmentProblem): AssignmentResult {
  return new ReferenceSticky(problem).assign();
}

class ReferenceSticky extends ReferenceStandbys {
  assign(): AssignmentResult {
    const { tasks, members, problem } = this;
    const stateful = inPartitionOrder(tasks.filter((task) => task.stateful));
    const stateless = inPartitionOrder(tasks.filter((task) => !task.stateful));
    const fresh = members.filter((m) => this.isFresh(m));

    this.keepStaleActives(stateful, stateless);
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
    return this.result();
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
    const receiverOf = (candidates: AssignmentMember[]): AssignmentMember | undefined =>
      candidates
        .flatMap((m) => [m, ...this.membersOf(m.processId)])
        .find((m) => this.isFresh(m) && plan(m) < floor);
    const give = (task: Task, member: AssignmentMember): void => {
      this.active.set(task, member);
      for (const each of updated) reached(each, this.count(member));
    };
    for (const copies of [true, false]) {
      for (const task of stateful) {
        const holder = this.holderOf(task);
        if (holder === undefined || plan(holder) <= floor) continue;
        if (plan(holder) === floor + 1 && toFloor <= 0) continue;
        const receiver = receiverOf(this.candidatesOf(task, copies));
        if (receiver === undefined) continue;
        if (plan(holder) === floor + 1) toFloor--;
        planned.set(holder, plan(holder) - 1);
        planned.set(receiver, plan(receiver) + 1);
        give(task, receiver);
      }
    }
    // Who is still above has nothing to give that lies with somebody below. For a process that has come back a sibling gives
    // instead, and takes one of its tasks.
    for (const task of stateful) {
      const holder = this.holderOf(task);
      if (holder === undefined || plan(holder) <= floor) continue;
      if (plan(holder) === floor + 1 && toFloor <= 0) continue;
      for (const other of this.tasks.filter((each) => each.stateful)) {
        const sibling = this.holderOf(other);
        if (sibling === holder || sibling?.processId !== holder.processId) continue;
        const receiver = receiverOf(this.candidatesOnDiskOfReturned(other));
        if (receiver === undefined) continue;
        if (plan(holder) === floor + 1) toFloor--;
        planned.set(holder, plan(holder) - 1);
        planned.set(receiver, plan(receiver) + 1);
        give(task, sibling);
        give(other, receiver);
        break;
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
}
