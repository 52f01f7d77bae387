import type { Member } from '../model/member.ts';
import { Refusal } from '../model/refusal.ts';
import { isSubset } from '../model/task-list.ts';
import type { TasksByRole } from '../model/tasks.ts';

/** The part of a member that its epoch is judged by. */
export type KnownMember = Pick<Member, 'memberEpoch' | 'previousMemberEpoch'>;

/**
 * Says whether a heartbeat speaks for the member as the coordinator knows it.
 *
 * @param member the member as stored.
 * @param claimedEpoch the epoch in the request; 1 or more here, joins and leaves go elsewhere.
 * @param ownsOnlyAssigned true when all three owned lists were sent and each holds only tasks given in that role.
 * @returns `replyLost` is to be treated like `current` (EPO-5). What fencing does to the member is the caller's
 *   to decide (EPO-6).
 *
 * Source: KIP-1071, Request Handling; rules EPO-1 to EPO-4.
 */
export function judgeEpoch(
  member: KnownMember,
  claimedEpoch: number,
  ownsOnlyAssigned: boolean,
): 'current' | 'replyLost' | 'fenced' {
  if (claimedEpoch === member.memberEpoch) return 'current';
  // A lost reply leaves the client one epoch behind. Harmless, as long as it claims nothing it was not given.
  const isBehind = claimedEpoch < member.memberEpoch;
  if (isBehind && claimedEpoch === member.previousMemberEpoch && ownsOnlyAssigned) {
    return 'replyLost';
  }
  return 'fenced';
}

/** Whether the member sent what it owns, and each list holds only tasks it was given in that role (EPO-3). */
export function ownsOnlyAssigned(member: Member, owned: TasksByRole | undefined): boolean {
  if (owned === undefined) return false;
  const { assigned } = member;
  return (
    isSubset(owned.active, assigned.active) &&
    isSubset(owned.standby, assigned.standby) &&
    isSubset(owned.warmup, assigned.warmup)
  );
}

/**
 * Refuses a member whose state a newer version wrote, unless it owns nothing: what that state meant is not known.
 * It is not removed (REC-12, EPO-6).
 */
export function refuseUnknownState(member: Member, owned: TasksByRole | undefined): void {
  if (member.state !== 'unknown') return;
  const ownsNothing =
    owned !== undefined && owned.active.length + owned.standby.length + owned.warmup.length === 0;
  if (ownsNothing) return;
  throw new Refusal(
    'FENCED_MEMBER_EPOCH',
    `Member "${member.memberId}" is in a state that this version does not know: it must own nothing`,
  );
}
