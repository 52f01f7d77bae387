import type { Draft } from './draft.ts';

/** Drops all that is kept beside the log of a member that is gone, and its timers (OFS-2, FENCE-1). */
export function forgetMember(draft: Draft, memberId: string): void {
  const { soft } = draft;
  const wasHurried = soft.members.get(memberId)?.hurried === true;
  draft.change({
    members: soft.members.delete(memberId),
    hurriedMembers: soft.hurriedMembers - (wasHurried ? 1 : 0),
  });
  giveUpWait(draft, memberId);
  draft.cause({ type: 'cancelMember', memberId });
}

/** An answer that waits for the run in flight no longer does (OFF-8). */
export function giveUpWait(draft: Draft, memberId: string): void {
  const { run } = draft.soft;
  if (run?.waitingMemberId !== memberId) return;
  draft.change({ run: { ...run, waitingMemberId: undefined } });
}
