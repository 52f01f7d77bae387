import type {
  Judged,
  Refinement,
  RefinementBasis,
  RefinerLimits,
  TaskMove,
  WarmupWait,
  WarmupWaits,
} from '../../model/refinement.ts';
import { UNREFINED } from '../../model/refinement.ts';
import { NONE, type RefinerMember, type Survey } from '../../model/survey.ts';
import { forEachTask } from '../../model/task-list.ts';
import type { Subtopologies } from '../../model/task-places.ts';
import { basisOf, surplusOf } from './assemble.ts';
import { Reports } from './reports.ts';
import { SlicesOfBasis } from './slices.ts';
import { judgeMover } from './stage.ts';
import { membersOf, moverOf, surveyOf } from './survey.ts';
import { shareBudget } from './warm.ts';

/** Everything an intermediate assignment follows from. */
export type RefinerInput = RefinerLimits & {
  /** Sorted by id, code units. */
  readonly subtopologies: Subtopologies;
  /** In any order. */
  readonly members: readonly RefinerMember[];
  /** They are those that matter: a task that none of them has nor is to have is with its owner. Else they are all. */
  readonly isPart: boolean;
  /** Of the refinement before. */
  readonly waits: WarmupWaits;
  /** That of the refinement before, if there is one. */
  readonly known?: Survey | undefined;
};

/** A refinement, and what it was derived from. */
export type Refined = {
  readonly refinement: Refinement;
  /** Undefined: nothing moves, whatever is reported. */
  readonly basis: RefinementBasis | undefined;
};

export const NOTHING_MOVES: Refined = { refinement: UNREFINED, basis: undefined };

/**
 * Refines a target: which active tasks stay where they are, or go to a caught-up copy, until a copy on the process of
 * their new owner is caught up, and what warms that copy. Stateless tasks, and standbys apart from what staging makes
 * wait, are as the target has them.
 *
 * Pure: the same input gives the same result. Costs the tasks and reports of the group once, and per warm-up the
 * staged tasks.
 *
 * @returns undefined if it would lose or double an active task, which is our fault: the target as it is is the lesser
 *   evil (WU-15).
 *
 * Source: coordination, section 8; assignors 6.5.
 */
export function refine(input: RefinerInput): Refined | undefined {
  if (input.members.length === 0) return NOTHING_MOVES;
  const survey = surveyOf(input);
  if (survey.owners.length === 0) return NOTHING_MOVES;
  const reports = new Reports(survey, input.acceptableRecoveryLag);
  const { waits } = input;
  const judged: Judged[] = new Array(survey.owners.length);
  forEachMover(survey, (mover, subtopologyId, partition) => {
    const wait = waits.size === 0 ? undefined : waits.get(subtopologyId)?.[partition];
    judged[mover] = judgeMover(survey, reports, mover, wait, input);
  });
  const funded = shareBudget(survey, reports, judged, input.warmupsMax);
  const basis = basisOf(survey, reports, judged, funded);
  if (sumSurplus(basis, survey.members.keys()) !== countRescued(basis)) return undefined;
  return conclude(basis, new SlicesOfBasis(basis));
}

/**
 * Refines again after members reported something, or time went by. Gives what {@link refine} gives, and costs the tasks
 * that the reports are about, those whose wait is over, and a look at what was found of the others.
 *
 * @param before who has and is to have what, and the budget and the acceptable lag, are as then, and time did not go back.
 * @param reporters members with a report that makes a difference, as they are now.
 * @returns as {@link refine} does.
 */
export function refineAgain(
  before: { readonly refinement: Refinement; readonly basis: RefinementBasis },
  reporters: readonly RefinerMember[],
  limits: RefinerLimits,
): Refined | undefined {
  const { basis, refinement } = before;
  const members = basis.survey.members.slice();
  const restoringLags = basis.restoringLags.slice();
  const concerned = moversWhoseWaitIsOver(basis, limits.nowMs);
  for (const reporter of reporters) {
    const member = basis.survey.numbers.get(reporter.memberId);
    // It has nothing to do with what moves.
    if (member === undefined) continue;
    noteConcerned(concerned, basis.survey, members[member], reporter);
    members[member] = reporter;
    restoringLags[member] = undefined;
  }
  const survey = { ...basis.survey, members };
  const reports = new Reports(survey, limits.acceptableRecoveryLag, restoringLags);
  const judged = basis.judged.slice();
  for (const mover of concerned) {
    judged[mover] = judgeMover(survey, reports, mover, judged[mover]?.wait, limits);
  }
  const funded = shareBudget(survey, reports, judged, limits.warmupsMax);
  const after = basisOf(survey, reports, judged, funded);
  const affected = membersWhoseSlicesMayDiffer(basis, after);
  const more = sumSurplus(after, affected) - sumSurplus(basis, affected);
  if (more !== countRescued(after) - countRescued(basis)) return undefined;
  const { slices } = refinement;
  const isOfBasis = slices instanceof SlicesOfBasis;
  return conclude(after, isOfBasis ? slices.with(after, affected) : new SlicesOfBasis(after));
}

function moversWhoseWaitIsOver({ judged }: RefinementBasis, nowMs: number): Set<number> {
  const movers = new Set<number>();
  judged.forEach(({ untilMs }, mover) => {
    if (untilMs <= nowMs) movers.add(mover);
  });
  return movers;
}

/** Notes the movers that a member names or named, and those that are to be its own. */
function noteConcerned(
  concerned: Set<number>,
  survey: Survey,
  was: RefinerMember | undefined,
  is: RefinerMember,
): void {
  const note = (subtopologyId: string, partition: number): void => {
    const mover = moverOf(survey, subtopologyId, partition);
    if (mover !== NONE) concerned.add(mover);
  };
  // An end without an offset says nothing.
  for (const said of [was?.taskOffsets ?? [], is.taskOffsets]) {
    for (const { subtopologyId, partition } of said) note(subtopologyId, partition);
  }
  forEachTask(is.target.active, note);
}

/** Who has, is to have or gets one of the movers of which something else was found. */
function membersWhoseSlicesMayDiffer(
  before: RefinementBasis,
  after: RefinementBasis,
): ReadonlySet<number> {
  const { holders, owners, copies, standbyTargets } = after.survey;
  const changed: number[] = [];
  after.judged.forEach((judged, mover) => {
    if (judged !== before.judged[mover]) changed.push(mover);
  });
  for (const mover of before.funded) if (!after.funded.has(mover)) changed.push(mover);
  for (const mover of after.funded) if (!before.funded.has(mover)) changed.push(mover);
  const members = new Set<number>();
  for (const mover of changed) {
    members.add(holders[mover] ?? NONE).add(owners[mover] ?? NONE);
    for (const member of membersOf(copies, mover)) members.add(member);
    for (const member of membersOf(standbyTargets, mover)) members.add(member);
  }
  members.delete(NONE);
  return members;
}

function conclude(basis: RefinementBasis, slices: Refinement['slices']): Refined {
  let untilMs = Number.POSITIVE_INFINITY;
  for (const each of basis.judged) if (each.untilMs < untilMs) untilMs = each.untilMs;
  let moves: readonly TaskMove[] | undefined;
  let waits: WarmupWaits | undefined;
  // Most refinements are looked at for one slice: the rest is told when somebody asks.
  const refinement: Refinement = {
    slices,
    get moves() {
      moves ??= movesOf(basis);
      return moves;
    },
    get waits() {
      waits ??= waitsOf(basis);
      return waits;
    },
    untilMs,
  };
  return { refinement, basis };
}

/** Tasks whose owner is gone, but somebody has them, or a copy of them. */
function countRescued({ survey, judged }: RefinementBasis): number {
  let count = 0;
  judged.forEach(({ verdict }, mover) => {
    if (verdict === 'staged' && survey.owners[mover] === NONE) count++;
  });
  return count;
}

/**
 * How many active tasks the slices of some members have beyond their targets. Of all members it is as many as stay
 * although their owner is gone: else a task would be lost, or doubled (WU-15, H9).
 */
function sumSurplus(basis: RefinementBasis, members: Iterable<number>): number {
  let more = 0;
  for (const member of members) more += surplusOf(basis, member);
  return more;
}

function forEachMover(
  { places, movers }: Survey,
  each: (mover: number, subtopologyId: string, partition: number) => void,
): void {
  for (const { subtopologyId, first, taskCount } of places.ranges) {
    for (let partition = 0; partition < taskCount; partition++) {
      const mover = movers[first + partition] ?? NONE;
      if (mover !== NONE) each(mover, subtopologyId, partition);
    }
  }
}

function waitsOf({ survey, judged }: RefinementBasis): WarmupWaits {
  const waits = new Map<string, (WarmupWait | undefined)[]>();
  if (judged.every(({ wait }) => wait === undefined)) return waits;
  forEachMover(survey, (mover, subtopologyId, partition) => {
    const wait = judged[mover]?.wait;
    if (wait === undefined) return;
    const known = waits.get(subtopologyId) ?? [];
    known[partition] = wait;
    waits.set(subtopologyId, known);
  });
  return waits;
}

/** What became of every mover but those that are left. */
function movesOf({ survey, judged, funded, runners }: RefinementBasis): readonly TaskMove[] {
  const { members } = survey;
  const moves: TaskMove[] = [];
  forEachMover(survey, (mover, subtopologyId, partition) => {
    const found = judged[mover];
    if (found === undefined || found.verdict === 'left') return;
    const { verdict, lag } = found;
    const holder = members[survey.holders[mover] ?? NONE]?.memberId;
    const owner = members[survey.owners[mover] ?? NONE]?.memberId;
    if (verdict === 'staged') {
      const runner = members[runners[mover] ?? NONE]?.memberId ?? '';
      const warming = funded.has(mover) ? 'warmup' : found.warming;
      moves.push({ subtopologyId, partition, holder, owner, lag, kind: verdict, runner, warming });
    } else {
      const because = verdict;
      moves.push({ subtopologyId, partition, holder, owner, lag, kind: 'granted', because });
    }
  });
  return moves;
}
