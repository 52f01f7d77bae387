import type { Group } from '../../model/group.ts';
import type { Member } from '../../model/member.ts';
import type { DerivedRefinement } from '../../model/soft.ts';
import { countActiveTasks, sameTasksByRole } from '../../model/task-list.ts';
import { NO_TASKS_BY_ROLE, type TasksByRole } from '../../model/tasks.ts';

/** Who is off target, and in which state of a group. */
export type OffTarget = Pick<
  DerivedRefinement,
  'members' | 'targets' | 'offTarget' | 'targetTasks'
>;

/**
 * Finds the members that have other tasks than the target gives them, in any role. Costs the members that changed, or whose target did, since it was found last; the first time,
 * all of them.
 *
 * @param before what was found last; undefined = nothing is known.
 */
export function findOffTarget(before: OffTarget | undefined, group: Group): OffTarget {
  return before === undefined ? findAll(group) : findChanges(before, group);
}

function findAll({ members, targets }: Group): OffTarget {
  const offTarget = new Set<string>();
  let targetTasks = 0;
  members.forEachBeside(targets, (memberId, { assigned }, target = NO_TASKS_BY_ROLE) => {
    targetTasks += countActiveTasks(target);
    if (!sameTasksByRole(target, assigned)) offTarget.add(memberId);
  });
  return { members, targets, offTarget, targetTasks };
}

function findChanges(known: OffTarget, { members, targets }: Group): OffTarget {
  let offTarget: Set<string> | undefined;
  let { targetTasks } = known;
  const note = (memberId: string, isOff: boolean): void => {
    if (isOff === (offTarget ?? known.offTarget).has(memberId)) return;
    offTarget ??= new Set(known.offTarget);
    if (isOff) offTarget.add(memberId);
    else offTarget.delete(memberId);
  };
  const look = (memberId: string, { assigned }: Member, target: TasksByRole): void => {
    note(memberId, !sameTasksByRole(target, assigned));
  };
  known.members.forEachChange(members, (memberId, was, is) => {
    if (is === undefined) {
      targetTasks -= countActiveTasks(known.targets.get(memberId) ?? NO_TASKS_BY_ROLE);
      note(memberId, false);
      return;
    }
    const target = targets.get(memberId) ?? NO_TASKS_BY_ROLE;
    if (was === undefined) targetTasks += countActiveTasks(target);
    look(memberId, is, target);
  });
  known.targets.forEachChange(targets, (memberId, was, is) => {
    // Who came or left is counted already.
    if (!known.members.has(memberId)) return;
    const member = members.get(memberId);
    if (member === undefined) return;
    targetTasks +=
      countActiveTasks(is ?? NO_TASKS_BY_ROLE) - countActiveTasks(was ?? NO_TASKS_BY_ROLE);
    look(memberId, member, is ?? NO_TASKS_BY_ROLE);
  });
  return { members, targets, offTarget: offTarget ?? known.offTarget, targetTasks };
}
