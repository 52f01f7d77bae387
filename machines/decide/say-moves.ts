import {
  type LookBack,
  MOVED_TASKS_MAX,
  type MovedTasks,
  type TargetChange,
  type TargetReport,
  type Untold,
} from '../model/look-back.ts';
import { countTasks, nameTasks, taskKeys } from '../model/task-list.ts';
import type { TaskList } from '../model/tasks.ts';
import type { Draft } from './draft.ts';
import { byReason, type Way, type Why, waysOf } from './moves.ts';
import { reasonWords } from './reason-words.ts';

/** Lines of one target in the journal; a count stands for the rest. */
export const LINES_MAX = 20;
/** Tasks named in one line; a count stands for the rest. */
const TASKS_NAMED = 20;

/** What a run that a target comes from says of it, and whose it was. */
export type ToldRun = { readonly assignor: string; readonly lookBack: LookBack };

/** Tells of a target, with reasons if there are any. */
export function tellTarget(
  { assignor, changes, group }: Untold,
  lookBack: LookBack | undefined,
): { readonly because: readonly string[]; readonly report: TargetReport | undefined } {
  const because: string[] = [];
  const teller = { group, say: (words: string) => void because.push(words) };
  const report = sayMoves(teller, changes, lookBack && { assignor, lookBack });
  return { because, report };
}

/**
 * Says which active tasks got another owner, which lost theirs, where copies are to be, and why: one line for all tasks
 * that go the same way for the same reason. Of a told run the figures, and the moves one by one, come
 * back for the journal.
 */
export function sayMoves(
  draft: Pick<Draft, 'group' | 'say'>,
  changes: readonly TargetChange[],
  run: ToldRun | undefined,
): TargetReport | undefined {
  const head = `Target of epoch ${draft.group.assignmentEpoch}`;
  const ways = waysOf(changes);
  const moves = run === undefined ? ways.map(plainMove) : explainedMoves(draft, ways, run);
  if (moves.length === 0) draft.say(`${head}: nothing moves`);
  sayLines(draft, head, moves);
  return run && reportOf(run, moves);
}

/**
 * Says one line for each way, at most {@link LINES_MAX}; a count stands for the rest.
 *
 * @param more how many tasks there are beside those of `moves`.
 */
export function sayLines(
  draft: Pick<Draft, 'say'>,
  head: string,
  moves: readonly Move[],
  more = 0,
): void {
  for (const { tasks, words } of moves.slice(0, LINES_MAX)) {
    const [before, after] = words(countTasks(tasks) === 1);
    draft.say(`${head}: ${before}${nameTasks(tasks, TASKS_NAMED)} ${after}`);
  }
  const unsaid = countAll(moves.slice(LINES_MAX)) + more;
  if (unsaid > 0) draft.say(`${head}: and ${unsaid} more ${unsaid === 1 ? 'move' : 'moves'}`);
}

/** Tasks that go the same way, and the words before and after them. */
export type Move = {
  readonly tasks: TaskList;
  readonly words: (isOne: boolean) => readonly [string, string];
};

type TaskMove = Move & { readonly way: Way; readonly why: Why };

function plainMove(way: Way): TaskMove {
  return { way, why: undefined, tasks: way.tasks, words: (isOne) => wayWords(way, isOne) };
}

function explainedMoves(
  { group }: Pick<Draft, 'group'>,
  ways: readonly Way[],
  { assignor, lookBack: { figures, reasons } }: ToldRun,
): TaskMove[] {
  const shares = {
    statefulShare: figures.statefulTasks / figures.sharers,
    activeShare: figures.tasks / figures.sharers,
    assignor,
  };
  return ways.flatMap((way) => {
    const { to = '' } = way;
    const whyWords = (why: Why, isOne: boolean): string => {
      if (why === undefined) return '';
      if (why === 'held') return `: ${to} has ${isOne ? 'it' : 'them'} already`;
      return `: ${reasonWords(why, { ...shares, to, isOne })}`;
    };
    return [...byReason(way, reasons, group.members.get(to)?.assigned)].map(([why, tasks]) => ({
      way,
      why,
      tasks,
      words: (isOne: boolean): readonly [string, string] => {
        const [before, after] = wayWords(way, isOne);
        return [before, after + whyWords(why, isOne)];
      },
    }));
  });
}

function wayWords({ role, from, to }: Way, isOne: boolean): readonly [string, string] {
  if (role === 'standby') {
    return isOne ? ['standby of ', `goes to ${to}`] : ['standbys of ', `go to ${to}`];
  }
  if (to === undefined) return ['', `${isOne ? 'is' : 'are'} taken from ${from}`];
  if (from === undefined) return ['', `${isOne ? 'goes' : 'go'} to ${to}`];
  return ['', `${isOne ? 'moves' : 'move'} from ${from} to ${to}`];
}

function reportOf({ assignor, lookBack }: ToldRun, moves: readonly TaskMove[]): TargetReport {
  const kept: MovedTasks[] = [];
  let room = MOVED_TASKS_MAX;
  for (const { way, why, tasks, words } of moves) {
    if (room === 0) break;
    const names = taskKeys(tasks, room);
    room -= names.length;
    const { role, from = null, to = null } = way;
    const reason = why === undefined || why === 'held' ? null : why;
    kept.push({ role, from, to, reason, said: words(true)[1], tasks: names });
  }
  return {
    assignor,
    figures: lookBack.figures,
    moves: kept,
    movesLeftOut: countAll(moves) - (MOVED_TASKS_MAX - room),
  };
}

function countAll(moves: readonly Move[]): number {
  return moves.reduce((sum, { tasks }) => sum + countTasks(tasks), 0);
}
