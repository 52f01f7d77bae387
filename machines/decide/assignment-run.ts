import type { AssignmentRun, Context } from '../decision.ts';
import type { RunProblem } from '../model/assignment.ts';
import type { Group } from '../model/group.ts';
import type { GroupSettings } from '../model/settings.ts';
import type { GroupSoft } from '../model/soft.ts';
import type { ConfiguredTopology } from '../model/topology.ts';
import { assignorInUse } from './assignor-in-use.ts';
import type { Draft } from './draft.ts';

/** Why a due target is not computed now; each one shows as status ASSIGNMENT_DELAYED (ASG-2). */
export type Delay = 'initialDelay' | 'interval' | 'runInFlight' | 'runFailed';

/**
 * What keeps a due target from being computed, the first in order (ASG-2). A wall clock that went back counts as
 * an interval that is over: nobody waits for ever.
 */
export function delayOf(
  group: Group,
  soft: GroupSoft,
  settings: GroupSettings,
  nowMs: number,
): Delay | undefined {
  const { assignmentIntervalMs } = settings;
  const isWithin = (sinceMs: number): boolean =>
    nowMs >= sinceMs && nowMs - sinceMs < assignmentIntervalMs;
  if (soft.delaying) return 'initialDelay';
  if (group.assignmentTimestampMs !== 0 && isWithin(group.assignmentTimestampMs)) return 'interval';
  if (soft.run !== undefined) return 'runInFlight';
  if (soft.runFailedAtMs !== undefined && isWithin(soft.runFailedAtMs)) return 'runFailed';
  return undefined;
}

/**
 * Starts a run of the assignor over the group as the draft has it (OFF-2).
 *
 * @param waitingMemberId whose answer waits for it; undefined if nobody's does.
 * @returns the number of the run.
 */
export function startRun(
  draft: Draft,
  configured: ConfiguredTopology,
  settings: GroupSettings,
  waitingMemberId: string | undefined,
): number {
  const { group, soft } = draft;
  const run: AssignmentRun = {
    incarnation: soft.incarnation,
    run: soft.nextRun,
    groupEpoch: group.groupEpoch,
    problem: snapshot(draft, configured, settings),
  };
  draft.change({
    nextRun: soft.nextRun + 1,
    run: {
      run: run.run,
      groupEpoch: group.groupEpoch,
      topologyEpoch: configured.topologyEpoch,
      instanceIds: group.staticMembers,
      waitingMemberId,
    },
  });
  draft.cause({ type: 'startRun', run });
  return run.run;
}

/** Lets the assignor get ready for a run that is due and has to wait. */
export function prepareRun(draft: Draft, configured: ConfiguredTopology): void {
  draft.cause({ type: 'prepareRun', problem: snapshot(draft, configured, draft.context.settings) });
}

function snapshot(
  { group, soft, context }: Draft,
  configured: ConfiguredTopology,
  settings: GroupSettings,
): RunProblem {
  return problemOf({ group, soft }, configured, { settings, behaviour: context.behaviour });
}

/** The assignor's input: what every member has now, not what it is to have (ASG-7). */
export function problemOf(
  { group, soft }: { readonly group: Group; readonly soft: GroupSoft },
  configured: ConfiguredTopology,
  { settings, behaviour }: Pick<Context, 'settings' | 'behaviour'>,
): RunProblem {
  const { assignToStaleMembers, placeAsKafka } = behaviour;
  const { assignorMissing } = settings;
  return {
    groupId: group.groupId,
    assignor: assignorInUse(settings, behaviour, configured.subtopologies),
    ...(assignorMissing !== undefined && { assignorMissing }),
    topologyEpoch: configured.topologyEpoch,
    subtopologies: configured.subtopologies,
    members: group.members,
    reports: soft.members,
    targets: group.targets,
    group,
    numStandbyReplicas: settings.numStandbyReplicas,
    acceptableRecoveryLag: settings.acceptableRecoveryLag,
    rackAwareAssignmentTags: settings.rackAwareAssignmentTags,
    placeAsKafka,
    assignToStaleMembers,
  };
}
