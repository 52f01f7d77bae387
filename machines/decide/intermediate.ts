import { isWithin, lagBetween, offsetsByTask } from '../model/lag.ts';
import type { Member } from '../model/member.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Refinement, RefinerLimits, TaskMove } from '../model/refinement.ts';
import { UNREFINED } from '../model/refinement.ts';
import type { DerivedRefinement, MemberSoft } from '../model/soft.ts';
import type { RefinerMember } from '../model/survey.ts';
import { hasTask, sameTasksByRole, subtractTasks, unionTasks } from '../model/task-list.ts';
import type { TasksByRole } from '../model/tasks.ts';
import { NO_TASKS_BY_ROLE } from '../model/tasks.ts';
import { raiseGroupEpoch } from './bump.ts';
import type { Draft } from './draft.ts';
import { NOTHING_MOVES, type Refined, refine, refineAgain } from './refine/refine.ts';
import { makesDifference, type Reporter } from './refine/watched.ts';
import { whoMatters } from './refine/who-matters.ts';
import { sayRefined } from './say-refined.ts';

/** The version from which on heartbeats report how far copies are (OFS-4). */
const REPORTS_COPIES_SINCE = 1;

/**
 * What a member is to reconcile toward: its slice of the intermediate assignment of the installed target's epoch,
 * which is derived at the first need and stays as it is while the epoch does (WU-4).
 */
export function intermediateTarget(draft: Draft, memberId: string): TasksByRole {
  const { group, context } = draft;
  const target = group.targets.get(memberId);
  // Whoever came since the target was made has nothing to reconcile toward, whatever it had in a former life.
  if (target === undefined) return NO_TASKS_BY_ROLE;
  if (!context.behaviour.warmups) return target;
  const { intermediate } = draft.soft;
  const refinement =
    intermediate?.assignmentEpoch === group.assignmentEpoch
      ? intermediate.refinement
      : freeze(draft, derive(draft).refinement);
  const slice = refinement.slices.get(memberId);
  if (slice !== undefined) return slice;
  // Its own lists say the same, and are known to be what it has without a look into them.
  return group.offTarget.has(memberId) ? target : draft.member(memberId).assigned;
}

/**
 * Step 8, the refinement step: in a group that is settled, a member whose slice of the intermediate assignment is no
 * longer what it has gets the group one epoch further, target and its time unchanged, without a run of the assignor.
 * Others whose slice differs ride along, or take a step of their own (WU-2, WU-3, GE-6).
 *
 * So does the first heartbeat after a load in the middle of a move, if members are through with an intermediate
 * assignment that was lost with the memory. Under the same epoch they would never look at the one that is derived now,
 * and who waits for their tasks would wait for ever (WU-4, REC-1).
 *
 * To be called only when nothing else raised the epoch in this heartbeat.
 */
export function maybeStepOn(draft: Draft, memberId: string): void {
  const { group, context } = draft;
  if (!context.behaviour.warmups) return;
  const wasLost = group.state === 'Reconciling' && isIntermediateLost(draft);
  if (group.state !== 'Stable' && !wasLost) return;
  const { refinement } = derive(draft);
  const slice = refinement.slices.get(memberId);
  const isOffSlice =
    slice === undefined
      ? group.offTarget.has(memberId)
      : !sameTasksByRole(slice, draft.member(memberId).assigned);
  if (!(wasLost ? refinement.moves.length > 0 : isOffSlice)) return;
  raiseGroupEpoch(draft, [wasLost ? 'Warm-ups start over after a load' : 'Warm-ups move on']);
  draft.write({
    type: 'targetMetadata',
    groupId: group.groupId,
    value: {
      assignmentEpoch: draft.group.groupEpoch,
      assignmentTimestampMs: group.assignmentTimestampMs,
    },
  });
  freeze(draft, refinement);
}

/** Members are through with the installed target, and yet nothing is known of the intermediate assignment of it. */
function isIntermediateLost(draft: Draft): boolean {
  const { assignmentEpoch, stableMembersByEpoch } = draft.group;
  return !isIntermediateKnown(draft) && stableMembersByEpoch.has(String(assignmentEpoch));
}

/** The intermediate assignment of the installed target is there, or none is needed. */
export function isIntermediateKnown({ group, soft, context }: Draft): boolean {
  const { warmups } = context.behaviour;
  return !warmups || soft.intermediate?.assignmentEpoch === group.assignmentEpoch;
}

/**
 * Whether a member has a caught-up copy of a task that is to be its own: it gets the task as soon as the present owner
 * lets go, and should hear of that at once (RSP-8, WU-17).
 */
export function isAboutToTakeOver(draft: Draft, memberId: string): boolean {
  const { group, soft, context } = draft;
  // Whoever waits for a task has a slice of its own: without it nothing has to be looked at.
  if (soft.intermediate?.refinement.slices.has(memberId) !== true) return false;
  const { assigned } = draft.member(memberId);
  const target = group.targets.get(memberId) ?? NO_TASKS_BY_ROLE;
  const wanted = subtractTasks(target.active, assigned.active);
  const copies = unionTasks(assigned.standby, assigned.warmup);
  const { taskOffsets, taskEndOffsets } = draft.softOf(memberId);
  const isToBeOwn = (subtopologyId: string, partition: number) =>
    hasTask(wanted, subtopologyId, partition) && hasTask(copies, subtopologyId, partition);
  const offsets = offsetsByTask(taskOffsets, isToBeOwn);
  const { acceptableRecoveryLag } = context.settings;
  for (const [task, end] of offsetsByTask(taskEndOffsets, isToBeOwn)) {
    if (isWithin(lagBetween(offsets.get(task), end), acceptableRecoveryLag)) return true;
  }
  return false;
}

/** A static member's slice goes with its place to the member that took it (STAT-5). */
export function renameInIntermediate(draft: Draft, before: string, after: string): void {
  const { intermediate } = draft.soft;
  const slice = intermediate?.refinement.slices.get(before);
  if (intermediate === undefined || slice === undefined) return;
  const slices = new Map(intermediate.refinement.slices);
  slices.delete(before);
  slices.set(after, slice);
  const refinement = { ...intermediate.refinement, slices };
  draft.change({ intermediate: { ...intermediate, refinement } });
}

/**
 * From now on this is the intermediate assignment of the installed target's epoch; says what is new about it. What is
 * kept of the moves is what waits: the first target of a large group grants every task.
 */
function freeze(draft: Draft, refinement: Refinement): Refinement {
  const before = draft.soft.intermediate?.refinement.moves ?? [];
  const isWaiting = ({ kind }: TaskMove) => kind === 'staged';
  // Most often it is all of them.
  const moves = refinement.moves.every(isWaiting)
    ? refinement.moves
    : refinement.moves.filter(isWaiting);
  const { assignmentEpoch } = draft.group;
  const { slices } = refinement;
  draft.change({ intermediate: { assignmentEpoch, refinement: { slices, moves } } });
  sayRefined(draft, before, refinement.moves);
  return refinement;
}

/**
 * Takes note of what a member reports, and of the version in which it does: the refinement is found anew when that can
 * make a difference, so that one task that moves does not cost the work of the group at every report of everybody (WU-2).
 */
export function noteReport(draft: Draft, memberId: string, report: Partial<MemberSoft>): void {
  const before = draft.softOf(memberId);
  draft.changeMember(memberId, report);
  const after = draft.softOf(memberId);
  const { derived, reporters } = draft.soft;
  if (derived?.basis === undefined) return;
  const { acceptableRecoveryLag } = draft.context.settings;
  const { processId, assigned } = draft.member(memberId);
  const target = draft.group.targets.get(memberId) ?? NO_TASKS_BY_ROLE;
  const reporter = (heard: MemberSoft): Reporter => {
    const { taskOffsets, taskEndOffsets } = heard;
    return {
      processId,
      assigned,
      target,
      taskOffsets,
      taskEndOffsets,
      reportsCopies: reportsCopies(heard),
    };
  };
  const { survey } = derived.basis;
  if (!makesDifference(survey, reporter(before), reporter(after), acceptableRecoveryLag)) return;
  draft.change({ reporters: reporters.set(memberId, true) });
}

/**
 * Refines the target as the group is now; what was found last is found again as long as nothing it follows from changed,
 * and most of it where only a few members reported something.
 */
function derive(draft: Draft): DerivedRefinement {
  const { group, soft } = draft;
  const limits = limitsOf(draft);
  const known = isOfNow(draft, limits, soft.derived) ? soft.derived : undefined;
  if (known !== undefined && isUnchanged(draft, known)) return known;
  const refined =
    known?.basis === undefined
      ? refineAnew(draft, limits)
      : refineAgain({ ...known, basis: known.basis }, reportersOf(draft), limits);
  if (refined === undefined) {
    draft.say('Staging would lose or double an active task: nothing is staged');
  }
  const derived: DerivedRefinement = {
    refinement: refined?.refinement ?? UNREFINED,
    basis: refined?.basis,
    members: group.members,
    targets: group.targets,
    configured: soft.configured,
    limits,
  };
  draft.change({ derived, reporters: PersistentMap.empty() });
  return derived;
}

function limitsOf({ context }: Draft): RefinerLimits {
  const { settings, coordinator } = context;
  return {
    warmupsMax: settings.numWarmupReplicas,
    acceptableRecoveryLag: settings.acceptableRecoveryLag,
    nowMs: context.nowMs,
    waitMaxMs: coordinator.warmupWaitMaxMs,
    // Members send their offsets when that interval is over, with the heartbeat that comes next.
    silenceMs: settings.taskOffsetIntervalMs + settings.heartbeatIntervalMs,
  };
}

/** Members have and are to have the same tasks, and are held against the same. */
function isOfNow(
  { group, soft }: Draft,
  limits: RefinerLimits,
  derived: DerivedRefinement | undefined,
): boolean {
  return (
    derived !== undefined &&
    derived.members === group.members &&
    derived.targets === group.targets &&
    derived.configured === soft.configured &&
    derived.limits.warmupsMax === limits.warmupsMax &&
    derived.limits.acceptableRecoveryLag === limits.acceptableRecoveryLag &&
    derived.limits.waitMaxMs === limits.waitMaxMs &&
    derived.limits.silenceMs === limits.silenceMs &&
    derived.limits.nowMs <= limits.nowMs
  );
}

/** Time makes a difference only when a wait is over. */
function isUnchanged({ soft, context }: Draft, { refinement }: DerivedRefinement): boolean {
  return soft.reporters.size === 0 && context.nowMs < refinement.untilMs;
}

/** Nothing is staged where warm-ups are off or the topology is not ready (WU-1). */
function refineAnew(draft: Draft, limits: RefinerLimits): Refined | undefined {
  const { group, soft } = draft;
  const { configured } = soft;
  if (limits.warmupsMax === 0 || configured === undefined || configured.problem !== undefined) {
    return NOTHING_MOVES;
  }
  const { members, isPart } = whoMatters(group, configured);
  return refine({
    ...limits,
    subtopologies: configured.subtopologies,
    members: members.map((member) => refinerMember(draft, member)),
    isPart,
    waits: soft.derived?.refinement.waits ?? UNREFINED.waits,
    known: soft.derived?.basis?.survey,
  });
}

function reportersOf(draft: Draft): readonly RefinerMember[] {
  const { members } = draft.group;
  return Array.from(draft.soft.reporters.keys(), (memberId) => members.get(memberId))
    .filter((member) => member !== undefined)
    .map((member) => refinerMember(draft, member));
}

function refinerMember({ group, soft }: Draft, member: Member): RefinerMember {
  const { memberId, processId, assigned, pendingRevocation } = member;
  const heard = soft.members.get(memberId);
  return {
    memberId,
    processId,
    assigned,
    revokedWarmups: pendingRevocation.warmup,
    target: group.targets.get(memberId) ?? NO_TASKS_BY_ROLE,
    taskOffsets: heard?.taskOffsets ?? [],
    taskEndOffsets: heard?.taskEndOffsets ?? [],
    reportedAtMs: heard?.reportedAtMs,
    reportsCopies: reportsCopies(heard),
  };
}

function reportsCopies(heard: MemberSoft | undefined): 'yes' | 'no' | 'unknown' {
  if (heard?.heartbeatVersion === undefined) return 'unknown';
  return heard.heartbeatVersion >= REPORTS_COPIES_SINCE ? 'yes' : 'no';
}
