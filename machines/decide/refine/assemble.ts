import type { Judged, RefinementBasis } from '../../model/refinement.ts';
import { NONE, type Survey } from '../../model/survey.ts';
import { appendTask, type OpenTaskList, unionTasks } from '../../model/task-list.ts';
import { NO_TASKS, type TaskIds, type TaskList, type TasksByRole } from '../../model/tasks.ts';
import type { Reports } from './reports.ts';
import { copiesOn, membersOf, moverOf, processOf } from './survey.ts';

/** Puts down who runs the staged tasks, and whose standby warms them. */
export function basisOf(
  survey: Survey,
  { restoringLags }: Reports,
  judged: readonly Judged[],
  funded: ReadonlySet<number>,
): RefinementBasis {
  const { holders, copies } = survey;
  const runners = new Int32Array(holders.length).fill(NONE);
  const lenders = new Int32Array(holders.length).fill(NONE);
  let doCopiesRun = false;
  let areStandbysLent = false;
  judged.forEach(({ verdict, runningCopy, standby }, mover) => {
    if (verdict !== 'staged') return;
    const runner = runningCopy === NONE ? holders[mover] : copies.members[runningCopy];
    runners[mover] = runner ?? NONE;
    doCopiesRun ||= runningCopy !== NONE;
    if (standby === NONE || funded.has(mover)) return;
    lenders[mover] = copies.members[standby] ?? NONE;
    areStandbysLent = true;
  });
  return { survey, judged, funded, runners, lenders, doCopiesRun, areStandbysLent, restoringLags };
}

/**
 * A member's slice of the intermediate assignment: its target, with the staged tasks that it runs and without those that
 * wait for it, with the warm-ups that have a place of the budget, with a standby that warms a task where it is, and
 * without the standbys that must wait for a task (WU-13, WU-14).
 *
 * @returns undefined: it is the target. No member has a task twice.
 */
export function sliceOf(basis: RefinementBasis, member: number): TasksByRole | undefined {
  const { survey, runners, lenders, doCopiesRun, areStandbysLent } = basis;
  const one = survey.members[member];
  if (one === undefined) return undefined;
  const { assigned, target } = one;
  const held = pick(survey, assigned.active, runners, member);
  const copies = doCopiesRun ? unionTasks(assigned.standby, assigned.warmup) : NO_TASKS;
  const runs = add(held, pick(survey, copies, runners, member));
  const lends = areStandbysLent ? pick(survey, assigned.standby, lenders, member) : NO_TASKS;
  const active = add(keep(basis, target.active, isWithTarget, member), runs);
  const standby = add(keep(basis, target.standby, isDue, member), lends);
  const warmup = add(target.warmup, plantedOn(basis, member));
  const isTarget =
    active === target.active && standby === target.standby && warmup === target.warmup;
  return isTarget ? undefined : { active, standby, warmup };
}

/** The tasks of a list that move, and for which a member is named. */
function pick(survey: Survey, tasks: TaskList, named: Int32Array, member: number): TaskList {
  const { places, movers } = survey;
  let picked: TaskIds[] | undefined;
  for (const { subtopologyId, partitions } of tasks) {
    const range = places.rangeOf(subtopologyId);
    if (range === undefined) continue;
    let some: number[] | undefined;
    for (const partition of partitions) {
      if (partition >= range.taskCount) break;
      const mover = movers[range.first + partition] ?? NONE;
      if (mover === NONE || named[mover] !== member) continue;
      if (some === undefined) some = [partition];
      else some.push(partition);
    }
    if (some === undefined) continue;
    picked ??= [];
    picked.push({ subtopologyId, partitions: some });
  }
  return picked ?? NO_TASKS;
}

/** The list without those tasks that move and are not kept; that very list if all are. */
function keep(
  basis: RefinementBasis,
  tasks: TaskList,
  isKept: (basis: RefinementBasis, mover: number, member: number) => boolean,
  member: number,
): TaskList {
  const kept: TaskIds[] = [];
  let isWhole = true;
  for (const entry of tasks) {
    const { subtopologyId } = entry;
    const partitions: number[] = [];
    for (const partition of entry.partitions) {
      const mover = moverOf(basis.survey, subtopologyId, partition);
      if (mover === NONE || isKept(basis, mover, member)) partitions.push(partition);
    }
    const isWholeEntry = partitions.length === entry.partitions.length;
    if (isWholeEntry) kept.push(entry);
    else if (partitions.length > 0) kept.push({ subtopologyId, partitions });
    isWhole &&= isWholeEntry;
  }
  return isWhole ? tasks : kept;
}

function isWithTarget({ runners }: RefinementBasis, mover: number): boolean {
  return runners[mover] === NONE;
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
 * Whether a member that the target wants to have a standby of a task gets it now. It does not if its process runs the
 * task, or if a borrowed standby stands for it, so that there is not one copy too many meanwhile (WU-13).
 */
function isDue(
  { survey, runners, lenders }: RefinementBasis,
  mover: number,
  member: number,
): boolean {
  const runner = runners[mover] ?? NONE;
  if (runner === NONE) return true;
  const runningProcess = processOf(survey, runner);
  if (processOf(survey, member) === runningProcess) return false;
  if (lenders[mover] === NONE) return true;
  const wanted = membersOf(survey.standbyTargets, mover);
  if (wanted.some((each) => processOf(survey, each) === runningProcess)) return true;
  const isRelocated = (each: number): boolean =>
    copiesOn(survey, mover, processOf(survey, each)).length === 0;
  return wanted.find(isRelocated) !== member;
}
