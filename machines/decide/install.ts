import type { AssignmentProblem, AssignmentResult } from '../model/assignment.ts';
import type { Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { RunInFlight } from '../model/soft.ts';
import { sameTasksByRole } from '../model/task-list.ts';
import type { TasksByRole } from '../model/tasks.ts';
import { NO_TASKS, NO_TASKS_BY_ROLE } from '../model/tasks.ts';
import type { Draft } from './draft.ts';
import { sayMoves, type TargetChange } from './say-moves.ts';

/**
 * Installs a target: a record per present member that had none or another one, then the epoch, always (ASG-10).
 * A member without an entry gets an empty target (ASG-8, OFF-3c).
 */
export function installTarget(
  draft: Draft,
  assignmentEpoch: number,
  entryOf: (memberId: string) => TasksByRole | undefined,
): void {
  const { group, context } = draft;
  const { groupId } = group;
  const changes: TargetChange[] = [];
  for (const memberId of [...group.members.keys()].sort(byCodeUnits)) {
    const after = entryOf(memberId) ?? NO_TASKS_BY_ROLE;
    const before = group.targets.get(memberId);
    if (before !== undefined && sameTasksByRole(before, after)) continue;
    draft.write({ type: 'targetMember', groupId, memberId, value: after });
    changes.push({ memberId, before: before ?? NO_TASKS_BY_ROLE, after });
  }
  draft.write({
    type: 'targetMetadata',
    groupId,
    value: { assignmentEpoch, assignmentTimestampMs: context.nowMs },
  });
  sayMoves(draft, changes);
}

/** The empty target that a topology which is not ready gives everybody (ASG-9, TOP-13). */
export function installNothing(draft: Draft): void {
  installTarget(draft, draft.group.groupEpoch, () => NO_TASKS_BY_ROLE);
}

/**
 * The entry of a present member in a run's result, as if every membership change since had come after the run
 * (OFF-3): members that left have no say, and a static member that was replaced hands its entry on.
 */
export function entriesOf(
  group: Group,
  run: RunInFlight,
  problem: AssignmentProblem,
  result: AssignmentResult,
): (memberId: string) => TasksByRole | undefined {
  const entries = new Map<string, TasksByRole>();
  problem.members.forEach(({ memberId }, at) => {
    const entry = result.members[at];
    if (entry !== undefined) {
      entries.set(memberId, { active: entry.active, standby: entry.standby, warmup: NO_TASKS });
    }
  });
  return (memberId) => {
    const own = entries.get(memberId);
    if (own !== undefined) return own;
    const instanceId = group.members.get(memberId)?.instanceId ?? null;
    const replaced = instanceId === null ? undefined : run.instanceIds.get(instanceId);
    if (replaced === undefined || group.members.has(replaced)) return undefined;
    return entries.get(replaced);
  };
}
