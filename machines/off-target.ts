import type { Group } from './model/group.ts';
import { countActiveTasks, sameTasksByRole } from './model/task-list.ts';
import type { HeldTasks, TasksByRole } from './model/tasks.ts';
import { NO_TASKS_BY_ROLE } from './model/tasks.ts';

/** How far the members of a group are from its target. */
export type OffTarget = Pick<Group, 'offTarget' | 'targetTasks'>;

/** A member's tasks changed from `before` to `after`; undefined = it is not there. Costs its tasks, and nothing where it has the same. */
export function tasksChanged(
  group: Group,
  memberId: string,
  before: HeldTasks | undefined,
  after: HeldTasks | undefined,
): OffTarget {
  if (before === after) return group;
  const target = group.targets.get(memberId);
  return {
    offTarget: note(group.offTarget, memberId, after, target),
    targetTasks:
      group.targetTasks +
      (Number(after !== undefined) - Number(before !== undefined)) * activeTasks(target),
  };
}

/** What the target gives a member changed likewise; one that is not there has no part in it. */
export function targetChanged(
  group: Group,
  memberId: string,
  before: TasksByRole | undefined,
  after: TasksByRole | undefined,
): OffTarget {
  const assigned = group.members.get(memberId)?.assigned;
  if (assigned === undefined || before === after) return group;
  return {
    offTarget: note(group.offTarget, memberId, assigned, after),
    targetTasks: group.targetTasks - activeTasks(before) + activeTasks(after),
  };
}

/** What the target gives many members changed likewise. */
export function targetsChanged(
  group: Group,
  changes: readonly { readonly memberId: string; readonly value: TasksByRole }[],
): OffTarget {
  const off: [string, true][] = [];
  let { offTarget, targetTasks } = group;
  for (const { memberId, value } of changes) {
    const assigned = group.members.get(memberId)?.assigned;
    if (assigned === undefined) continue;
    targetTasks += countActiveTasks(value) - activeTasks(group.targets.get(memberId));
    if (!sameTasksByRole(value, assigned)) off.push([memberId, true]);
    else offTarget = offTarget.delete(memberId);
  }
  return { offTarget: offTarget.setAll(off), targetTasks };
}

function note(
  offTarget: Group['offTarget'],
  memberId: string,
  assigned: HeldTasks | undefined,
  target: TasksByRole = NO_TASKS_BY_ROLE,
): Group['offTarget'] {
  const isOff = assigned !== undefined && !sameTasksByRole(target, assigned);
  return isOff ? offTarget.set(memberId, true) : offTarget.delete(memberId);
}

function activeTasks(target: TasksByRole | undefined): number {
  return target === undefined ? 0 : countActiveTasks(target);
}
