import type { HeartbeatAnswer } from '../commands.ts';
import type {
  Context,
  GroupDecision,
  GroupSlot,
  HeartbeatDecision,
  HeldHeartbeat,
  RunOutcome,
} from '../decision.ts';
import { standInText } from '../model/assignors.ts';
import { emptySlot } from '../model/empty.ts';
import { JOIN_EPOCH } from '../model/ids.ts';
import { refusedAnswer } from './answer.ts';
import type { Delay } from './assignment-run.ts';
import { delayOf, prepareRun, startRun } from './assignment-run.ts';
import { concludeHeartbeat } from './conclude.ts';
import { Draft } from './draft.ts';
import { installNothing, installResult } from './install.ts';
import { isAway } from './static-member.ts';

/** What a heartbeat found about the target. */
export type TargetFound =
  /** The answer can go; with the reason why the target is not there yet, if so. */
  | { readonly kind: 'go'; readonly delay: Delay | undefined }
  /** The answer waits for the run (OFF-8). */
  | { readonly kind: 'wait'; readonly run: number };

/**
 * Step 11: sees to a due target. A topology that is not ready gives an empty one at once; else a run of the
 * assignor is started, unless something keeps it (ASG-1, ASG-2, ASG-9).
 */
export function findTarget(draft: Draft, memberId: string): TargetFound {
  const { group, soft, context } = draft;
  const { configured } = soft;
  if (group.assignmentEpoch >= group.groupEpoch) {
    return { kind: 'go', delay: soft.delaying ? 'initialDelay' : undefined };
  }
  const delay = delayOf(group, soft, context.settings, context.nowMs);
  const isReady = configured !== undefined && configured.problem === undefined;
  if (!isReady && (delay === undefined || delay === 'runInFlight' || delay === 'runFailed')) {
    // Whatever a run still computes is for a topology that is gone (OFF-5).
    draft.change({ run: undefined, runFailedAtMs: undefined, standIn: undefined });
    installNothing(draft);
    return { kind: 'go', delay: undefined };
  }
  if (delay === 'runInFlight' && soft.run?.waitingMemberId === memberId) {
    return { kind: 'wait', run: soft.run.run };
  }
  if (configured === undefined) return { kind: 'go', delay };
  if (delay !== undefined) {
    prepareRun(draft, configured);
    return { kind: 'go', delay };
  }
  const waits = context.coordinator.assignorAnswerWaitMs > 0;
  const run = startRun(draft, configured, context.settings, waits ? memberId : undefined);
  return waits ? { kind: 'wait', run } : { kind: 'go', delay: 'runInFlight' };
}

/**
 * A run of the assignor ended: its result is installed if it is still for the group as it is, else dropped; a
 * failed run changes nothing but the time of the next one (OFF-3 to OFF-6).
 *
 * @param held the heartbeat whose answer waits for this run; answered in the same batch (OFF-8).
 * @returns undefined answer if none was held.
 */
export function decideRunOver(
  slot: GroupSlot | undefined,
  outcome: RunOutcome,
  held: HeldHeartbeat | undefined,
  context: Context,
): GroupDecision<HeartbeatAnswer | undefined> {
  const draft = new Draft(slot ?? emptySlot(held?.request.groupId ?? ''), context);
  const delay = slot?.group === undefined ? undefined : endRun(draft, outcome);
  return draft.done({
    kind: 'answer',
    value: held === undefined ? undefined : answerHeld(draft, held, delay),
  });
}

/**
 * The answer of a heartbeat waited long enough, or its member or group went away meanwhile: it is answered with
 * what is installed (OFF-8). Errors are in the answer; nothing is thrown.
 */
export function decideWaitOver(
  slot: GroupSlot | undefined,
  held: HeldHeartbeat,
  context: Context,
): HeartbeatDecision {
  const draft = new Draft(slot ?? emptySlot(held.request.groupId), context);
  const { run } = draft.soft;
  const waitsOn = run?.run === held.run && run.waitingMemberId === held.request.memberId;
  if (waitsOn) draft.change({ run: { ...run, waitingMemberId: undefined } });
  return draft.done({ kind: 'answer', value: answerHeld(draft, held, presentDelay(draft)) });
}

/** Takes the outcome of a run in. @returns why its target is not there, if it is not. */
function endRun(draft: Draft, outcome: RunOutcome): Delay | undefined {
  const { group, soft, context } = draft;
  const { run, configured } = soft;
  const isOurs = outcome.incarnation === soft.incarnation && outcome.run === run?.run;
  if (run === undefined || !isOurs) return presentDelay(draft);
  draft.change({ run: undefined });
  if (outcome.kind === 'failed') {
    draft.change({ runFailedAtMs: context.nowMs });
    draft.say(`Computing the target of epoch ${run.groupEpoch} failed: ${outcome.reason}`);
    return 'runFailed';
  }
  const isStale =
    group.members.size === 0 ||
    outcome.groupEpoch <= group.assignmentEpoch ||
    configured?.topologyEpoch !== run.topologyEpoch ||
    configured.problem !== undefined;
  if (isStale) {
    draft.say(`The target computed for epoch ${run.groupEpoch} is dropped: the group moved on`);
    return presentDelay(draft);
  }
  const { standIn } = outcome.result;
  draft.change({ runFailedAtMs: undefined, standIn });
  if (standIn !== undefined) draft.say(standInText(standIn));
  installResult(draft, run, outcome);
  return undefined;
}

/** The answer to a held heartbeat as its member stands now; with its group or itself gone, the error it would meet. */
function answerHeld(draft: Draft, held: HeldHeartbeat, delay: Delay | undefined): HeartbeatAnswer {
  const { groupId, memberId, memberEpoch } = held.request;
  if (!draft.hasMember(memberId)) {
    // A join is never told that its group is not there: it made it, and can make it again.
    return draft.hasGroup || memberEpoch === JOIN_EPOCH
      ? refusedAnswer('UNKNOWN_MEMBER_ID', `Cannot find member "${memberId}" in group "${groupId}"`)
      : refusedAnswer('GROUP_ID_NOT_FOUND', `Cannot find streams group "${groupId}"`);
  }
  if (isAway(draft.member(memberId))) {
    return refusedAnswer(
      'FENCED_MEMBER_EPOCH',
      `Member "${memberId}" left for a while before it was answered: it must join again`,
    );
  }
  return concludeHeartbeat(draft, { ...held, returned: false }, delay);
}

/** Why the target is behind the group epoch now; undefined when it is not. */
function presentDelay(draft: Draft): Delay | undefined {
  if (!draft.hasGroup) return undefined;
  const { group, soft, context } = draft;
  if (group.assignmentEpoch >= group.groupEpoch) return undefined;
  // Nothing keeps the next run: it starts with the next heartbeat, and this one came to nothing.
  return delayOf(group, soft, context.settings, context.nowMs) ?? 'runFailed';
}
