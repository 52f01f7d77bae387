import type { Context, GroupDecision, GroupSlot } from '../decision.ts';
import { startRun } from './assignment-run.ts';
import { withStoredConfigs } from './bump.ts';
import { Draft } from './draft.ts';
import { installNothing } from './install.ts';
import { removeMember } from './remove-member.ts';

const SILENT = { kind: 'answer', value: undefined } as const;

/**
 * The session timer of a member fired: it is removed (FENCE-1).
 *
 * @returns undefined when there is nothing to do (FENCE-3).
 */
export function decideSessionExpired(
  slot: GroupSlot | undefined,
  memberId: string,
  context: Context,
): GroupDecision<undefined> | undefined {
  if (slot?.group?.members.has(memberId) !== true) return undefined;
  const draft = new Draft(slot, context);
  const { sessionTimeoutMs } = context.settings;
  removeMember(draft, memberId, `${memberId} was silent for ${sessionTimeoutMs} ms and is removed`);
  return draft.done(SILENT);
}

/**
 * The rebalance timer of a member fired: it is removed if it is still at the epoch at which it was told to give
 * tasks up (section 10, FENCE-1).
 *
 * @param armedEpoch the member's epoch when the timer was armed.
 */
export function decideRebalanceExpired(
  slot: GroupSlot | undefined,
  memberId: string,
  armedEpoch: number,
  context: Context,
): GroupDecision<undefined> | undefined {
  const member = slot?.group?.members.get(memberId);
  if (slot === undefined || member === undefined || member.memberEpoch !== armedEpoch) {
    return undefined;
  }
  const draft = new Draft(slot, context);
  const reason = `${memberId} did not give up its tasks within ${member.rebalanceTimeoutMs} ms and is removed`;
  removeMember(draft, memberId, reason);
  return draft.done(SILENT);
}

/**
 * The initial rebalance delay is over: the members that gathered get their first target, by the configs that the
 * group's record has (ASG-5, WR-8). They learn of it at their next heartbeat.
 *
 * @returns undefined when no delay was running.
 */
export function decideInitialDelayOver(
  slot: GroupSlot | undefined,
  context: Context,
): GroupDecision<undefined> | undefined {
  if (slot?.group === undefined || !slot.soft.delaying) return undefined;
  const draft = new Draft(slot, context);
  draft.change({ delaying: false });
  const { group, soft } = draft;
  const { configured } = soft;
  const isDue = group.members.size > 0 && group.assignmentEpoch < group.groupEpoch;
  if (!isDue || configured === undefined) return draft.done(SILENT);
  const { size } = group.members;
  draft.say(`The initial delay is over with ${size} ${size === 1 ? 'member' : 'members'}`);
  if (configured.problem !== undefined) {
    installNothing(draft);
  } else if (soft.run === undefined) {
    const stored = group.lastAssignmentConfigs;
    const settings = withStoredConfigs(context.settings, stored, context.behaviour);
    startRun(draft, configured, settings, undefined);
  }
  return draft.done(SILENT);
}
