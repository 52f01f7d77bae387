import type { Judged, RefinementBasis } from '../../model/refinement.ts';
import { NONE, type Survey } from '../../model/survey.ts';
import { appendTask, type OpenTaskList, unionTasks } from '../../model/task-list.ts';
import { NO_TASKS, type TaskIds, type TaskList, type TasksByRole } from '../../model/tasks.ts';
import { copiesOn, membersOf, moverOf, processOf } from './survey.ts';

/** Puts down who runs the staged tasks, and whose standby warms them. */
export function basisOf(
  survey: Survey,
  judged: readonly Judged[],
  funded: ReadonlySet<number>,
): RefinementBasis {
  const { holders, copies } = survey;
  const runners = new Int32Array(holders.length).fill(NONE);
  const lenders = new Int32Array(holders.length).fill(NONE);
  judged.forEach(({ verdict, runningCopy, standby }, mover) => {
    if (verdict !== 'staged') return;
    const runner = runningCopy === NONE ? holders[mover] : copies.members[runningCopy];
    runners[mover] = runner ?? NONE;
    if (standby !== NONE && !funded.has(mover)) lenders[mover] = copies.members[standby] ?? NONE;
  });
  return { survey, judged, funded, runners, lenders };
}

/**
 * A member's slice of the intermediate assignment: its target, with the staged tasks that it runs and without those that
 * wait for it, with the warm-ups that have a place of the budget, with a standby that warms a task where it is, and
 * without the standbys that must wait for a task (WU-13, WU-14).
 *
 * @returns undefined: it is the target. No member has a task twice.
 */
export function sliceOf(basis: RefinementBasis, member: number): TasksByRole | undefined {
  const { survey, runners, lenders } = basis;
  const one = survey.members[member];
  if (one === undefined) return undefined;
  const { assigned, target } = one;
  const isNotStaged = (mover: number): boolean => runners[mover] === NONE;
  const isDue = (mover: number): boolean => !isWithheld(basis, mover, member);
  const meanwhile = unionTasks(
    pick(survey, assigned.standby, runners, member),
    pick(survey, assigned.warmup, runners, member),
  );
  const runs = unionTasks(pick(survey, assigned.active, runners, member), meanwhile);
  const lends = pick(survey, assigned.standby, lenders, member);
  const active = add(keep(survey, target.active, isNotStaged), runs);
  const standby = add(keep(survey, target.standby, isDue), lends);
  const warmup = add(target.warmup, plantedOn(basis, member));
  const isTarget =
    active === target.active && standby === target.standby && warmup === target.warmup;
  return isTarget ? undefined : { active, standby, warmup };
}

/** The tasks of a list that move, and for which a member is named. */
function pick(survey: Survey, tasks: TaskList, named: Int32Array, member: number): TaskList {
  const { places, movers } = survey;
  let picked: OpenTaskList | undefined;
  for (const { subtopologyId, partitions } of tasks) {
    const range = places.rangeOf(subtopologyId);
    if (range === undefined) continue;
    for (const partition of partitions) {
      if (partition >= range.taskCount) break;
      const mover = movers[range.first + partition] ?? NONE;
      if (mover === NONE || named[mover] !== member) continue;
      picked ??= [];
      appendTask(picked, subtopologyId, partition);
    }
  }
  return picked ?? NO_TASKS;
}

/** The list without those tasks that move and are not kept; that very list if all are. */
function keep(survey: Survey, tasks: TaskList, isKept: (mover: number) => boolean): TaskList {
  const kept: TaskIds[] = [];
  let isWhole = true;
  for (const entry of tasks) {
    const { subtopologyId } = entry;
    const partitions = entry.partitions.filter((partition) => {
      const mover = moverOf(survey, subtopologyId, partition);
      return mover === NONE || isKept(mover);
    });
    const isWholeEntry = partitions.length === entry.partitions.length;
    if (isWholeEntry) kept.push(entry);
    else if (partitions.length > 0) kept.push({ subtopologyId, partitions });
    isWhole &&= isWholeEntry;
  }
  return isWhole ? tasks : kept;
}

/** That very list if there is nothing to add. */
function add(tasks: TaskList, more: TaskList): TaskList {
  return more.length === 0 ? tasks : unionTasks(tasks, more);
}

/** The tasks of a member's target for which it has places of the budget. */
function plantedOn({ survey, funded }: RefinementBasis, member: number): TaskList {
  let isAny = false;
  for (const mover of funded) isAny ||= survey.owners[mover] === member;
  if (!isAny) return NO_TASKS;
  const planted: OpenTaskList = [];
  for (const { subtopologyId, partitions } of survey.members[member]?.target.active ?? NO_TASKS) {
    for (const partition of partitions) {
      if (!funded.has(moverOf(survey, subtopologyId, partition))) continue;
      appendTask(planted, subtopologyId, partition);
    }
  }
  return planted;
}

/**
 * Whether a member that the target wants to have a standby of a task does not get it yet: its process runs the task, or
 * a borrowed standby stands for it, so that there is not one copy too many meanwhile (WU-13).
 */
function isWithheld(
  { survey, runners, lenders }: RefinementBasis,
  mover: number,
  member: number,
): boolean {
  const runner = runners[mover] ?? NONE;
  if (runner === NONE) return false;
  const runningProcess = processOf(survey, runner);
  if (processOf(survey, member) === runningProcess) return true;
  if (lenders[mover] === NONE) return false;
  const wanted = membersOf(survey.standbyTargets, mover);
  if (wanted.some((each) => processOf(survey, each) === runningProcess)) return false;
  const isRelocated = (each: number): boolean =>
    copiesOn(survey, mover, processOf(survey, each)).length === 0;
  return wanted.find(isRelocated) === member;
}
