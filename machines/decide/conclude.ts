import type { Client, HeartbeatAnswer } from '../commands.ts';
import type { HeldHeartbeat } from '../decision.ts';
import type { Member } from '../model/member.ts';
import type { MemberSoft } from '../model/soft.ts';
import { sameTasksByRole } from '../model/task-list.ts';
import type { TasksByRole } from '../model/tasks.ts';
import { deniedTopics, heartbeatAnswer, isInHandover, statusesOf, tellTasks } from './answer.ts';
import type { Delay } from './assignment-run.ts';
import type { Draft } from './draft.ts';
import { endpointMap } from './endpoints.ts';
import { intermediateTarget, isAboutToTakeOver, isIntermediateKnown } from './intermediate.ts';
import { assignmentOf } from './member-fields.ts';
import { ownedTasks } from './owned.ts';
import { isThroughWith, reconcile } from './reconcile.ts';
import { sayReconciled } from './say-reconciled.ts';
import { backFromBreak } from './static-member.ts';

/** What the last steps of a heartbeat need of it, at once or after a wait (OFF-8). */
export type Beat = Omit<HeldHeartbeat, 'run'> & {
  /** Its member is back from a break, which no record says yet: it starts from epoch 0 (STAT-3). */
  readonly returned: boolean;
};

/**
 * Steps 12 to 15 of a heartbeat: moves its member toward the installed target, keeps its timers, and says what
 * the answer says (coordination, section 2).
 *
 * @param delay why the target of the present group epoch is not there yet, if so.
 */
export function concludeHeartbeat(
  draft: Draft,
  beat: Beat,
  delay: Delay | undefined,
): HeartbeatAnswer {
  const { context } = draft;
  const { request, client } = beat;
  const { memberId } = request;
  const said = ownedTasks(request);
  const stored = draft.member(memberId);
  const before = beat.returned ? backFromBreak(stored) : stored;
  const after = reconcileMember(draft, before, said);
  draft.cause({ type: 'armSession', memberId, delayMs: context.settings.sessionTimeoutMs });

  const tasksChanged = !sameTasksByRole(after.assigned, before.assigned);
  const { soft } = draft;
  const isNews = tasksChanged && after.userEndpoint !== null && !beat.endpointEpochRaised;
  const endpointEpoch = soft.endpointEpoch + (isNews ? 1 : 0);
  const isCounted = !beat.created || context.behaviour.countEndpointsOfCreatingJoin;
  // A raise that does not count still made the map news for the member that caused it (IQ-3).
  const raisedEpoch = endpointEpoch + Number(!isCounted && beat.endpointEpochRaised);

  const statuses = statusesOf({
    group: draft.group,
    member: after,
    configured: soft.configured,
    delay,
    shutdownBy: soft.shutdownBy,
    client,
    context,
  });
  const known = draft.softOf(memberId);
  const { lists, acknowledged } = tellTasks({
    joined: beat.joined,
    tasksChanged,
    assigned: after.assigned,
    said,
    acknowledged: known.acknowledged,
    repeats: context.behaviour.repeatTasksUntilAcknowledged,
  });
  const { handoverHeartbeatIntervalMs } = context.coordinator;
  const { heartbeatIntervalMs } = context.settings;
  const hurried =
    handoverHeartbeatIntervalMs > 0 &&
    isInHandover(after, statuses, delay, isAboutToTakeOver(draft, memberId)) &&
    (known.hurried || context.mayHurry);

  if (isNews && isCounted) draft.change({ endpointEpoch });
  noteAnswered(draft, memberId, { acknowledged, hurried });
  askForTopics(draft, client);
  return heartbeatAnswer({
    member: after,
    heartbeatIntervalMs: hurried
      ? Math.min(handoverHeartbeatIntervalMs, heartbeatIntervalMs)
      : heartbeatIntervalMs,
    statuses,
    lists,
    endpointEpoch: isCounted ? endpointEpoch : 0,
    endpoints:
      request.endpointInformationEpoch === raisedEpoch
        ? null
        : endpointMap({
            group: draft.group,
            soft: draft.soft,
            topics: context.topics,
            behaviour: context.behaviour,
          }),
    context,
  });
}

/** Step 13: the member's step, its record if it changed, and its rebalance timer (REC-10, REC-11). */
function reconcileMember(draft: Draft, before: Member, said: TasksByRole | undefined): Member {
  const { group } = draft;
  // The way of every idle heartbeat.
  if (isThroughWith(before, group.assignmentEpoch) && isIntermediateKnown(draft)) return before;
  const { member: after, waitingFor } = reconcile({
    member: before,
    assignmentEpoch: group.assignmentEpoch,
    target: intermediateTarget(draft, before.memberId),
    owned: said,
    holders: group.holders,
  });
  if (after === before) return before;
  const { memberId, memberEpoch } = after;
  sayReconciled(draft, before, after, waitingFor);
  draft.write({
    type: 'currentAssignment',
    groupId: group.groupId,
    memberId,
    value: assignmentOf(after),
  });
  if (draft.group.state === 'Stable') draft.say(`All members are settled at epoch ${memberEpoch}`);
  if (after.state === 'unrevokedTasks') {
    const delayMs = Math.max(0, after.rebalanceTimeoutMs);
    draft.cause({ type: 'armRebalance', memberId, delayMs, memberEpoch });
  } else if (before.state === 'unrevokedTasks') {
    draft.cause({ type: 'cancelRebalance', memberId });
  }
  return after;
}

/** Keeps what the answer told the member; nothing is touched when that is as before (RSP-6, RSP-8). */
function noteAnswered(
  draft: Draft,
  memberId: string,
  { acknowledged, hurried }: Pick<MemberSoft, 'acknowledged' | 'hurried'>,
): void {
  const known = draft.softOf(memberId);
  if (acknowledged === known.acknowledged && hurried === known.hurried) return;
  draft.changeMember(memberId, { acknowledged, hurried });
  const more = Number(hurried) - Number(known.hurried);
  if (more !== 0) draft.change({ hurriedMembers: draft.soft.hurriedMembers + more });
}

/** Every answer asks anew, if its client may: what is in flight or failing is the creator's to know (TOP-14, C-1, C-3). */
function askForTopics(draft: Draft, client: Client): void {
  const topics = draft.soft.configured?.missingInternalTopics;
  if (topics === undefined || topics.length === 0) return;
  if (deniedTopics(client, topics).length > 0) return;
  const { heartbeatIntervalMs } = draft.context.settings;
  draft.cause({ type: 'createTopics', topics, failureTtlMs: 2 * heartbeatIntervalMs });
}
