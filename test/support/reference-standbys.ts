import type { AssignmentMember } from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import { ReferenceGroup } from './reference-group.ts';
import { has, type Quota, quotaOf, reached, type Task } from './reference-parts.ts';

/** Who is to get standbys of a task, by task. */
type Plans = Map<Task, AssignmentMember[]>;

type Planning = { readonly plans: Plans; readonly quota: Quota };

/** The standby pass of `sticky`, and how candidates and processes are compared; see {@link referenceSticky}. */
export abstract class ReferenceStandbys extends ReferenceGroup {
  /** Those who have the task on disk, of processes that hold no stateful active. */
  candidatesOnDiskOfReturned(task: Task): AssignmentMember[] {
    return this.candidatesOf(task, false).filter(({ processId }) => {
      const holders = [...this.previousActive].filter(([held]) => held.stateful);
      const isHolding = holders.some(([, holder]) => holder.processId === processId);
      return !isHolding && this.membersOf(processId).every((m) => this.isFresh(m));
    });
  }

  placeStandbys(stateful: readonly Task[], quota: Quota): void {
    const wanted = Math.min(this.problem.numStandbyReplicas, this.processIds.length - 1);
    const lacks = (task: Task): boolean => this.copies(task).length < wanted;
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
    const placeOnCandidates = (task: Task, copies: boolean): void => {
      while (lacks(task)) {
        const open = this.candidatesOf(task, copies).filter((m) => !this.holds(m.processId, task));
        const best = this.bestCandidate(task, open, { siblings: true, limit: quota.limit });
        if (best === undefined) break;
        place(task, best);
      }
    };
    const moved = stateful.toReversed().filter((task) => this.hasMoved(task));
    for (const copies of [true, false]) {
      const plans = this.planUncontested(stateful, wanted, copies);
      if (copies) this.handOverCopies(stateful, wanted, { plans, quota });
      for (const task of copies ? moved : []) {
        const previous = this.previousActive.get(task);
        if (previous === undefined) continue;
        const hasRoom = this.isFresh(previous) && this.count(previous) < quota.limit;
        if (lacks(task) && hasRoom && !this.holds(previous.processId, task)) place(task, previous);
        placeOnCandidates(task, true);
      }
      this.settle(plans, quota);
      for (const task of stateful.toReversed()) placeOnCandidates(task, copies);
    }
    for (const task of this.tasks.filter((each) => each.stateful).reverse()) {
      while (lacks(task)) {
        const process = this.leastLoaded(
          this.processIds.filter((p) => this.freshOf(p).length > 0 && !this.holds(p, task)),
        );
        if (process === undefined) break;
        const least = this.leastMember(process);
        const copy = this.candidatesOf(task, true).find(
          (m) => this.isFresh(m) && !this.holds(m.processId, task),
        );
        // In no quota's account: what is over has to go somewhere.
        this.copies(task).push(this.count(least) < quota.limit ? least : (copy ?? least));
      }
    }
  }

  hasMoved(task: Task): boolean {
    const previous = this.previousActive.get(task);
    return previous !== undefined && previous !== this.active.get(task);
  }

  /**
   * Standbys for who has come back: what lies on its disk, as long as it lacks tasks, in place of a copy of somebody above its
   * share or near a moved task, which goes to its holder that lacks the most.
   */
  handOverCopies(stateful: readonly Task[], wanted: number, { plans, quota }: Planning): void {
    const plan = (m: AssignmentMember): number =>
      [...plans.values()].flat().filter((each) => each === m).length;
    const floor = quota.members > 0 ? Math.floor(quota.tasks / quota.members) : 0;
    const over = (processId: string): number =>
      this.freshOf(processId).reduce((sum, m) => sum + this.count(m) + plan(m) - floor, 0);
    const held = (task: Task): AssignmentMember[] => [
      ...this.copies(task),
      ...(plans.get(task) ?? []),
    ];
    const holds = (processId: string, task: Task): boolean =>
      this.holds(processId, task) || held(task).some((m) => m.processId === processId);
    const place = (task: Task, member: AssignmentMember): void => {
      const landing = [member, ...this.membersOf(member.processId)].find(
        (m) => this.isFresh(m) && this.count(m) + plan(m) < floor,
      );
      if (landing === undefined)
        throw new Error('A process that lacks tasks has nobody to take one');
      this.copies(task).push(landing);
      reached(quota, this.count(landing));
    };
    const returned = this.members.flatMap((m) =>
      stateful
        .filter((task) => this.candidatesOnDiskOfReturned(task).includes(m))
        .toSorted((a, b) => this.tasks.indexOf(a) - this.tasks.indexOf(b))
        .map((task) => ({ task, receiver: m })),
    );
    const isAnyCopy = this.tasks.some((task) => this.candidatesOf(task, true).length > 0);
    if (returned.length === 0 || !isAnyCopy) return;
    const moved = this.tasks.filter(
      (task) => task.stateful && this.hasMoved(task) && this.copies(task).length < wanted,
    );
    const holdersOf = (task: Task): AssignmentMember[] => [
      ...[this.previousActive.get(task)].filter((m) => m !== undefined),
      ...this.candidatesOf(task, true),
    ];
    const pull = (processId: string): number =>
      moved.flatMap(holdersOf).filter((m) => m.processId === processId).length;
    const pulls = new Map(this.processIds.map((p) => [p, pull(p)]));
    for (const { task, receiver } of returned) {
      if (over(receiver.processId) >= 0 || holds(receiver.processId, task)) continue;
      const mine = plans.get(task) ?? [];
      if (held(task).length === wanted) {
        const giver = mine.find(({ processId: p }) => over(p) + (pulls.get(p) ?? 0) > 0);
        if (giver === undefined) continue;
        mine.splice(mine.indexOf(giver), 1);
      }
      place(task, receiver);
    }
    for (const task of moved) {
      while (this.copies(task).length < wanted) {
        const open = holdersOf(task).filter(({ processId: p }) => over(p) < 0 && !holds(p, task));
        const best = open.toSorted((a, b) => over(a.processId) - over(b.processId))[0];
        if (best === undefined) break;
        place(task, best);
      }
    }
  }

  /** A task's candidates of a kind that do not hold it yet, one of each process, if all are wanted. */
  newHolders(task: Task, copies: boolean, wanted: number): AssignmentMember[] {
    if (copies && this.hasMoved(task)) return [];
    const open = this.candidatesOf(task, copies).filter(
      (m, i, all) =>
        !this.holds(m.processId, task) &&
        all.findIndex(({ processId }) => processId === m.processId) === i,
    );
    return open.length > wanted - this.copies(task).length ? [] : open;
  }

  /** Candidates that are all wanted are to get their tasks first, if they have room for all that they get in this way. */
  planUncontested(stateful: readonly Task[], slots: number, copies: boolean): Plans {
    return new Map(stateful.map((task) => [task, this.newHolders(task, copies, slots)]));
  }

  settle(plans: Plans, quota: Quota): void {
    const planned = new Map<AssignmentMember, number>();
    for (const member of [...plans.values()].flat()) {
      planned.set(member, (planned.get(member) ?? 0) + 1);
    }
    const wants = (m: AssignmentMember): number =>
      this.isFresh(m) ? this.count(m) + (planned.get(m) ?? 0) : Infinity;
    const floor = quota.members > 0 ? Math.floor(quota.tasks / quota.members) : 0;
    const above = [...planned.keys()].filter((m) => wants(m) > floor);
    const fits =
      above.length <= quota.tasks - floor * quota.members &&
      above.every((m) => wants(m) <= floor + 1);
    const contested = fits ? [] : above;
    for (const [task, mine] of plans) {
      if (mine.some((m) => contested.includes(m))) continue;
      this.copies(task).push(...mine);
    }
    for (const member of planned.keys()) {
      if (!contested.includes(member)) reached(quota, this.count(member));
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
      if (!chosen.includes(member.processId)) continue;
      const isFull = this.count(this.leastMember(member.processId)) >= limitOf(member.processId);
      if (isFull && withRoom.length > 0) continue;
      const hasRoom = this.isFresh(member) && this.count(member) < limitOf(member.processId);
      return hasRoom ? member : this.leastMember(member.processId);
    }
    if (holdersOnly) return 'noHolder';
    const process = this.leastLoaded(chosen);
    return process === undefined ? undefined : this.leastMember(process);
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

  /** Least load, then fewer stateless tasks per capacity, then process order. */
  leastLoaded(processIds: readonly string[]): string | undefined {
    return processIds.toSorted(
      (a, b) =>
        this.compareLoads(a, b) ||
        this.stateless(a) * this.capacity(b) - this.stateless(b) * this.capacity(a) ||
        byCodeUnits(a, b),
    )[0];
  }

  stateless(processId: string): number {
    let count = 0;
    for (const [task, owner] of this.active) {
      if (!task.stateful && owner.processId === processId) count++;
    }
    return count;
  }
}
