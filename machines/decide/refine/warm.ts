import type { Warming } from '../../model/refinement.ts';
import { invariant } from '../../model/refusal.ts';
import type { Copy, Facts, Loads, Mover, RefinerMember } from './facts.ts';
import { copiesOn, hasStarted, restoringLagOf } from './facts.ts';
import type { Rank, Verdict } from './stage.ts';
import { isBefore } from './stage.ts';

/** A task with where it is to be active. */
export type Judged = { readonly mover: Mover; readonly verdict: Verdict };

/** How a staged task is warmed, and with which copy if that is a standby. */
export type Warmed = { readonly warming: Warming; readonly standby?: Copy };

/** A staged task that would take a place of the budget. */
type Candidate = {
  readonly mover: Mover;
  readonly owner: RefinerMember;
  readonly runner: RefinerMember;
  readonly tier: number;
  /** Its warm-up is there already. */
  readonly isKept: boolean;
  /** A standby of another member of the process moves over; it can as well stay where it is. */
  readonly sibling: Copy | undefined;
  /** What it would add to its process. */
  readonly adds: 0 | 1;
};

/**
 * Shares the budget of warm-ups among the staged tasks (WU-11, WU-12, WU-16).
 *
 * Picked one at a time, since each plant makes its process heavier: a warm-up in flight that can progress or has
 * restored something first, then new ones where they can progress, and at last those on members that must restore an
 * active task before.
 *
 * @param judged all tasks that are not active where the target wants them, in order.
 * @param warmupsMax how many warm-ups the group may have.
 * @returns what is found for each staged task.
 */
export function shareBudget(
  facts: Facts,
  judged: readonly Judged[],
  warmupsMax: number,
): ReadonlyMap<Mover, Warmed> {
  const mustRestore = chargeGrants(facts.loads, judged);
  const warmed = new Map<Mover, Warmed>();
  const candidates: Candidate[] = [];
  for (const { mover, verdict } of judged) {
    if (verdict.kind !== 'staged') continue;
    const free = warmedForFree(mover);
    if (free !== undefined) warmed.set(mover, free);
    else candidates.push(candidateOf(facts, mover, verdict.runner, mustRestore));
  }
  const chosen: Candidate[] = [];
  while (chosen.length < warmupsMax && candidates.length > 0) {
    const best = takeBest(candidates, facts.loads);
    facts.loads.addTasks(best.owner.processId, best.adds);
    chosen.push(best);
  }
  // A warm-up that is to be promoted, or to go, is there until its member says so: until then its place is taken.
  let room = warmupsMax - facts.warmupCount;
  for (const each of chosen) {
    if (each.isKept || room-- > 0) warmed.set(each.mover, { warming: 'warmup' });
    else candidates.push(each);
  }
  for (const { mover, sibling } of candidates) {
    warmed.set(
      mover,
      sibling === undefined ? { warming: 'noRoom' } : { warming: 'standby', standby: sibling },
    );
  }
  return warmed;
}

/**
 * Moves the tasks granted now from process to process.
 *
 * @returns the members that get a task which they must restore first.
 */
function chargeGrants(loads: Loads, judged: readonly Judged[]): ReadonlySet<RefinerMember> {
  const mustRestore = new Set<RefinerMember>();
  for (const { mover, verdict } of judged) {
    const { holder, owner } = mover;
    if (verdict.kind !== 'granted' || owner === undefined) continue;
    if (verdict.because === 'sameProcess') continue;
    if (copiesOn(mover, owner.processId).length === 0) loads.addTasks(owner.processId, 1);
    if (holder !== undefined) loads.addTasks(holder.processId, -1);
    const isRestored = verdict.because === 'caughtUp' || verdict.because === 'atRest';
    if (!isRestored) mustRestore.add(owner);
  }
  return mustRestore;
}

/** What needs no place of the budget, or could not use one; undefined: the task is a candidate. */
function warmedForFree(mover: Mover): Warmed | undefined {
  const { owner } = mover;
  if (owner === undefined) return { warming: 'ownerGone' };
  const copies = copiesOn(mover, owner.processId);
  if (copies.some(({ role }) => role === 'warmup')) return undefined;
  const standby = copies.find(({ member }) => member === owner) ?? copies[0];
  if (standby !== undefined && (standby.member === owner || owner.reportsCopies === 'unknown')) {
    return { warming: 'standby', standby };
  }
  return owner.reportsCopies === 'unknown' ? { warming: 'unheard' } : undefined;
}

function candidateOf(
  facts: Facts,
  mover: Mover,
  runner: RefinerMember,
  mustRestore: ReadonlySet<RefinerMember>,
): Candidate {
  const owner = mover.owner ?? runner;
  const copies = copiesOn(mover, owner.processId);
  const isKept = copies.some(({ role }) => role === 'warmup');
  const canProgress = !mustRestore.has(owner) && restoringLagOf(facts, owner) === 0n;
  const isUnderWay = isKept && copies.some(({ member }) => hasStarted(mover, member));
  const tier = isKept ? (canProgress || isUnderWay ? 0 : 2) : canProgress ? 1 : 3;
  return {
    mover,
    owner,
    runner,
    tier,
    isKept,
    sibling: isKept ? undefined : copies[0],
    adds: copies.length === 0 ? 1 : 0,
  };
}

/** Takes the next one out of the candidates, which are in the order of tasks. */
function takeBest(candidates: Candidate[], loads: Loads): Candidate {
  const rankOf = ({ tier, sibling, owner, runner }: Candidate): Rank => [
    tier,
    sibling === undefined ? 0 : 1,
    loads.of(owner.processId),
    -loads.of(runner.processId),
  ];
  let at = 0;
  let bestRank: Rank | undefined;
  candidates.forEach((candidate, place) => {
    const rank = rankOf(candidate);
    if (bestRank !== undefined && !isBefore(rank, bestRank)) return;
    at = place;
    bestRank = rank;
  });
  const [best] = candidates.splice(at, 1);
  invariant(best !== undefined, 'there is a candidate to take');
  return best;
}
