import { countTasks, nameTasks, subtractTasks, taskKey, toTaskList } from '../model/task-list.ts';
import type { TaskList, TasksByRole } from '../model/tasks.ts';
import type { Draft } from './draft.ts';

/** Lines of one target in the journal; a count stands for the rest. */
const LINES_MAX = 20;
/** Tasks named in one line; a count stands for the rest. */
const TASKS_NAMED = 20;

/** One member's target as it was and as it is. */
export type TargetChange = {
  readonly memberId: string;
  readonly before: TasksByRole;
  readonly after: TasksByRole;
};

/**
 * Says which active tasks got another owner, which lost theirs, and where copies are to be: one line for all tasks that go
 * the same way.
 */
export function sayMoves(
  draft: Pick<Draft, 'group' | 'say'>,
  changes: readonly TargetChange[],
): void {
  const head = `Target of epoch ${draft.group.assignmentEpoch}`;
  const moves = [...activeMoves(changes), ...standbyMoves(changes)];
  if (moves.length === 0) draft.say(`${head}: nothing moves`);
  sayLines(draft, head, moves);
}

/** Says one line for each way, at most so many; a count stands for the rest. */
export function sayLines(draft: Pick<Draft, 'say'>, head: string, moves: readonly Move[]): void {
  for (const { tasks, one, many } of moves.slice(0, LINES_MAX)) {
    const [before, after] = countTasks(tasks) === 1 ? one : many;
    draft.say(`${head}: ${before}${nameTasks(tasks, TASKS_NAMED)} ${after}`);
  }
  const unsaid = moves.slice(LINES_MAX).reduce((sum, { tasks }) => sum + countTasks(tasks), 0);
  if (unsaid > 0) draft.say(`${head}: and ${unsaid} more ${unsaid === 1 ? 'move' : 'moves'}`);
}

/** Tasks that go the same way, and the words before and after them, for one and for many. */
export type Move = {
  readonly tasks: TaskList;
  readonly one: readonly [string, string];
  readonly many: readonly [string, string];
};

function activeMoves(changes: readonly TargetChange[]): Move[] {
  const lost = movedTasks(changes, 'active', 'before', 'after');
  const gained = movedTasks(changes, 'active', 'after', 'before');
  const formerOwners = ownersOf(lost);
  const moves = gained.flatMap(({ memberId, tasks }) =>
    [...byFormerOwner(tasks, formerOwners)].map(([from, some]): Move => {
      const way = `from ${from} to ${memberId}`;
      return from === undefined
        ? { tasks: some, one: ['', `goes to ${memberId}`], many: ['', `go to ${memberId}`] }
        : { tasks: some, one: ['', `moves ${way}`], many: ['', `move ${way}`] };
    }),
  );
  const given = lost.length === 0 ? [] : toTaskList(gained.flatMap(({ tasks }) => tasks));
  for (const { memberId, tasks } of lost) {
    const taken = subtractTasks(tasks, given);
    if (taken.length === 0) continue;
    const way = `taken from ${memberId}`;
    moves.push({ tasks: taken, one: ['', `is ${way}`], many: ['', `are ${way}`] });
  }
  return moves;
}

function standbyMoves(changes: readonly TargetChange[]): Move[] {
  return movedTasks(changes, 'standby', 'after', 'before').map(({ memberId, tasks }) => ({
    tasks,
    one: ['standby of ', `goes to ${memberId}`],
    many: ['standbys of ', `go to ${memberId}`],
  }));
}

type Moved = { readonly memberId: string; readonly tasks: TaskList };

/** Per member the tasks of a role that one side has and the other has not. */
function movedTasks(
  changes: readonly TargetChange[],
  role: 'active' | 'standby',
  has: 'before' | 'after',
  lacks: 'before' | 'after',
): Moved[] {
  return changes
    .map((change) => ({
      memberId: change.memberId,
      tasks: subtractTasks(change[has][role], change[lacks][role]),
    }))
    .filter(({ tasks }) => tasks.length > 0);
}

function ownersOf(moved: readonly Moved[]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const { memberId, tasks } of moved) {
    for (const { subtopologyId, partitions } of tasks) {
      for (const partition of partitions) owners.set(taskKey(subtopologyId, partition), memberId);
    }
  }
  return owners;
}

/** The tasks by who had them, in the order of each one's first; undefined: nobody. */
function byFormerOwner(
  tasks: TaskList,
  owners: ReadonlyMap<string, string>,
): ReadonlyMap<string | undefined, TaskList> {
  // The first target of all: no task has to be looked at.
  if (owners.size === 0) return new Map([[undefined, tasks]]);
  const byOwner = new Map<string | undefined, { subtopologyId: string; partitions: number[] }[]>();
  for (const { subtopologyId, partitions } of tasks) {
    for (const partition of partitions) {
      const owner = owners.get(taskKey(subtopologyId, partition));
      const list = byOwner.get(owner) ?? [];
      byOwner.set(owner, list);
      const last = list.at(-1);
      if (last?.subtopologyId === subtopologyId) last.partitions.push(partition);
      else list.push({ subtopologyId, partitions: [partition] });
    }
  }
  return byOwner;
}
