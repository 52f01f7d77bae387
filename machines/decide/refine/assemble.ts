import type { Judged, RefinementBasis } from '../../model/refinement.ts';
import {
  ACTIVE,
  NONE,
  ROLES_OF_ROW,
  STANDBY,
  type Survey,
  type TaskRows,
  WARMUP,
} from '../../model/survey.ts';
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
  const one = basis.survey.members[member];
  if (one === undefined || !hasSlice(basis, member)) return undefined;
  const { assigned, target } = one;
  const { doCopiesRun, areStandbysLent } = basis;
  const own = pick(basis, assigned.active, runs, member);
  const copies = doCopiesRun ? unionTasks(assigned.standby, assigned.warmup) : NO_TASKS;
  const ran = add(own, pick(basis, copies, runs, member));
  const lent = areStandbysLent ? pick(basis, assigned.standby, lends, member) : NO_TASKS;
  return {
    active: add(keep(basis, target.active, isNotStaged, member), ran),
    standby: add(keep(basis, target.standby, isDue, member), lent),
    warmup: add(target.warmup, plantedOn(basis, member)),
  };
}

/** Whether a member's slice is not its target; found without making it. */
export function hasSlice(basis: RefinementBasis, member: number): boolean {
  const { survey, doCopiesRun, areStandbysLent } = basis;
  const { held, wanted } = survey;
  const row = ROLES_OF_ROW * member;
  return (
    count(basis, wanted, row + ACTIVE, isStaged) > 0 ||
    count(basis, held, row + ACTIVE, runs) > 0 ||
    count(basis, wanted, row + ACTIVE, isFunded) > 0 ||
    count(basis, wanted, row + STANDBY, isNotDue) > 0 ||
    (doCopiesRun && countCopiesThatRun(basis, row) > 0) ||
    (areStandbysLent && count(basis, held, row + STANDBY, lends) > 0)
  );
}

/** How many active tasks a member's slice has beyond those of its target; may be fewer than 0. */
export function surplusOf(basis: RefinementBasis, member: number): number {
  const { held, wanted } = basis.survey;
  const row = ROLES_OF_ROW * member;
  return (
    count(basis, held, row + ACTIVE, runs) +
    (basis.doCopiesRun ? countCopiesThatRun(basis, row) : 0) -
    count(basis, wanted, row + ACTIVE, isStaged)
  );
}

function countCopiesThatRun(basis: RefinementBasis, row: number): number {
  const { held } = basis.survey;
  return count(basis, held, row + STANDBY, runs) + count(basis, held, row + WARMUP, runs);
}

/** Of how many tasks that move and are in a row the answer is yes, for the member whose row it is. */
function count(
  basis: RefinementBasis,
  { starts, places }: TaskRows,
  row: number,
  isSo: Question,
): number {
  const { movers } = basis.survey;
  const member = Math.floor(row / ROLES_OF_ROW);
  const to = starts[row + 1] as number;
  let found = 0;
  for (let at = starts[row] as number; at < to; at++) {
    const mover = movers[places[at] as number] as number;
    if (mover !== NONE && isSo(basis, mover, member)) found++;
  }
  return found;
}

/** What is asked of a mover and a member. */
type Question = (basis: RefinementBasis, mover: number, member: number) => boolean;

const runs: Question = ({ runners }, mover, member) => runners[mover] === member;
const lends: Question = ({ lenders }, mover, member) => lenders[mover] === member;
const isNotStaged: Question = ({ runners }, mover) => runners[mover] === NONE;
const isStaged: Question = ({ runners }, mover) => runners[mover] !== NONE;
const isFunded: Question = ({ survey, funded }, mover, member) =>
  survey.owners[mover] === member && funded.has(mover);

/** The tasks of a list that move, and for which the answer is yes. */
function pick(basis: RefinementBasis, tasks: TaskList, isSo: Question, member: number): TaskList {
  let picked: TaskIds[] | undefined;
  for (const entry of tasks) {
    const partitions = select(basis, entry, member, isSo, false);
    if (partitions.length === 0) continue;
    const some = { subtopologyId: entry.subtopologyId, partitions };
    if (picked === undefined) picked = [some];
    else picked.push(some);
  }
  return picked ?? NO_TASKS;
}

/** The list without those tasks that move, and for which the answer is no; that very list if there is none. */
function keep(basis: RefinementBasis, tasks: TaskList, isSo: Question, member: number): TaskList {
  let kept: TaskIds[] | undefined;
  for (const [at, entry] of tasks.entries()) {
    const partitions = select(basis, entry, member, isSo, true);
    if (partitions === entry.partitions) {
      kept?.push(entry);
      continue;
    }
    kept ??= tasks.slice(0, at);
    if (partitions.length > 0) kept.push({ subtopologyId: entry.subtopologyId, partitions });
  }
  return kept ?? tasks;
}

/**
 * The partitions of those tasks that move and for which the answer is yes, and the rest if `areOthers`; the very array if
 * it is all.
 */
function select(
  basis: RefinementBasis,
  { subtopologyId, partitions }: TaskIds,
  member: number,
  isSo: Question,
  areOthers: boolean,
): TaskIds['partitions'] {
  const { survey } = basis;
  // Counted first: of most lists it is all or nothing.
  let count = 0;
  for (const partition of partitions) {
    const mover = moverOf(survey, subtopologyId, partition);
    if (mover === NONE ? areOthers : isSo(basis, mover, member)) count++;
  }
  if (count === partitions.length) return partitions;
  if (count === 0) return NO_PARTITIONS;
  const some: number[] = [];
  for (const partition of partitions) {
    const mover = moverOf(survey, subtopologyId, partition);
    if (mover === NONE ? areOthers : isSo(basis, mover, member)) some.push(partition);
  }
  return some;
}

const NO_PARTITIONS: TaskIds['partitions'] = [];

/** That very list if there is nothing to add. */
function add(tasks: TaskList, more: TaskList): TaskList {
  return more.length === 0 ? tasks : unionTasks(tasks, more);
}

/** The tasks of a member's target for which it has places of the budget. */
function plantedOn({ survey, funded }: RefinementBasis, member: number): TaskList {
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
const isDue: Question = ({ survey, runners, lenders }, mover, member) => {
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
};

const isNotDue: Question = (basis, mover, member) => !isDue(basis, mover, member);
