import type { HeartbeatRequest } from '../commands.ts';
import type { Context, GroupSlot, HeartbeatDecision } from '../decision.ts';
import { Refusal } from '../model/refusal.ts';
import { leaveAnswer, refusedAnswer } from './answer.ts';
import { Draft } from './draft.ts';
import { requireGroup, requireMember } from './find-member.ts';
import { removeMember } from './remove-member.ts';
import { refuseStaticMember } from './static-member.ts';

/**
 * A member leaves for good: epoch -1 (LEAVE-1, LEAVE-2). Its epoch is not looked at. A shutdown request counts
 * if the leave is accepted; where the profile says so, also if it is not (LEAVE-7).
 *
 * @throws Refusal GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID; INVALID_REQUEST for a leave that means
 *   to come back.
 */
export function decideLeave(
  slot: GroupSlot | undefined,
  request: HeartbeatRequest,
  context: Context,
): HeartbeatDecision {
  const draft = new Draft(requireGroup(slot, request.groupId), context);
  if (!context.behaviour.shutdownNeedsAcceptedLeave) noteShutdown(draft, request);
  try {
    requireMember(draft.group, request);
    refuseStaticMember(request);
  } catch (refusal) {
    // The answer says no, and yet something was decided: an ordinary decision, without records.
    const marksGroup = draft.soft !== slot?.soft;
    if (!(refusal instanceof Refusal) || !marksGroup) throw refusal;
    return draft.done({ kind: 'answer', value: refusedAnswer(refusal.error, refusal.text) });
  }
  noteShutdown(draft, request);
  removeMember(draft, request.memberId, `${request.memberId} left`);
  return draft.done({ kind: 'answer', value: leaveAnswer(request) });
}

/** Remembers who first asked the application to shut down, as long as the group has members (SHUT-1). */
export function noteShutdown(draft: Draft, request: HeartbeatRequest): void {
  if (!request.shutdownApplication || draft.soft.shutdownBy !== undefined) return;
  draft.change({ shutdownBy: request.memberId });
  draft.say(`${request.memberId} asks the application to shut down`);
}
