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
import { countActiveTasks, countTasks, forEachTask } from '../../model/task-list.ts';
import type { TasksByRole } from '../../model/tasks.ts';
import { basisOf, sliceOf } from './assemble.ts';
import { Reports } from './reports.ts';
import { judgeMover } from './stage.ts';
import { membersOf, moverOf, surveyOf } from './survey.ts';
import { shareBudget } from './warm.ts';

/** Everything an intermediate assignment follows from. */
export type RefinerInput = RefinerLimits & {
  /** Sorted by id, code units. */
  readonly subtopologies: readonly {
    readonly subtopologyId: string;
    readonly taskCount: number;
    readonly stateful: boolean;
  }[];
  /** In any order. */
  readonly members: readonly RefinerMember[];
  /** They are those that matter: a task that none of them has nor is to have is with its owner. Else they are all. */
  readonly isPart: boolean;
  /** Of the refinement before. */
  readonly waits: WarmupWaits;
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
  const slices = new Map<string, TasksByRole>();
  for (let member = 0; member < survey.members.length; member++) putSlice(slices, basis, member);
  return conclude(basis, slices);
}

/**
 * Refines again after members reported something, or time went by. Gives what {@link refine} gives, and costs the tasks
 * that the reports are about, those whose wait is over, and a look at what was found of the others.
 *
 * @param before who has and is to have what, and the budget and the acceptable lag, are as then, and time did not go back.
 * @param reporters members with a report that makes a difference, as they are now.
 */
export function refineAgain(
  before: { readonly refinement: Refinement; readonly basis: RefinementBasis },
  reporters: ReadonlyMap<string, RefinerMember>,
  limits: RefinerLimits,
): Refined | undefined {
  const { basis, refinement } = before;
  const members = basis.survey.members.map((one) => reporters.get(one.memberId) ?? one);
  const survey = { ...basis.survey, members };
  const restoringLags = basis.restoringLags.map((lag, member) =>
    isReporter(basis, survey, member) ? undefined : lag,
  );
  const reports = new Reports(survey, limits.acceptableRecoveryLag, restoringLags);
  const judged = basis.judged.slice();
  for (const mover of concernedBy(basis, survey, limits.nowMs)) {
    judged[mover] = judgeMover(survey, reports, mover, judged[mover]?.wait, limits);
  }
  const funded = shareBudget(survey, reports, judged, limits.warmupsMax);
  const after = basisOf(survey, reports, judged, funded);
  const slices = new Map(refinement.slices);
  for (const member of membersWhoseSlicesMayDiffer(basis, after)) putSlice(slices, after, member);
  return conclude(after, slices);
}

function isReporter(before: RefinementBasis, { members }: Survey, member: number): boolean {
  return members[member] !== before.survey.members[member];
}

/** The movers that a report names or named, those whose owner reports, and those whose wait is over. */
function concernedBy(before: RefinementBasis, survey: Survey, nowMs: number): ReadonlySet<number> {
  const concerned = new Set<number>();
  const note = (subtopologyId: string, partition: number): void => {
    const mover = moverOf(survey, subtopologyId, partition);
    if (mover !== NONE) concerned.add(mover);
  };
  survey.members.forEach((is, member) => {
    if (!isReporter(before, survey, member)) return;
    // An end without an offset says nothing.
    for (const said of [before.survey.members[member]?.taskOffsets ?? [], is.taskOffsets]) {
      for (const { subtopologyId, partition } of said) note(subtopologyId, partition);
    }
    forEachTask(is.target.active, note);
  });
  before.judged.forEach(({ untilMs }, mover) => {
    if (untilMs <= nowMs) concerned.add(mover);
  });
  return concerned;
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

function putSlice(slices: Map<string, TasksByRole>, basis: RefinementBasis, member: number): void {
  const memberId = basis.survey.members[member]?.memberId ?? '';
  const slice = sliceOf(basis, member);
  if (slice === undefined) slices.delete(memberId);
  else slices.set(memberId, slice);
}

function conclude(
  basis: RefinementBasis,
  slices: ReadonlyMap<string, TasksByRole>,
): Refined | undefined {
  const { survey, judged } = basis;
  if (!keepsActiveTasks(survey.members, slices, countRescued(basis))) return undefined;
  let untilMs = Number.POSITIVE_INFINITY;
  for (const each of judged) if (each.untilMs < untilMs) untilMs = each.untilMs;
  let moves: readonly TaskMove[] | undefined;
  const refinement: Refinement = {
    slices,
    // Told when somebody asks: most refinements are looked at for one slice.
    get moves() {
      moves ??= movesOf(basis);
      return moves;
    },
    waits: waitsOf(basis),
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
 * Whether the slices have as many active tasks as the target, and those that stay although their owner is gone
 * (WU-15, H9).
 *
 * @param rescued how many those are.
 */
export function keepsActiveTasks(
  members: readonly RefinerMember[],
  slices: ReadonlyMap<string, TasksByRole>,
  rescued: number,
): boolean {
  let more = 0;
  for (const { memberId, target } of members) {
    const slice = slices.get(memberId);
    if (slice !== undefined) more += countTasks(slice.active) - countActiveTasks(target);
  }
  return more === rescued;
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
