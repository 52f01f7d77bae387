import type { Group } from './model/group.ts';
import { countTasksIn, sameTasksByRole } from './model/task-list.ts';
import type { HeldTasks, TasksByRole } from './model/tasks.ts';
import { NO_TASKS_BY_ROLE } from './model/tasks.ts';

/** How far the members of a group are from its target. */
export type OffTarget = Pick<Group, 'offTarget' | 'targetTasks'>;

/** What everybody is to have, and how far they are from it. */
export type TargetsOfGroup = Pick<Group, 'targets'> & OffTarget;

/** A member's tasks changed from `before` to `after`; undefined = it is not there. Costs its tasks, and nothing where it has the same. */
export function tasksChanged(
  group: TargetsOfGroup,
  memberId: string,
  before: HeldTasks | undefined,
  after: HeldTasks | undefined,
): OffTarget {
  if (before === after) return group;
  const { offTarget } = group;
  const target = group.targets.get(memberId);
  const isOff = after !== undefined && isOffTarget(after, target);
  return {
    offTarget: isOff ? offTarget.set(memberId, true) : offTarget.delete(memberId),
    targetTasks:
      group.targetTasks +
      (Number(after !== undefined) - Number(before !== undefined)) * activeTasks(target),
  };
}

/** What the target gives some members changed, each once; null = nothing. One that is not there has no part in it. */
export function targetsChanged(
  group: TargetsOfGroup & Pick<Group, 'members'>,
  changes: readonly { readonly memberId: string; readonly value: TasksByRole | null }[],
): OffTarget {
  const off: string[] = [];
  let { offTarget, targetTasks } = group;
  for (const { memberId, value } of changes) {
    const assigned = group.members.get(memberId)?.assigned;
    if (assigned === undefined) continue;
    targetTasks += activeTasks(value) - activeTasks(group.targets.get(memberId));
    if (isOffTarget(assigned, value)) off.push(memberId);
    else offTarget = offTarget.delete(memberId);
  }
  return { offTarget: offTarget.setAll(off, new Array<true>(off.length).fill(true)), targetTasks };
}

function isOffTarget(assigned: HeldTasks, target: TasksByRole | null | undefined): boolean {
  return !sameTasksByRole(target ?? NO_TASKS_BY_ROLE, assigned);
}

function activeTasks(target: TasksByRole | null | undefined): number {
  return target ? countTasksIn(target, 'active') : 0;
}
