import type { Grant, WarmupWait } from '../../model/refinement.ts';
import type { Facts, Mover, RefinerMember } from './facts.ts';
import { copiesOn, isCaughtUp, isHot, isOnDisk, leastLagOn, restoringLagOf } from './facts.ts';

/** Where a task is to be active in the intermediate assignment. */
export type Verdict =
  | { readonly kind: 'granted'; readonly because: Grant }
  /** `runner` keeps it, or takes it meanwhile. */
  | { readonly kind: 'staged'; readonly runner: RefinerMember }
  /** No member that could have it is in the group. */
  | { readonly kind: 'left' };

const grant = (because: Grant): Verdict => ({ kind: 'granted', because });

/**
 * Decides for one task whether it goes to its target owner now, or who runs it until a copy there is caught up.
 *
 * @param hasWaited the copy on the owner's process got no closer for as long as one may wait.
 *
 * Source: WU-9, WU-16.
 */
export function judgeMover(facts: Facts, mover: Mover, hasWaited: boolean): Verdict {
  const { holder, owner } = mover;
  if (owner === undefined) {
    const runner = holder ?? bestCopy(facts, mover);
    return runner === undefined ? { kind: 'left' } : { kind: 'staged', runner };
  }
  const { processId } = owner;
  if (holder?.processId === processId) return grant('sameProcess');
  const isReady = copiesOn(mover, processId).some(({ member }) => isCaughtUp(facts, mover, member));
  if (isReady) return grant('caughtUp');
  const isHeldWell = holder !== undefined && isHot(facts, mover, holder);
  if (holder === undefined && isOnDisk(mover, processId)) return grant('onDisk');
  const runner = isHeldWell ? holder : bestCopy(facts, mover);
  if (runner === undefined) return grant('cold');
  if (owner.reportsCopies === 'no') return grant('neverReports');
  if (hasWaited) return grant('waited');
  return { kind: 'staged', runner };
}

/** The member whose copy is to run the task meanwhile: caught up, rather not a standby of the target (WU-10). */
function bestCopy(facts: Facts, mover: Mover): RefinerMember | undefined {
  let best: RefinerMember | undefined;
  let bestRank: Rank | undefined;
  for (const { member } of mover.copies) {
    if (!isCaughtUp(facts, mover, member)) continue;
    const rank: Rank = [
      mover.standbyTargets.includes(member) ? 1 : 0,
      facts.loads.of(member.processId),
    ];
    // Copies come by member id: of equals the first stays.
    if (bestRank === undefined || isBefore(rank, bestRank)) {
      best = member;
      bestRank = rank;
    }
  }
  return best;
}

/** Compared place by place; the lower one comes first. */
export type Rank = readonly number[];

export function isBefore(a: Rank, b: Rank): boolean {
  for (let at = 0; at < a.length; at++) {
    const one = a[at] ?? 0;
    const other = b[at] ?? 0;
    if (one !== other) return one < other;
  }
  return false;
}

/** Whether there was no progress for as long as one may wait; without a bound it never is. */
export function isOver(wait: WarmupWait | undefined, nowMs: number, waitMaxMs: number): boolean {
  return wait !== undefined && waitMaxMs > 0 && nowMs - wait.sinceMs >= waitMaxMs;
}

/**
 * The wait for a copy on the owner's process: it begins with the copy, begins anew with every sign of progress, and is
 * no more when the copy is gone. Progress is a copy closer than it ever was, or an owner with less left to restore of
 * its active tasks, since those go first. A clock that went back begins the wait anew.
 */
export function waitFor(
  facts: Facts,
  mover: Mover,
  before: WarmupWait | undefined,
  nowMs: number,
): WarmupWait | undefined {
  const { owner, holder } = mover;
  if (owner === undefined || holder?.processId === owner.processId) return undefined;
  const { processId } = owner;
  if (copiesOn(mover, processId).length === 0) return undefined;
  const leastLag = leastLagOn(mover, processId);
  const restoringLag = restoringLagOf(facts, owner);
  if (before === undefined || before.processId !== processId || before.sinceMs > nowMs) {
    return { processId, sinceMs: nowMs, leastLag, restoringLag };
  }
  const isCloser =
    leastLag !== undefined && (before.leastLag === undefined || leastLag < before.leastLag);
  if (isCloser || restoringLag < before.restoringLag) {
    return {
      processId,
      sinceMs: nowMs,
      leastLag: isCloser ? leastLag : before.leastLag,
      restoringLag,
    };
  }
  return { ...before, restoringLag };
}
