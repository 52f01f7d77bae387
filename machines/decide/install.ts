import type { RunOutcome } from '../decision.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { TargetChange } from '../model/look-back.ts';
import { NumberedTargets, NumberedTasks } from '../model/numbered-tasks.ts';
import type { RunInFlight } from '../model/soft.ts';
import { sameTasksByRole } from '../model/task-list.ts';
import type { TasksByRole } from '../model/tasks.ts';
import { NO_TASKS_BY_ROLE } from '../model/tasks.ts';
import type { Draft } from './draft.ts';
import { sayMoves } from './say-moves.ts';

/** The empty target that a topology which is not ready gives everybody (ASG-9, TOP-13). */
export function installNothing(draft: Draft): void {
  const { members, targets } = draft.group;
  const changes: TargetChange[] = [];
  for (const memberId of members.keys()) {
    noteChange(changes, memberId, targets.get(memberId), NO_TASKS_BY_ROLE);
  }
  install(draft, draft.group.groupEpoch, changes);
}

/**
 * Installs what a run found, as if every membership change since had come after it: members that left have no say, one
 * that came has an empty target, and a static member that was replaced hands its target on (ASG-8, OFF-3). Only what
 * changed since is looked up.
 */
export function installResult(
  draft: Draft,
  run: RunInFlight,
  { groupEpoch, problem, result, looksBack }: Extract<RunOutcome, { kind: 'assigned' }>,
): void {
  const { members, targets } = draft.group;
  const left = new Set<string>();
  const came: string[] = [];
  problem.members.forEachChange(members, (memberId, before, after) => {
    if (before === undefined) came.push(memberId);
    else if (after === undefined) left.add(memberId);
  });
  const installedSince = new Set<string>();
  problem.targets.forEachChange(targets, (memberId) => installedSince.add(memberId));
  const changes: TargetChange[] = [];
  const ofTheLeft = new Map<string, TasksByRole>();
  const { targets: found } = result;
  result.memberIds.forEach((memberId, at) => {
    if (left.size > 0 && left.has(memberId)) {
      ofTheLeft.set(memberId, found.at(at) ?? NO_TASKS_BY_ROLE);
      return;
    }
    const isNews = installedSince.size > 0 && installedSince.has(memberId);
    const before = isNews ? targets.get(memberId) : result.installed[at];
    if (before && found instanceof NumberedTargets && found.isSame(at, before)) return;
    noteChange(changes, memberId, before, found.at(at) ?? NO_TASKS_BY_ROLE);
  });
  for (const memberId of came) {
    const instanceId = members.get(memberId)?.instanceId ?? null;
    const replaced = instanceId === null ? undefined : run.instanceIds.get(instanceId);
    const handedOn = replaced === undefined ? undefined : ofTheLeft.get(replaced);
    noteChange(changes, memberId, targets.get(memberId), handedOn ?? NO_TASKS_BY_ROLE);
  }
  letGo(changes, result.memberIds.length);
  const assignor = result.standIn?.assignor ?? problem.assignor;
  install(draft, groupEpoch, changes, looksBack === true ? assignor : undefined);
}

function noteChange(
  changes: TargetChange[],
  memberId: string,
  before: TasksByRole | undefined,
  after: TasksByRole,
): void {
  if (before !== undefined && sameTasksByRole(before, after)) return;
  changes.push({ memberId, before: before ?? NO_TASKS_BY_ROLE, after });
}

/** The lists of all members belong to targets that are all of one run; else each keeps its own. */
function letGo(changes: readonly TargetChange[], memberCount: number): void {
  if (changes.length >= memberCount) return;
  for (const { after } of changes) if (after instanceof NumberedTasks) after.letGo();
}

/**
 * A record per member that had no target or another one, by id, then the epoch, always (ASG-10).
 *
 * @param assignor whose run is being looked back on; undefined: nothing will be known of it.
 */
function install(
  draft: Draft,
  assignmentEpoch: number,
  changes: TargetChange[],
  assignor?: string,
): void {
  const { groupId } = draft.group;
  changes.sort((a, b) => byCodeUnits(a.memberId, b.memberId));
  draft.writeTargets(
    changes.map(({ memberId, after }) => ({
      type: 'targetMember',
      groupId,
      memberId,
      value: after,
    })),
  );
  draft.write({
    type: 'targetMetadata',
    groupId,
    value: { assignmentEpoch, assignmentTimestampMs: draft.context.nowMs },
  });
  draft.change({ targetFigures: undefined });
  if (assignor === undefined) sayMoves(draft, changes);
  else {
    const { incarnation } = draft.soft;
    draft.tellLater({ assignor, changes, incarnation, group: draft.group });
  }
}
