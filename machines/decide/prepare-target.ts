import { foldTargets } from '../apply.ts';
import type { GroupResult } from '../model/assignment.ts';
import type { Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { TargetChange } from '../model/look-back.ts';
import { NumberedTargets, NumberedTasks } from '../model/numbered-tasks.ts';
import { sameTasksByRole } from '../model/task-list.ts';
import { NO_TASKS_BY_ROLE, type TasksByRole } from '../model/tasks.ts';
import type { NewTarget, PreparedTarget } from '../new-target.ts';
import type { TargetsOfGroup } from '../off-target.ts';
import type { MadeTarget } from '../records.ts';

/** Members looked at in one go. */
const MEMBERS_AT_ONCE = 200;

/**
 * Prepares what a run found for its group: the decision to install it adds only what happened meanwhile.
 *
 * In a large group others would have to wait for this, so it stops after every so many members.
 */
export function* prepareTarget(
  group: Group,
  { memberIds, installed, targets: found }: GroupResult,
): Generator<void, PreparedTarget> {
  const changes: TargetChange[] = [];
  for (let at = 0; at < memberIds.length; at++) {
    const before = installed[at];
    const isSame = before && found instanceof NumberedTargets && found.isSame(at, before);
    if (!isSame) {
      noteChange(changes, memberIds[at] as string, before, found.at(at) ?? NO_TASKS_BY_ROLE);
    }
    if (at % MEMBERS_AT_ONCE === MEMBERS_AT_ONCE - 1) yield;
  }
  letGo(changes, memberIds.length);
  changes.sort(byMember);
  const records: MadeTarget[] = [];
  let made: TargetsOfGroup = group;
  for (let from = 0; from < changes.length; from += MEMBERS_AT_ONCE) {
    if (from > 0) yield;
    const part = recordsOf(group.groupId, changes.slice(from, from + MEMBERS_AT_ONCE));
    made = foldTargets({ ...made, members: group.members }, part);
    records.push(...part);
  }
  return { group, changes, records, made };
}

/** The changes as a target of a group. */
export function newTarget(group: Group, changes: readonly TargetChange[]): NewTarget {
  const records = recordsOf(group.groupId, changes);
  return { changes, records, made: foldTargets(group, records) };
}

/** Notes what a member gets, unless it has it. */
export function noteChange(
  changes: TargetChange[],
  memberId: string,
  before: TasksByRole | undefined,
  after: TasksByRole,
): void {
  if (before !== undefined && sameTasksByRole(before, after)) return;
  changes.push({ memberId, before: before ?? NO_TASKS_BY_ROLE, after });
}

export function byMember(one: TargetChange, other: TargetChange): number {
  return byCodeUnits(one.memberId, other.memberId);
}

export function recordsOf(groupId: string, changes: readonly TargetChange[]): MadeTarget[] {
  return changes.map(({ memberId, after }) => ({
    type: 'targetMember',
    groupId,
    memberId,
    value: after,
  }));
}

/** The lists of all members belong to targets that are all of one run; else each keeps its own. */
function letGo(changes: readonly TargetChange[], memberCount: number): void {
  if (changes.length >= memberCount) return;
  for (const { after } of changes) if (after instanceof NumberedTasks) after.letGo();
}
