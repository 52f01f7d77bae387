import type { Refinement, TaskMove, WarmupWait } from '../../model/refinement.ts';
import { UNREFINED } from '../../model/refinement.ts';
import { countTasks, taskKey } from '../../model/task-list.ts';
import type { TasksByRole } from '../../model/tasks.ts';
import { assemble } from './assemble.ts';
import { gatherFacts } from './facts.ts';
import type { Mover, RefinerMember } from './mover.ts';
import { leastLagOn } from './reports.ts';
import type { WaitLimits } from './stage.ts';
import { endOfWait, judgeMover, judgeWait, waitFor } from './stage.ts';
import type { Judged, Warmed } from './warm.ts';
import { shareBudget } from './warm.ts';
import { watchedBy } from './watched.ts';

/** Everything an intermediate assignment follows from. */
export type RefinerInput = WaitLimits & {
  /** Sorted by id, code units. */
  readonly subtopologies: readonly {
    readonly subtopologyId: string;
    readonly taskCount: number;
    readonly stateful: boolean;
  }[];
  /** Sorted by member id, code units. */
  readonly members: readonly RefinerMember[];
  /** They are those that matter: a task that none of them has nor is to have is with its owner. Else they are all. */
  readonly isPart: boolean;
  /** The budget: how many warm-ups the group may have. */
  readonly warmupsMax: number;
  readonly acceptableRecoveryLag: bigint;
  /** Of the refinement before. */
  readonly waits: ReadonlyMap<string, WarmupWait>;
};

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
export function refine(input: RefinerInput): Refinement | undefined {
  if (input.members.length === 0) return UNREFINED;
  const facts = gatherFacts(input);
  if (facts.movers.length === 0) return UNREFINED;
  const waits = new Map<string, WarmupWait>();
  let untilMs = Number.POSITIVE_INFINITY;
  const judged = facts.movers.map((mover): Judged => {
    const wait = waitFor(facts, mover, input.waits, input.nowMs);
    const verdict = judgeMover(facts, mover, judgeWait(facts, mover, wait, input));
    if (wait !== undefined) {
      waits.set(taskKey(mover.subtopologyId, mover.partition), wait);
      if (verdict.kind === 'staged') {
        untilMs = Math.min(untilMs, endOfWait(facts, mover, wait, input));
      }
    }
    return { mover, verdict };
  });
  const warmed = shareBudget(facts, judged, input.warmupsMax);
  const slices = assemble(judged, warmed);
  if (!keepsActiveTasks(input.members, slices, judged)) return undefined;
  const moves: TaskMove[] = [];
  for (const { mover, verdict } of judged) {
    const move = moveOf(mover, verdict, warmed.get(mover));
    if (move !== undefined) moves.push(move);
  }
  return { slices, moves, waits, untilMs, watched: watchedBy(facts.movers) };
}

/** Undefined: the task is nobody's. */
function moveOf(
  mover: Mover,
  verdict: Judged['verdict'],
  warmed: Warmed | undefined,
): TaskMove | undefined {
  if (verdict.kind === 'left') return undefined;
  const { subtopologyId, partition } = mover;
  const holder = mover.holder?.memberId;
  const owner = mover.owner?.memberId;
  const lag = mover.owner === undefined ? undefined : leastLagOn(mover, mover.owner.processId);
  if (verdict.kind === 'granted') {
    const { because } = verdict;
    return { subtopologyId, partition, holder, owner, lag, kind: 'granted', because };
  }
  const { memberId: runner } = verdict.runner;
  const warming = warmed?.warming ?? 'noRoom';
  return { subtopologyId, partition, holder, owner, lag, kind: 'staged', runner, warming };
}

/**
 * Whether the slices have as many active tasks as the target, and those that stay although their owner is gone
 * (WU-15, H9).
 */
export function keepsActiveTasks(
  members: readonly RefinerMember[],
  slices: ReadonlyMap<string, TasksByRole>,
  judged: readonly Judged[],
): boolean {
  let more = 0;
  for (const { memberId, target } of members) {
    const slice = slices.get(memberId);
    if (slice !== undefined) more += countTasks(slice.active) - countTasks(target.active);
  }
  return more === judged.filter(isRescued).length;
}

/** Its owner is gone, but somebody has it, or a copy of it. */
function isRescued({ mover, verdict }: Judged): boolean {
  return mover.owner === undefined && verdict.kind === 'staged';
}
