import type { AssignmentProblem, AssignmentResult } from '../model/assignment.ts';
import type { Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { RunInFlight } from '../model/soft.ts';
import {
  hasTask,
  sameTasksByRole,
  subtractTasks,
  taskKey,
  toTaskList,
} from '../model/task-list.ts';
import type { TaskList, TasksByRole } from '../model/tasks.ts';
import { NO_TASKS, NO_TASKS_BY_ROLE } from '../model/tasks.ts';
import type { Draft } from './draft.ts';

/** Moves named one by one in the journal; a count stands for the rest. */
const MOVES_NAMED = 20;

/**
 * Installs a target: a record per present member that had none or another one, then the epoch, always (ASG-10).
 * A member without an entry gets an empty target (ASG-8, OFF-3c).
 */
export function installTarget(
  draft: Draft,
  assignmentEpoch: number,
  entryOf: (memberId: string) => TasksByRole | undefined,
): void {
  const { group, context } = draft;
  const { groupId } = group;
  const changes: Change[] = [];
  for (const memberId of [...group.members.keys()].sort(byCodeUnits)) {
    const after = entryOf(memberId) ?? NO_TASKS_BY_ROLE;
    const before = group.targets.get(memberId);
    if (before !== undefined && sameTasksByRole(before, after)) continue;
    draft.write({ type: 'targetMember', groupId, memberId, value: after });
    changes.push({ memberId, before: before ?? NO_TASKS_BY_ROLE, after });
  }
  draft.write({
    type: 'targetMetadata',
    groupId,
    value: { assignmentEpoch, assignmentTimestampMs: context.nowMs },
  });
  sayMoves(draft, changes);
}

/** One member's target as it was and as it is. */
type Change = {
  readonly memberId: string;
  readonly before: TasksByRole;
  readonly after: TasksByRole;
};

/** The empty target that a topology which is not ready gives everybody (ASG-9, TOP-13). */
export function installNothing(draft: Draft): void {
  installTarget(draft, draft.group.groupEpoch, () => NO_TASKS_BY_ROLE);
}

/**
 * The entry of a present member in a run's result, as if every membership change since had come after the run
 * (OFF-3): members that left have no say, and a static member that was replaced hands its entry on.
 */
export function entriesOf(
  group: Group,
  run: RunInFlight,
  problem: AssignmentProblem,
  result: AssignmentResult,
): (memberId: string) => TasksByRole | undefined {
  const entries = new Map<string, TasksByRole>();
  problem.members.forEach(({ memberId }, at) => {
    const entry = result.members[at];
    if (entry !== undefined) {
      entries.set(memberId, { active: entry.active, standby: entry.standby, warmup: NO_TASKS });
    }
  });
  return (memberId) => {
    const own = entries.get(memberId);
    if (own !== undefined) return own;
    const instanceId = group.members.get(memberId)?.instanceId ?? null;
    const replaced = instanceId === null ? undefined : run.instanceIds.get(instanceId);
    if (replaced === undefined || group.members.has(replaced)) return undefined;
    return entries.get(replaced);
  };
}

/** Says which active tasks got another owner, which lost theirs, and where copies are to be. */
function sayMoves(draft: Draft, changes: readonly Change[]): void {
  const head = `Target of epoch ${draft.group.assignmentEpoch}`;
  const lines: string[] = [];
  let unnamed = 0;
  const name = (tasks: TaskList, words: (subtopologyId: string, partition: number) => string) => {
    for (const { subtopologyId, partitions } of tasks) {
      const room = Math.max(0, MOVES_NAMED - lines.length);
      unnamed += Math.max(0, partitions.length - room);
      for (const at of partitions.slice(0, room))
        lines.push(`${head}: ${words(subtopologyId, at)}`);
    }
  };
  const lost = movedTasks(changes, 'active', 'before', 'after');
  const gained = movedTasks(changes, 'active', 'after', 'before');
  for (const { memberId, tasks } of gained) {
    name(tasks, (id, at) => {
      const from = lost.find((loss) => hasTask(loss.tasks, id, at))?.memberId;
      const task = taskKey(id, at);
      if (from === undefined) return `task ${task} goes to ${memberId}`;
      return `task ${task} moves from ${from} to ${memberId}`;
    });
  }
  if (lost.length > 0 && lines.length < MOVES_NAMED) {
    const given = toTaskList(gained.flatMap(({ tasks }) => tasks));
    for (const { memberId, tasks } of lost) {
      const words = (id: string, at: number) => `task ${taskKey(id, at)} is taken from ${memberId}`;
      name(subtractTasks(tasks, given), words);
    }
  }
  for (const { memberId, tasks } of movedTasks(changes, 'standby', 'after', 'before')) {
    name(tasks, (id, at) => `standby of ${taskKey(id, at)} goes to ${memberId}`);
  }
  if (lines.length === 0) draft.say(`${head}: nothing moves`);
  for (const line of lines) draft.say(line);
  if (unnamed > 0) draft.say(`${head}: and ${unnamed} more moves`);
}

type Moved = { readonly memberId: string; readonly tasks: TaskList };

/** Per member the tasks of a role that one side has and the other has not. */
function movedTasks(
  changes: readonly Change[],
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
