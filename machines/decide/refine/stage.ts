import { isWithin } from '../../model/lag.ts';
import type {
  Grant,
  Judged,
  Position,
  RefinerLimits,
  Verdict,
  WarmupWait,
} from '../../model/refinement.ts';
import { invariant } from '../../model/refusal.ts';
import { NONE, type Survey } from '../../model/survey.ts';
import type { Reports } from './reports.ts';
import { copiesOn, loadOf, membersOf, processOf } from './survey.ts';

/** Of a task without a copy on its owner's process there is nothing else to find: one value for all that are found alike. */
const without = (verdict: Verdict, more: Partial<Judged> = {}): Judged => ({
  verdict,
  runningCopy: more.runningCopy ?? NONE,
  lag: undefined,
  wait: undefined,
  untilMs: Number.POSITIVE_INFINITY,
  warming: more.warming ?? 'noRoom',
  standby: NONE,
  claim: more.claim ?? 'none',
});

const LEFT = without('left');
const OWNER_GONE = without('staged', { warming: 'ownerGone' });
const UNHEARD = without('staged', { warming: 'unheard' });
const TO_PLANT = without('staged', { claim: 'new' });
const SAME_PROCESS = without('sameProcess');
const ON_DISK = without('onDisk');
const COLD = without('cold');
const NEVER_REPORTS = without('neverReports');

/**
 * Decides for one task whether it goes to its target owner now, or who runs it until a copy there is caught up, and what
 * may warm that copy.
 *
 * @param before the wait for that copy so far.
 *
 * Source: WU-9, WU-11, WU-16.
 */
export function judgeMover(
  survey: Survey,
  reports: Reports,
  mover: number,
  before: WarmupWait | undefined,
  limits: RefinerLimits,
): Judged {
  const holder = survey.holders[mover] ?? NONE;
  const owner = survey.owners[mover] ?? NONE;
  if (owner === NONE) {
    if (holder !== NONE) return OWNER_GONE;
    const runningCopy = bestCopy(survey, reports, mover);
    return runningCopy === NONE ? LEFT : without('staged', { warming: 'ownerGone', runningCopy });
  }
  const process = processOf(survey, owner);
  const copies = copiesOn(survey, mover, process);
  if (holder !== NONE && processOf(survey, holder) === process) {
    return copies.length === 0 ? SAME_PROCESS : granted('sameProcess', reports.leastLagOf(copies));
  }
  return copies.length === 0
    ? judgeWithoutCopy(survey, reports, mover)
    : judgeWithCopies(survey, reports, { mover, copies, before }, limits);
}

/** There is nothing of the task on its owner's process, but perhaps on its disk. */
function judgeWithoutCopy(survey: Survey, reports: Reports, mover: number): Judged {
  if (reports.isOnDisk(mover)) return ON_DISK;
  const isHot = reports.isHot(mover);
  const runningCopy = isHot ? NONE : bestCopy(survey, reports, mover);
  if (!isHot && runningCopy === NONE) return COLD;
  const reportsCopies = survey.members[survey.owners[mover] ?? NONE]?.reportsCopies;
  if (reportsCopies === 'no') return NEVER_REPORTS;
  const found = reportsCopies === 'unknown' ? UNHEARD : TO_PLANT;
  return isHot ? found : without('staged', { ...found, runningCopy });
}

function judgeWithCopies(
  survey: Survey,
  reports: Reports,
  about: {
    readonly mover: number;
    /** Those on the process of the owner: at least one. */
    readonly copies: readonly number[];
    readonly before: WarmupWait | undefined;
  },
  limits: RefinerLimits,
): Judged {
  const { mover, copies } = about;
  const ownerNumber = survey.owners[mover] ?? NONE;
  const owner = survey.members[ownerNumber];
  invariant(owner !== undefined, 'who waits for a copy is a member');
  const endless = reports.endlessOf(copies);
  const lag = reports.leastLagOf(copies);
  const restoringLag = reports.restoringLagOf(ownerNumber);
  const { acceptableRecoveryLag } = reports;
  const now = { lag, restoringLag, endless, acceptableRecoveryLag };
  const wait = continueWait(about.before, owner.processId, now, limits.nowMs);
  const restsAtMs = restsFromMs(wait, now, limits);
  const isOver = limits.waitMaxMs > 0 && limits.nowMs - wait.sinceMs >= limits.waitMaxMs;
  const isCaughtUp = isWithin(lag, acceptableRecoveryLag);
  if (isCaughtUp) return granted('caughtUp', lag, { wait });
  if (restsAtMs <= limits.nowMs) return granted('atRest', lag, { wait });
  const isHot = reports.isHot(mover);
  const runningCopy = isHot ? NONE : bestCopy(survey, reports, mover);
  if (!isHot && runningCopy === NONE) return granted('cold', lag, { wait, untilMs: restsAtMs });
  if (owner.reportsCopies === 'no')
    return granted('neverReports', lag, { wait, untilMs: restsAtMs });
  if (isOver) return granted('waited', lag, { wait, untilMs: restsAtMs });
  const overAtMs =
    limits.waitMaxMs === 0 ? Number.POSITIVE_INFINITY : wait.sinceMs + limits.waitMaxMs;
  const untilMs = Math.min(restsAtMs, overAtMs);
  return staged(survey, reports, about, { runningCopy, lag, wait, untilMs });
}

/** The task waits for a copy there: a warm-up, a standby that warms it for free, or one that would move over (WU-11). */
function staged(
  survey: Survey,
  reports: Reports,
  { mover, copies }: { readonly mover: number; readonly copies: readonly number[] },
  { runningCopy, lag, wait, untilMs }: Pick<Judged, 'runningCopy' | 'lag' | 'wait' | 'untilMs'>,
): Judged {
  const { members, standbyCount } = survey.copies;
  const verdict = 'staged';
  if (copies.some((copy) => copy >= standbyCount)) {
    const claim = copies.some((copy) => reports.hasStarted(copy)) ? 'underWay' : 'kept';
    const [warming, standby] = ['noRoom', NONE] as const;
    return { verdict, runningCopy, lag, wait, untilMs, warming, standby, claim };
  }
  const owner = survey.owners[mover] ?? NONE;
  const own = copies.find((copy) => members[copy] === owner);
  // Nobody knows whether an owner that was not heard would ever report a warm-up (WU-16).
  const isFree = own !== undefined || survey.members[owner]?.reportsCopies === 'unknown';
  const claim = isFree ? 'none' : 'new';
  const [warming, standby] = ['standby', own ?? copies[0] ?? NONE] as const;
  return { verdict, runningCopy, lag, wait, untilMs, warming, standby, claim };
}

function granted(
  verdict: Grant,
  lag: bigint | undefined,
  { wait, untilMs = Number.POSITIVE_INFINITY }: Partial<Pick<Judged, 'wait' | 'untilMs'>> = {},
): Judged {
  return {
    verdict,
    runningCopy: NONE,
    lag,
    wait,
    untilMs,
    warming: 'noRoom',
    standby: NONE,
    claim: 'none',
  };
}

/** The copy that is to run the task meanwhile: caught up, rather not a standby of the target (WU-10); or `NONE`. */
function bestCopy(survey: Survey, reports: Reports, mover: number): number {
  const { copies } = survey;
  let best = NONE;
  let bestRank: Rank | undefined;
  let standbyTargets: readonly number[] | undefined;
  for (let copy = copies.firsts[mover] ?? NONE; copy !== NONE; copy = copies.nexts[copy] ?? NONE) {
    if (!reports.isCaughtUp(copy)) continue;
    standbyTargets ??= membersOf(survey.standbyTargets, mover);
    const member = copies.members[copy] ?? NONE;
    const isWanted = standbyTargets.includes(member);
    const rank: Rank = [isWanted ? 1 : 0, loadOf(survey, processOf(survey, member))];
    // Copies come by member id: of equals the first stays.
    if (bestRank !== undefined && !isBefore(rank, bestRank)) continue;
    best = copy;
    bestRank = rank;
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

/** What is known of the copies on an owner's process by now. */
type Progress = {
  readonly lag: bigint | undefined;
  /** How much the owner has left to restore of its active tasks. */
  readonly restoringLag: bigint;
  /** Where a copy is whose end nobody can tell. */
  readonly endless: Position | undefined;
  readonly acceptableRecoveryLag: bigint;
};

/**
 * The wait for a copy on the owner's process: it begins with the copy, begins anew with every sign of progress, and is
 * no more when the copy is gone. Progress is a copy closer than it ever was, or an owner with less left to restore of
 * its active tasks than it ever had, since those go first; each by more than the acceptable lag, so that whoever creeps
 * does not wait for ever. A clock that went back begins the wait anew.
 *
 * As long as nothing else is reported it stays the same, whatever the time.
 */
function continueWait(
  before: WarmupWait | undefined,
  processId: string,
  { lag, restoringLag, endless, acceptableRecoveryLag: step }: Progress,
  nowMs: number,
): WarmupWait {
  const isHeldUp = restoringLag > 0n;
  if (before === undefined || before.processId !== processId || before.sinceMs > nowMs) {
    const from = { offset: endless?.offset ?? 0n, atMs: isHeldUp ? undefined : nowMs };
    return { processId, sinceMs: nowMs, leastLag: lag, restoringLag, from };
  }
  const { leastLag } = before;
  // What is as it was, as most is, is found so without sums.
  const isCloser =
    lag !== undefined && lag !== leastLag && (leastLag === undefined || lag + step < leastLag);
  const hasLessLeft =
    restoringLag !== before.restoringLag && restoringLag + step < before.restoringLag;
  const from = isHeldUp ? heldUp(before.from) : measureFrom(before.from, endless, step, nowMs);
  if (!isCloser && !hasLessLeft && from === before.from) return before;
  return {
    processId,
    sinceMs: isCloser || hasLessLeft ? nowMs : before.sinceMs,
    leastLag: isCloser ? lag : leastLag,
    restoringLag: hasLessLeft ? restoringLag : before.restoringLag,
    from,
  };
}

/** One that active tasks keep from going stays where it is. */
function heldUp(from: WarmupWait['from']): WarmupWait['from'] {
  return from.atMs === undefined ? from : { offset: from.offset, atMs: undefined };
}

/** Measures anew from where a copy is that went on its way, and from now on where one may go again. */
function measureFrom(
  from: WarmupWait['from'],
  endless: Position | undefined,
  step: bigint,
  nowMs: number,
): WarmupWait['from'] {
  if (endless !== undefined && endless.offset - from.offset > step) return endless;
  return from.atMs === undefined ? { offset: from.offset, atMs: nowMs } : from;
}

/** A copy that restores gets further than the acceptable lag in less. */
const REST_MS = 10_000;

/**
 * When a copy without a known end counts as at rest, and so as caught up: it went no further than the acceptable lag in
 * {@link REST_MS}. Released clients never tell an end while one of the task's changelogs is empty, and do not repeat an
 * offset that stays the same.
 */
function restsFromMs(
  { from }: WarmupWait,
  { endless, acceptableRecoveryLag }: Progress,
  { silenceMs }: RefinerLimits,
): number {
  if (endless === undefined || from.atMs === undefined) return Number.POSITIVE_INFINITY;
  if (endless.offset - from.offset > acceptableRecoveryLag) return Number.POSITIVE_INFINITY;
  return endless.atMs - from.atMs >= REST_MS ? endless.atMs : from.atMs + REST_MS + silenceMs;
}
