import {
  type LookBack,
  MOVED_TASKS_MAX,
  type MovedTasks,
  type TargetChange,
  type TargetReport,
  type Untold,
} from '../model/look-back.ts';
import { countTasks, hasTask, nameTasks, taskKeys } from '../model/task-list.ts';
import { NO_TASKS, type TaskList } from '../model/tasks.ts';
import { atOnce } from './at-once.ts';
import type { Draft } from './draft.ts';
import { findMoves, type Way, type WhyIn } from './moves.ts';
import { reasonWords } from './reason-words.ts';

/** Lines of one target in the journal; a count stands for the rest. */
export const LINES_MAX = 20;
/** Tasks named in one line; a count stands for the rest. */
const TASKS_NAMED = 20;

/** What a run that a target comes from says of it, and whose it was. */
export type ToldRun = { readonly assignor: string; readonly lookBack: LookBack };

/** What the journal is told of a target. */
export type ToldTarget = {
  readonly because: readonly string[];
  readonly report: TargetReport | undefined;
};

/** Tells of a target, with reasons if there are any; stops now and then, as {@link findMoves}. */
export function* tellTarget(
  { assignor, changes, group }: Untold,
  lookBack: LookBack | undefined,
): Generator<void, ToldTarget> {
  const because: string[] = [];
  const teller = { group, say: (words: string) => void because.push(words) };
  const report = yield* tellMoves(teller, changes, lookBack && { assignor, lookBack });
  return { because, report };
}

/** Says in one go what moves; for a target whose run nobody looks back on. */
export function sayMoves(draft: Draft, changes: readonly TargetChange[]): void {
  atOnce(tellMoves(draft, changes, undefined));
}

/**
 * Says which active tasks got another owner, which lost theirs, where copies are to be, and why: one line for all tasks
 * that go the same way for the same reason. Of a told run the figures, and the moves one by one, come
 * back for the journal.
 */
export function* tellMoves(
  draft: Pick<Draft, 'group' | 'say'>,
  changes: readonly TargetChange[],
  run: ToldRun | undefined,
): Generator<void, TargetReport | undefined> {
  const head = `Target of epoch ${draft.group.assignmentEpoch}`;
  const enough = { ways: LINES_MAX, tasks: MOVED_TASKS_MAX };
  const { ways, taskCount } = yield* findMoves(changes, whyOfRun(draft, run), enough);
  const moves = ways.map(
    (way): Move => ({ tasks: way.tasks, words: (isOne) => wayWords(way, isOne, run) }),
  );
  if (taskCount === 0) draft.say(`${head}: nothing moves`);
  sayLines(draft, head, moves, taskCount - countAll(moves));
  return run && reportOf(run, ways, taskCount);
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

/** What the run says of a task that is new to its member; where it is not new, whether the member has it. */
function whyOfRun({ group }: Pick<Draft, 'group'>, run: ToldRun | undefined): WhyIn {
  if (run === undefined) return () => () => undefined;
  const { reasons } = run.lookBack;
  return (memberId, role, subtopologyId) => {
    const held = group.members.get(memberId)?.assigned[role] ?? NO_TASKS;
    const reasonOf =
      role === 'active'
        ? reasons.ofActives(subtopologyId)
        : reasons.ofStandbys(memberId, subtopologyId);
    return (partition) =>
      reasonOf(partition) ?? (hasTask(held, subtopologyId, partition) ? 'held' : undefined);
  };
}

/** The words before and after the names of the tasks. */
function wayWords(way: Way, isOne: boolean, run: ToldRun | undefined): readonly [string, string] {
  const { role, from, to } = way;
  const why = whyWords(way, isOne, run);
  const what = role === 'active' ? '' : isOne ? 'standby of ' : 'standbys of ';
  if (to === undefined) return [what, `${isOne ? 'is' : 'are'} taken from ${from}${why}`];
  if (from === undefined) return [what, `${isOne ? 'goes' : 'go'} to ${to}${why}`];
  return [what, `${isOne ? 'moves' : 'move'} from ${from} to ${to}${why}`];
}

function whyWords({ role, to, why }: Way, isOne: boolean, run: ToldRun | undefined): string {
  if (to === undefined) return role === 'standby' ? ': there are to be fewer' : '';
  if (why === undefined || run === undefined) return '';
  if (why === 'held') return `: ${to} has ${isOne ? 'it' : 'them'} already`;
  const { tasks, statefulTasks, sharers } = run.lookBack.figures;
  const shares = { statefulShare: statefulTasks / sharers, activeShare: tasks / sharers };
  return `: ${reasonWords(why, { assignor: run.assignor, to, isOne, ...shares })}`;
}

function reportOf(run: ToldRun, ways: readonly Way[], taskCount: number): TargetReport {
  const moves: MovedTasks[] = [];
  let room = MOVED_TASKS_MAX;
  for (const way of ways) {
    if (room === 0) break;
    const { role, from = null, to = null, why } = way;
    const tasks = taskKeys(way.tasks, room);
    room -= tasks.length;
    const reason = why === undefined || why === 'held' ? null : why;
    moves.push({ role, from, to, reason, said: wayWords(way, true, run)[1], tasks });
  }
  return {
    assignor: run.assignor,
    figures: run.lookBack.figures,
    moves,
    movesLeftOut: taskCount - (MOVED_TASKS_MAX - room),
  };
}

function countAll(moves: readonly Move[]): number {
  return moves.reduce((sum, { tasks }) => sum + countTasks(tasks), 0);
}
