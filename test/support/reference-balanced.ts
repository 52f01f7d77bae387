import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import { ReferenceGroup } from './reference-group.ts';
import { has, inPartitionOrder, type Task } from './reference-parts.ts';

/** A task in a role that lies on a process, before one of its members is chosen. */
type Placement = { readonly task: Task; readonly processId: string };

/**
 * The balanced assignor as assignors 6.2, 5 and 2.1 tell it, with objects, maps and linear scans: slow, and meant to be
 * checked by reading it next to the text. The oracle for the fast one.
 */
export function referenceBalanced(problem: AssignmentProblem): AssignmentResult {
  return new ReferenceBalanced(problem).assign();
}

class ReferenceBalanced extends ReferenceGroup {
  /** What lies on processes, by role; it goes to members by and by. */
  readonly actives: Placement[] = [];
  readonly copiesOf = new Map<Task, string[]>();

  assign(): AssignmentResult {
    const stateful = this.tasks.filter((task) => task.stateful);
    const stateless = this.tasks.filter((task) => !task.stateful);
    this.keepStaleActives(inPartitionOrder(stateful), inPartitionOrder(stateless));
    this.dealActives(stateful);
    this.fanOutActives(stateful, true);
    this.placeStandbys(stateful);
    this.levelStandbys(stateful);
    this.fanOutStandbys();
    this.dealActives(stateless);
    this.fanOutActives(stateless, false);
    return this.result();
  }

  /** Steps 1 and 3. */
  dealActives(part: readonly Task[]): void {
    for (const task of part.filter((each) => !this.active.has(each))) {
      const processId = this.least(this.able(), (p) => this.activesOn(p));
      if (processId !== undefined) this.actives.push({ task, processId });
    }
  }

  /** Step 2; the rack rule without a limit of room, and without regard to who held the task. */
  placeStandbys(stateful: readonly Task[]): void {
    const wanted = Math.min(this.problem.numStandbyReplicas, this.processIds.length - 1);
    const holders = (task: Task): string[] => [
      ...this.processIds.filter((p) => this.holds(p, task)),
      ...(this.copiesOf.get(task) ?? []),
    ];
    const placed = (task: Task): number =>
      this.copies(task).length + (this.copiesOf.get(task)?.length ?? 0);
    const place = (task: Task, processId: string): void => {
      this.copiesOf.set(task, [...(this.copiesOf.get(task) ?? []), processId]);
    };
    for (const task of stateful) {
      for (const member of this.candidatesOf(task, true)) {
        const keeps = !this.isFresh(member) && has(member.standby, task);
        if (keeps && placed(task) < wanted && !this.holds(member.processId, task)) {
          this.copies(task).push(member);
        }
      }
    }
    for (const task of stateful) {
      const tags = [...this.problem.rackAwareAssignmentTags];
      while (tags.length > 0 && placed(task) < wanted) {
        const processId = this.mostDiverse(holders(task), tags);
        if (processId === undefined) tags.shift();
        else place(task, processId);
      }
    }
    for (const task of stateful) {
      while (placed(task) < wanted) {
        const open = this.able().filter((p) => !holders(task).includes(p));
        const processId = this.least(open, (p) => this.tasksOn(p));
        if (processId === undefined) break;
        place(task, processId);
      }
    }
  }

  /** Step 2, level: over all ordered pairs, until nothing moves; with tags only between processes with the same ones. */
  levelStandbys(stateful: readonly Task[]): void {
    const isAlike = (p: string, q: string): boolean =>
      this.problem.rackAwareAssignmentTags.every(
        (key) => this.tagOf(p, key) === this.tagOf(q, key),
      );
    for (let isMoving = true; isMoving; ) {
      isMoving = false;
      for (const from of this.processIds) {
        for (const to of this.able().filter((each) => isAlike(from, each))) {
          for (const task of stateful) {
            const copies = this.copiesOf.get(task) ?? [];
            if (!copies.includes(from) || copies.includes(to) || this.holds(to, task)) continue;
            const without = (this.tasksOn(from) - 1) * this.capacity(to);
            if (without < (this.tasksOn(to) + 1) * this.capacity(from)) continue;
            copies[copies.indexOf(from)] = to;
            isMoving = true;
          }
        }
      }
    }
  }

  mostDiverse(holders: readonly string[], tags: readonly string[]): string | undefined {
    const isNew = (process: string, key: string): boolean => {
      const value = this.tagOf(process, key);
      return value !== undefined && holders.every((p) => this.tagOf(p, key) !== value);
    };
    const vector = (process: string): string =>
      tags.map((key) => (isNew(process, key) ? '1' : '0')).join('');
    const open = this.able().filter((p) => !holders.includes(p) && vector(p).startsWith('1'));
    const best = open.map(vector).sort(byCodeUnits).at(-1);
    return this.least(
      open.filter((p) => vector(p) === best),
      (p) => this.tasksOn(p),
    );
  }

  fanOutActives(part: readonly Task[], stays: boolean): void {
    for (const processId of this.processIds) {
      const mine = this.actives.filter((each) => each.processId === processId);
      const tasks = mine.map(({ task }) => task).filter((task) => part.includes(task));
      this.fanOut(processId, tasks, { stays }, (task, member) => this.active.set(task, member));
    }
    const left = this.actives.filter(({ task }) => !part.includes(task));
    this.actives.splice(0, this.actives.length, ...left);
  }

  fanOutStandbys(): void {
    for (const processId of this.processIds) {
      const tasks = this.tasks.filter((task) => this.copiesOf.get(task)?.includes(processId));
      this.fanOut(processId, tasks, { stays: true }, (task, member) =>
        this.copies(task).push(member),
      );
    }
    this.copiesOf.clear();
  }

  activesOn(processId: string): number {
    const given = [...this.active.values()].filter((m) => m.processId === processId).length;
    return given + this.actives.filter((each) => each.processId === processId).length;
  }

  tasksOn(processId: string): number {
    const copies = [...this.copiesOf.values()].filter((list) => list.includes(processId)).length;
    const given = this.membersOf(processId).reduce((sum, m) => sum + this.count(m), 0);
    // Actives that are not with a member yet: none while standbys are placed.
    return given + copies;
  }

  least(processIds: readonly string[], load: (processId: string) => number): string | undefined {
    return processIds.toSorted(
      (a, b) => load(a) * this.capacity(b) - load(b) * this.capacity(a) || byCodeUnits(a, b),
    )[0];
  }
}
