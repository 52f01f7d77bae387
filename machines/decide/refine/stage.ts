import type { Grant, Position, WarmupWait } from '../../model/refinement.ts';
import { taskKey } from '../../model/task-list.ts';
import type { Facts } from './facts.ts';
import type { Mover, RefinerMember } from './mover.ts';
import { copiesOn } from './mover.ts';
import {
  endlessCopyOn,
  isCaughtUp,
  isHot,
  isOnDisk,
  leastLagOn,
  restoringLagOf,
} from './reports.ts';

/** Where a task is to be active in the intermediate assignment. */
export type Verdict =
  | { readonly kind: 'granted'; readonly because: Grant }
  /** `runner` keeps it, or takes it meanwhile. */
  | { readonly kind: 'staged'; readonly runner: RefinerMember }
  /** No member that could have it is in the group. */
  | { readonly kind: 'left' };

const grant = (because: Grant): Verdict => ({ kind: 'granted', because });

/** What the wait for a copy came to. */
export type WaitSoFar = {
  /** There was no progress for as long as one may wait. */
  readonly isOver: boolean;
  /** The copy stands still, although nobody can tell its end. */
  readonly isAtRest: boolean;
};

/**
 * Decides for one task whether it goes to its target owner now, or who runs it until a copy there is caught up.
 *
 * Source: WU-9, WU-16.
 */
export function judgeMover(facts: Facts, mover: Mover, wait: WaitSoFar): Verdict {
  const { holder, owner } = mover;
  if (owner === undefined) {
    const runner = holder ?? bestCopy(facts, mover);
    return runner === undefined ? { kind: 'left' } : { kind: 'staged', runner };
  }
  const { processId } = owner;
  if (holder?.processId === processId) return grant('sameProcess');
  const isReady = copiesOn(mover, processId).some(({ report }) => isCaughtUp(facts, report));
  if (isReady) return grant('caughtUp');
  if (wait.isAtRest) return grant('atRest');
  if (holder === undefined && isOnDisk(facts, mover, processId)) return grant('onDisk');
  const runner = isHot(facts, mover) ? holder : bestCopy(facts, mover);
  if (runner === undefined) return grant('cold');
  if (owner.reportsCopies === 'no') return grant('neverReports');
  if (wait.isOver) return grant('waited');
  return { kind: 'staged', runner };
}

/** The member whose copy is to run the task meanwhile: caught up, rather not a standby of the target (WU-10). */
function bestCopy(facts: Facts, mover: Mover): RefinerMember | undefined {
  let best: RefinerMember | undefined;
  let bestRank: Rank | undefined;
  for (const { member, report } of mover.copies) {
    if (!isCaughtUp(facts, report)) continue;
    const rank: Rank = [
      mover.standbyTargets.includes(member) ? 1 : 0,
      facts.loads.process(member.processId).load,
    ];
    // Copies come by member id: of equals the first stays.
    if (bestRank === undefined || isBefore(rank, bestRank)) {
      best = member;
      bestRank = rank;
    }
  }
  return best;
}

/** What decides between candidates, the weightiest first; both sides have as many places. */
export type Rank = readonly number[];

/** Whether `a` comes first; of equals neither does. */
export function isBefore(a: Rank, b: Rank): boolean {
  for (let at = 0; at < a.length; at++) {
    const one = a[at] ?? 0;
    const other = b[at] ?? 0;
    if (one !== other) return one < other;
  }
  return false;
}

/** What a wait is held against. All in ms. */
export type WaitLimits = {
  readonly nowMs: number;
  /** 0: without bound. */
  readonly waitMaxMs: number;
  /** A member that says nothing for so long would have, had its offsets changed. */
  readonly silenceMs: number;
};

/** A copy that restores gets further than the acceptable lag in less. */
const REST_MS = 10_000;

const NO_WAIT: WaitSoFar = { isOver: false, isAtRest: false };

/** What a wait came to by now. */
export function judgeWait(
  facts: Facts,
  mover: Mover,
  wait: WarmupWait | undefined,
  limits: WaitLimits,
): WaitSoFar {
  if (wait === undefined) return NO_WAIT;
  const isOver = limits.waitMaxMs > 0 && limits.nowMs - wait.sinceMs >= limits.waitMaxMs;
  return { isOver, isAtRest: restsFromMs(facts, mover, wait, limits) <= limits.nowMs };
}

/** Wall clock, ms, at which a wait is over or its copy at rest, if nothing more is heard. */
export function endOfWait(
  facts: Facts,
  mover: Mover,
  wait: WarmupWait,
  limits: WaitLimits,
): number {
  const restMs = restsFromMs(facts, mover, wait, limits);
  return limits.waitMaxMs === 0 ? restMs : Math.min(restMs, wait.sinceMs + limits.waitMaxMs);
}

/**
 * When a copy without a known end counts as at rest, and so as caught up: it went no further than the acceptable lag in
 * {@link REST_MS}. Released clients never tell an end while one of the task's changelogs is empty, and do not repeat an
 * offset that stays the same.
 */
function restsFromMs(
  facts: Facts,
  mover: Mover,
  { processId, from }: WarmupWait,
  { silenceMs }: WaitLimits,
): number {
  const copy = endlessCopyOn(mover, processId);
  if (copy === undefined || copy.offset - from.offset > facts.acceptableRecoveryLag) {
    return Number.POSITIVE_INFINITY;
  }
  return copy.atMs - from.atMs >= REST_MS ? copy.atMs : from.atMs + REST_MS + silenceMs;
}

/**
 * The wait for a copy on the owner's process: it begins with the copy, begins anew with every sign of progress, and is
 * no more when the copy is gone. Progress is a copy closer than it ever was, or an owner with less left to restore of
 * its active tasks than it ever had, since those go first; each by more than the acceptable lag, so that whoever creeps
 * does not wait for ever. A clock that went back begins the wait anew.
 *
 * @param waits those so far, by task.
 */
export function waitFor(
  facts: Facts,
  mover: Mover,
  waits: ReadonlyMap<string, WarmupWait>,
  nowMs: number,
): WarmupWait | undefined {
  const { owner, holder } = mover;
  if (owner === undefined || holder?.processId === owner.processId) return undefined;
  const { processId } = owner;
  if (copiesOn(mover, processId).length === 0) return undefined;
  const before = waits.get(taskKey(mover.subtopologyId, mover.partition));
  const leastLag = leastLagOn(mover, processId);
  const restoringLag = restoringLagOf(facts, owner);
  if (before === undefined || before.processId !== processId || before.sinceMs > nowMs) {
    const from = { offset: 0n, atMs: nowMs };
    return { processId, sinceMs: nowMs, leastLag, restoringLag, from };
  }
  const step = facts.acceptableRecoveryLag;
  const isCloser =
    leastLag !== undefined && (before.leastLag === undefined || leastLag + step < before.leastLag);
  const hasLessLeft = restoringLag + step < before.restoringLag;
  return {
    processId,
    sinceMs: isCloser || hasLessLeft ? nowMs : before.sinceMs,
    leastLag: isCloser ? leastLag : before.leastLag,
    restoringLag: hasLessLeft ? restoringLag : before.restoringLag,
    from: measureFrom(facts, mover, before, restoringLag > 0n ? nowMs : undefined),
  };
}

/** Measures anew from where a copy is that went on its way; one that active tasks keep from going stays where it is. */
function measureFrom(
  facts: Facts,
  mover: Mover,
  { processId, from }: WarmupWait,
  heldUpAtMs: number | undefined,
): Position {
  if (heldUpAtMs !== undefined) return { offset: from.offset, atMs: heldUpAtMs };
  const copy = endlessCopyOn(mover, processId);
  if (copy === undefined) return from;
  return copy.offset - from.offset > facts.acceptableRecoveryLag ? copy : from;
}
