import type { RunOutcome } from '../decision.ts';
import type { Group } from '../model/group.ts';
import type { TargetChange } from '../model/look-back.ts';
import type { RunInFlight } from '../model/soft.ts';
import type { TasksByRole } from '../model/tasks.ts';
import { NO_TASKS_BY_ROLE } from '../model/tasks.ts';
import type { NewTarget, PreparedTarget } from '../new-target.ts';
import { type TargetsOfGroup, targetsChanged, tasksChanged } from '../off-target.ts';
import { atOnce } from './at-once.ts';
import type { Draft } from './draft.ts';
import { byMember, newTarget, noteChange, prepareTarget, recordsOf } from './prepare-target.ts';
import { sayMoves } from './say-moves.ts';

/** The empty target that a topology which is not ready gives everybody (ASG-9, TOP-13). */
export function installNothing(draft: Draft): void {
  const { group } = draft;
  const changes: TargetChange[] = [];
  for (const memberId of group.members.keys()) {
    noteChange(changes, memberId, group.targets.get(memberId), NO_TASKS_BY_ROLE);
  }
  install(draft, group.groupEpoch, newTarget(group, changes.sort(byMember)));
}

/**
 * Installs what a run found, as if every membership change since had come after it: members that left have no say, one
 * that came has an empty target, and a static member that was replaced hands its target on (ASG-8, OFF-3). If the target
 * was prepared, it costs what changed since; the records are made again where somebody came or went.
 */
export function installResult(
  draft: Draft,
  run: RunInFlight,
  outcome: Extract<RunOutcome, { kind: 'assigned' }>,
): void {
  const { groupEpoch, problem, result, looksBack } = outcome;
  const prepared = outcome.prepared ?? atOnce(prepareTarget(problem.group, result));
  const assignor = result.standIn?.assignor ?? problem.assignor;
  const target = withWhatCameSince(prepared, draft.group, run);
  install(draft, groupEpoch, target, looksBack === true ? assignor : undefined);
}

/** A prepared target for the group as it is now. */
function withWhatCameSince(
  { group: then, changes, records, made }: PreparedTarget,
  now: Group,
  { instanceIds }: RunInFlight,
): NewTarget {
  let sofar = made;
  /** Members that are to have something else than was prepared, or had something else when it is installed. */
  const others = new Set<string>();
  then.members.forEachChange(now.members, (memberId, before, after) => {
    if (before === undefined || after === undefined) others.add(memberId);
    if (before?.assigned === after?.assigned) return;
    sofar = { ...sofar, ...tasksChanged(sofar, memberId, before?.assigned, after?.assigned) };
  });
  then.targets.forEachChange(now.targets, (memberId) => others.add(memberId));
  if (others.size === 0) return { changes, records, made: sofar };

  const changed = new Map(changes.map(({ memberId, after }) => [memberId, after]));
  const found = (memberId: string) => changed.get(memberId) ?? then.targets.get(memberId);
  const handedOn = (memberId: string) => {
    const instanceId = now.members.get(memberId)?.instanceId ?? null;
    const replaced = instanceId === null ? undefined : instanceIds.get(instanceId);
    return replaced === undefined || now.members.has(replaced) ? undefined : found(replaced);
  };
  const ofOthers: TargetChange[] = [];
  const values = Array.from(others, (memberId) => {
    const before = now.targets.get(memberId);
    if (!now.members.has(memberId)) return { memberId, value: before ?? null };
    const after = then.members.has(memberId) ? found(memberId) : handedOn(memberId);
    const noted = ofOthers.length;
    noteChange(ofOthers, memberId, before, after ?? NO_TASKS_BY_ROLE);
    return { memberId, value: ofOthers[noted]?.after ?? before ?? null };
  });
  const all = [...changes.filter(({ memberId }) => !others.has(memberId)), ...ofOthers];
  all.sort(byMember);
  return {
    changes: all,
    records: recordsOf(now.groupId, all),
    made: withValues(sofar, now, values),
  };
}

/** @param values null: the member is to have none. */
function withValues(
  made: TargetsOfGroup,
  { members }: Group,
  values: readonly { readonly memberId: string; readonly value: TasksByRole | null }[],
): TargetsOfGroup {
  let { targets } = made;
  for (const { memberId, value } of values) {
    targets = value === null ? targets.delete(memberId) : targets.set(memberId, value);
  }
  return { targets, ...targetsChanged({ ...made, members }, values) };
}

/**
 * A record per member that had no target or another one, by id, then the epoch, always (ASG-10).
 *
 * @param assignor whose run is being looked back on; undefined: nothing will be known of it.
 */
function install(
  draft: Draft,
  assignmentEpoch: number,
  { changes, records, made }: NewTarget,
  assignor?: string,
): void {
  const { groupId } = draft.group;
  draft.writeTargets(records, made);
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
