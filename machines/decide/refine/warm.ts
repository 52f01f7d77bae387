import type { Judged } from '../../model/refinement.ts';
import { NONE, type Survey } from '../../model/survey.ts';
import type { Reports } from './reports.ts';
import { copiesOn, processOf } from './survey.ts';

/**
 * Shares the budget of warm-ups among the staged tasks (WU-11, WU-12, WU-16).
 *
 * Picked one at a time, since each plant makes its process heavier: a warm-up in flight that can progress or has
 * restored something first, then new ones where they can progress, and at last those on members that must restore an
 * active task before.
 *
 * @param judged by mover.
 * @param warmupsMax how many warm-ups the group may have.
 * @returns the movers that get, or keep, a warm-up on their owner.
 */
export function shareBudget(
  survey: Survey,
  reports: Reports,
  judged: readonly Judged[],
  warmupsMax: number,
): ReadonlySet<number> {
  const funded = new Set<number>();
  const loads = new Loads(survey);
  const mustRestore = chargeGrants(survey, judged, loads);
  const ranks = rankClaims(survey, reports, judged, mustRestore);
  // A warm-up that is to be promoted, or to go, is there until its member says so: until then its place is taken.
  let room = warmupsMax - survey.warmupCount;
  let left = warmupsMax;
  for (let rank = 1; rank <= RANKS; rank++) {
    for (; left > 0; left--) {
      const mover = findBest(survey, judged, loads, { ranks, rank });
      if (mover === NONE) break;
      ranks[mover] = NO_CLAIM;
      const { claim, standby } = judged[mover] ?? {};
      // Any other has a copy on its process already.
      if (claim === 'new' && standby === NONE) loads.add(survey.owners[mover] ?? NONE, 1);
      if (claim !== 'new' || room-- > 0) funded.add(mover);
    }
  }
  return funded;
}

/** How loaded the processes of members are while tasks are given to them. */
class Loads {
  readonly #ofMember: Int32Array;
  readonly #sizes: readonly number[];
  readonly #tasks: Float64Array;
  readonly #loads: Float64Array;

  constructor({ processes: { ofMember, sizes, tasks } }: Survey) {
    this.#ofMember = ofMember;
    this.#sizes = sizes;
    this.#tasks = Float64Array.from(tasks);
    this.#loads = this.#tasks.map((count, process) => count / (sizes[process] ?? 1));
  }

  /** Stateful tasks per member of the member's process, in all roles (WU-7). */
  of(member: number): number {
    return this.#loads[this.#ofMember[member] ?? NONE] ?? 0;
  }

  /** From now on the member's process has so many tasks more, or less. */
  add(member: number, tasks: number): void {
    const process = this.#ofMember[member] ?? NONE;
    const count = (this.#tasks[process] ?? 0) + tasks;
    this.#tasks[process] = count;
    this.#loads[process] = count / (this.#sizes[process] ?? 1);
  }
}

/**
 * Moves the tasks granted now from process to process.
 *
 * @returns by member: 1 = it gets a task that it must restore first.
 */
function chargeGrants(survey: Survey, judged: readonly Judged[], loads: Loads): Uint8Array {
  const mustRestore = new Uint8Array(survey.members.length);
  judged.forEach(({ verdict }, mover) => {
    if (verdict === 'staged' || verdict === 'left' || verdict === 'sameProcess') return;
    const owner = survey.owners[mover] ?? NONE;
    const holder = survey.holders[mover] ?? NONE;
    if (copiesOn(survey, mover, processOf(survey, owner)).length === 0) loads.add(owner, 1);
    if (holder !== NONE) loads.add(holder, -1);
    if (verdict !== 'caughtUp' && verdict !== 'atRest') mustRestore[owner] = 1;
  });
  return mustRestore;
}

const NO_CLAIM = 0;
/** Tiers, and in each whether a standby of another member of the process would move over (WU-12). */
const RANKS = 8;

/**
 * By mover, in which rank it claims a place of the budget, from 1: by what it claims and whether its owner can progress;
 * where a standby would move over, which can as well stay where it is, comes behind.
 */
function rankClaims(
  survey: Survey,
  reports: Reports,
  judged: readonly Judged[],
  mustRestore: Uint8Array,
): Uint8Array {
  const ranks = new Uint8Array(judged.length);
  /** By member: 1 = it can progress, 2 = it cannot. */
  const progress = new Uint8Array(survey.members.length);
  const canProgress = (owner: number): boolean => {
    if (progress[owner] === 0) {
      const isHeldUp = mustRestore[owner] === 1 || reports.restoringLagOf(owner) > 0n;
      progress[owner] = isHeldUp ? 2 : 1;
    }
    return progress[owner] === 1;
  };
  judged.forEach(({ claim, standby }, mover) => {
    if (claim === 'none') return;
    const isFirst = claim === 'underWay' || canProgress(survey.owners[mover] ?? NONE);
    const tier = claim === 'new' ? (isFirst ? 1 : 3) : isFirst ? 0 : 2;
    ranks[mover] = 1 + 2 * tier + (standby === NONE ? 0 : 1);
  });
  return ranks;
}

/**
 * Of the movers of a rank the one whose owner's process has least to do; then whose runner's process has most; of equals
 * the first. `NONE`: there are none.
 */
function findBest(
  { holders, owners, copies }: Survey,
  judged: readonly Judged[],
  loads: Loads,
  { ranks, rank }: { readonly ranks: Uint8Array; readonly rank: number },
): number {
  let best = NONE;
  let leastLoad = Number.POSITIVE_INFINITY;
  let mostLoad = Number.NEGATIVE_INFINITY;
  for (let mover = 0; mover < ranks.length; mover++) {
    if (ranks[mover] !== rank) continue;
    const load = loads.of(owners[mover] ?? NONE);
    if (load > leastLoad) continue;
    const copy = judged[mover]?.runningCopy ?? NONE;
    const runner = copy === NONE ? holders[mover] : copies.members[copy];
    const runnerLoad = loads.of(runner ?? NONE);
    if (load === leastLoad && runnerLoad <= mostLoad) continue;
    best = mover;
    leastLoad = load;
    mostLoad = runnerLoad;
  }
  return best;
}
