import type { Group } from '../../model/group.ts';
import { PersistentMap } from '../../model/persistent-map.ts';
import type { DerivedRefinement } from '../../model/soft.ts';
import { countTasks, sameTasksByRole } from '../../model/task-list.ts';
import { NO_TASKS, NO_TASKS_BY_ROLE } from '../../model/tasks.ts';

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
  const look = (memberId: string): void => {
    const member = members.get(memberId);
    const isOff =
      member !== undefined &&
      !sameTasksByRole(targets.get(memberId) ?? NO_TASKS_BY_ROLE, member.assigned);
    if (isOff === (offTarget ?? known.offTarget).has(memberId)) return;
    offTarget ??= new Set(known.offTarget);
    if (isOff) offTarget.add(memberId);
    else offTarget.delete(memberId);
  };
  known.members.forEachChange(members, look);
  let { targetTasks } = known;
  known.targets.forEachChange(targets, (memberId, was, is) => {
    targetTasks += countTasks(is?.active ?? NO_TASKS) - countTasks(was?.active ?? NO_TASKS);
    // Whoever is new was looked at.
    if (known.members.has(memberId)) look(memberId);
  });
  return { members, targets, offTarget: offTarget ?? known.offTarget, targetTasks };
}

const NOTHING: OffTarget = {
  members: PersistentMap.empty(),
  targets: PersistentMap.empty(),
  offTarget: new Set(),
  targetTasks: 0,
};
