import type { MoveReason, MoveReasons, TargetChange } from '../model/look-back.ts';
import { hasTask, subtractTasks, taskKey, toTaskList } from '../model/task-list.ts';
import type { TaskList, TasksByRole } from '../model/tasks.ts';

/** Tasks that go the same way from one target to the next. */
export type Way = {
  readonly role: 'active' | 'standby';
  /** Of an active task: who was to have it. */
  readonly from: string | undefined;
  /** Undefined: nobody is to have it any more. */
  readonly to: string | undefined;
  readonly tasks: TaskList;
};

/** Active tasks that get another owner, those that lose theirs, and new standbys, in this order. */
export function waysOf(changes: readonly TargetChange[]): Way[] {
  const lost = movedTasks(changes, 'active', 'before', 'after');
  const gained = movedTasks(changes, 'active', 'after', 'before');
  const formerOwners = ownersOf(lost);
  const ways = gained.flatMap(({ memberId, tasks }) =>
    [...byFormerOwner(tasks, formerOwners)].map(
      ([from, some]): Way => ({ role: 'active', from, to: memberId, tasks: some }),
    ),
  );
  const given = lost.length === 0 ? [] : toTaskList(gained.flatMap(({ tasks }) => tasks));
  for (const { memberId, tasks } of lost) {
    const taken = subtractTasks(tasks, given);
    if (taken.length === 0) continue;
    ways.push({ role: 'active', from: memberId, to: undefined, tasks: taken });
  }
  for (const { memberId, tasks } of movedTasks(changes, 'standby', 'after', 'before')) {
    ways.push({ role: 'standby', from: undefined, to: memberId, tasks });
  }
  return ways;
}

/** Why a task goes its way: `held` it is with that member already; undefined: nothing is known. */
export type Why = MoveReason | 'held' | undefined;

/**
 * The tasks of a way by why they go it, in the order of each one's first.
 *
 * @param holds what the member has now whose the tasks are to be.
 */
export function byReason(
  { role, to, tasks }: Way,
  reasons: MoveReasons,
  holds: TasksByRole | undefined,
): ReadonlyMap<Why, TaskList> {
  if (to === undefined) return new Map([[undefined, tasks]]);
  return groupTasks(tasks, (subtopologyId) => {
    const reasonOf =
      role === 'active' ? reasons.ofActives(subtopologyId) : reasons.ofStandbys(to, subtopologyId);
    return (partition): Why => {
      const reason = reasonOf(partition);
      if (reason !== undefined || holds === undefined) return reason;
      return hasTask(holds[role], subtopologyId, partition) ? 'held' : undefined;
    };
  });
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
  return groupTasks(
    tasks,
    (subtopologyId) => (partition) => owners.get(taskKey(subtopologyId, partition)),
  );
}

/** The tasks of a list by something, in the order of each one's first. */
function groupTasks<K>(
  tasks: TaskList,
  keysIn: (subtopologyId: string) => (partition: number) => K,
): ReadonlyMap<K, TaskList> {
  const groups = new Map<K, { subtopologyId: string; partitions: number[] }[]>();
  for (const { subtopologyId, partitions } of tasks) {
    const keyOf = keysIn(subtopologyId);
    for (const partition of partitions) {
      const key = keyOf(partition);
      const list = groups.get(key) ?? [];
      if (list.length === 0) groups.set(key, list);
      const last = list.at(-1);
      if (last?.subtopologyId === subtopologyId) last.partitions.push(partition);
      else list.push({ subtopologyId, partitions: [partition] });
    }
  }
  return groups;
}
