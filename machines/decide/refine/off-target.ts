import type { Group } from '../../model/group.ts';
import type { Member } from '../../model/member.ts';
import { PersistentMap } from '../../model/persistent-map.ts';
import type { DerivedRefinement } from '../../model/soft.ts';
import { countTasks, sameTasksByRole } from '../../model/task-list.ts';
import { NO_TASKS, NO_TASKS_BY_ROLE, type TasksByRole } from '../../model/tasks.ts';

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
  const { members, targets } = group;
  const known = before ?? NOTHING;
  let offTarget: Set<string> | undefined;
  let { targetTasks } = known;
  const look = (memberId: string, { assigned }: Member, target: TasksByRole): void => {
    note(memberId, !sameTasksByRole(target, assigned));
  };
  const note = (memberId: string, isOff: boolean): void => {
    if (isOff === (offTarget ?? known.offTarget).has(memberId)) return;
    offTarget ??= new Set(known.offTarget);
    if (isOff) offTarget.add(memberId);
    else offTarget.delete(memberId);
  };
  known.members.forEachChange(members, (memberId, was, is) => {
    if (is === undefined) {
      targetTasks -= countTasks(known.targets.get(memberId)?.active ?? NO_TASKS);
      note(memberId, false);
      return;
    }
    const target = targets.get(memberId) ?? NO_TASKS_BY_ROLE;
    if (was === undefined) targetTasks += countTasks(target.active);
    look(memberId, is, target);
  });
  known.targets.forEachChange(targets, (memberId, was, is) => {
    const member = members.get(memberId);
    // Who came or left is counted already.
    if (member === undefined || !known.members.has(memberId)) return;
    targetTasks += countTasks(is?.active ?? NO_TASKS) - countTasks(was?.active ?? NO_TASKS);
    look(memberId, member, is ?? NO_TASKS_BY_ROLE);
  });
  return { members, targets, offTarget: offTarget ?? known.offTarget, targetTasks };
}

const NOTHING: OffTarget = {
  members: PersistentMap.empty(),
  targets: PersistentMap.empty(),
  offTarget: new Set(),
  targetTasks: 0,
};
