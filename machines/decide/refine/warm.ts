import type { Warming } from '../../model/refinement.ts';
import { invariant } from '../../model/refusal.ts';
import type { Facts } from './facts.ts';
import type { Loads, ProcessLoad } from './loads.ts';
import type { Copy, Mover, RefinerMember } from './mover.ts';
import { copiesOn } from './mover.ts';
import { hasStarted, restoringLagOf } from './reports.ts';
import type { Verdict } from './stage.ts';

/** A task with where it is to be active. */
export type Judged = { readonly mover: Mover; readonly verdict: Verdict };

/** How a staged task is warmed, and with which copy if that is a standby. */
export type Warmed = { readonly warming: Warming; readonly standby?: Copy };

const WARMUP: Warmed = { warming: 'warmup' };
const UNHEARD: Warmed = { warming: 'unheard' };
const OWNER_GONE: Warmed = { warming: 'ownerGone' };

/** A staged task that would take a place of the budget. */
type Candidate = {
  readonly mover: Mover;
  readonly ownerProcess: ProcessLoad;
  readonly runnerProcess: ProcessLoad;
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
 * @returns what is found for staged tasks; for the others, which may be thousands, there is no room.
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
    const best = takeBest(candidates);
    best.ownerProcess.add(best.adds);
    chosen.push(best);
  }
  // A warm-up that is to be promoted, or to go, is there until its member says so: until then its place is taken.
  let room = warmupsMax - facts.warmupCount;
  for (const each of chosen) {
    if (each.isKept || room-- > 0) warmed.set(each.mover, WARMUP);
    else candidates.push(each);
  }
  for (const { mover, sibling } of candidates) {
    if (sibling !== undefined) warmed.set(mover, { warming: 'standby', standby: sibling });
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
    if (copiesOn(mover, owner.processId).length === 0) loads.process(owner.processId).add(1);
    if (holder !== undefined) loads.process(holder.processId).add(-1);
    const isRestored = verdict.because === 'caughtUp' || verdict.because === 'atRest';
    if (!isRestored) mustRestore.add(owner);
  }
  return mustRestore;
}

/** What needs no place of the budget, or could not use one; undefined: the task is a candidate. */
function warmedForFree(mover: Mover): Warmed | undefined {
  const { owner } = mover;
  if (owner === undefined) return OWNER_GONE;
  const copies = copiesOn(mover, owner.processId);
  if (copies.some(({ role }) => role === 'warmup')) return undefined;
  const standby = copies.find(({ member }) => member === owner) ?? copies[0];
  if (standby !== undefined && (standby.member === owner || owner.reportsCopies === 'unknown')) {
    return { warming: 'standby', standby };
  }
  return owner.reportsCopies === 'unknown' ? UNHEARD : undefined;
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
  const isUnderWay = isKept && copies.some(({ report }) => hasStarted(report));
  const tier = isKept ? (canProgress || isUnderWay ? 0 : 2) : canProgress ? 1 : 3;
  return {
    mover,
    ownerProcess: facts.loads.process(owner.processId),
    runnerProcess: facts.loads.process(runner.processId),
    tier,
    isKept,
    sibling: isKept ? undefined : copies[0],
    adds: copies.length === 0 ? 1 : 0,
  };
}

/** Takes the next one out of the candidates, which are in the order of tasks: of equals the first. */
function takeBest(candidates: Candidate[]): Candidate {
  let at = 0;
  let [best] = candidates;
  invariant(best !== undefined, 'there is a candidate to take');
  for (let place = 1; place < candidates.length; place++) {
    const candidate = candidates[place];
    if (candidate === undefined || !comesBefore(candidate, best)) continue;
    at = place;
    best = candidate;
  }
  candidates.splice(at, 1);
  return best;
}

/** The order in which tasks get their places of the budget (WU-12). */
function comesBefore(one: Candidate, other: Candidate): boolean {
  if (one.tier !== other.tier) return one.tier < other.tier;
  const movesOver = one.sibling !== undefined;
  if (movesOver !== (other.sibling !== undefined)) return !movesOver;
  const lighter = one.ownerProcess.load - other.ownerProcess.load;
  if (lighter !== 0) return lighter < 0;
  return one.runnerProcess.load > other.runnerProcess.load;
}
