import type { HeartbeatRequest } from '../commands.ts';
import type { Context, GroupSlot, HeartbeatDecision } from '../decision.ts';
import { STATIC_LEAVE_EPOCH } from '../model/ids.ts';
import type { Member } from '../model/member.ts';
import { Refusal } from '../model/refusal.ts';
import { leaveAnswer, refusedAnswer } from './answer.ts';
import { Draft } from './draft.ts';
import { requireGroup, requireMember } from './find-member.ts';
import { giveUpWait } from './forget-member.ts';
import { removeMember } from './remove-member.ts';
import { takeBreak } from './static-member.ts';

/**
 * A member leaves, for good with epoch -1 (LEAVE-1, LEAVE-2) or, if it is static, for a while with -2 (LEAVE-3). Its
 * epoch is not looked at. A shutdown request counts if the leave is accepted; where the profile says so, also if it
 * is not (LEAVE-7).
 *
 * @throws Refusal GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
 */
export function decideLeave(
  slot: GroupSlot | undefined,
  request: HeartbeatRequest,
  context: Context,
): HeartbeatDecision {
  const draft = new Draft(requireGroup(slot, request.groupId), context);
  if (!context.behaviour.shutdownNeedsAcceptedLeave) noteShutdown(draft, request);
  let member: Member;
  try {
    member = requireMember(draft.group, request);
  } catch (refusal) {
    // The answer says no, and yet something was decided: an ordinary decision, without records.
    const marksGroup = draft.soft !== slot?.soft;
    if (!(refusal instanceof Refusal) || !marksGroup) throw refusal;
    return draft.done({ kind: 'answer', value: refusedAnswer(refusal.error, refusal.text) });
  }
  noteShutdown(draft, request);
  if (request.memberEpoch === STATIC_LEAVE_EPOCH) {
    takeBreak(draft, member);
    giveUpWait(draft, member.memberId);
  } else {
    removeMember(draft, member.memberId, `${member.memberId} left`);
  }
  return draft.done({ kind: 'answer', value: leaveAnswer(request) });
}

/** Remembers who first asked the application to shut down, as long as the group has members (SHUT-1). */
export function noteShutdown(draft: Draft, request: HeartbeatRequest): void {
  if (!request.shutdownApplication || draft.soft.shutdownBy !== undefined) return;
  draft.change({ shutdownBy: request.memberId });
  draft.say(`${request.memberId} asks the application to shut down`);
}
