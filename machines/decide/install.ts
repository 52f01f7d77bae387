import type { AssignmentProblem, AssignmentResult } from '../model/assignment.ts';
import type { Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { RunInFlight } from '../model/soft.ts';
import { hasTask, sameTasks, subtractTasks, taskKey, toTaskList } from '../model/task-list.ts';
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
  const before = group.targets;
  const memberIds = [...group.members.keys()].sort(byCodeUnits);
  for (const memberId of memberIds) {
    const value = entryOf(memberId) ?? NO_TASKS_BY_ROLE;
    const old = before.get(memberId);
    if (old === undefined || !sameTarget(old, value)) {
      draft.write({ type: 'targetMember', groupId, memberId, value });
    }
  }
  draft.write({
    type: 'targetMetadata',
    groupId,
    value: { assignmentEpoch, assignmentTimestampMs: context.nowMs },
  });
  sayMoves(draft, group, memberIds);
}

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

function sameTarget(a: TasksByRole, b: TasksByRole): boolean {
  return (
    sameTasks(a.active, b.active) &&
    sameTasks(a.standby, b.standby) &&
    sameTasks(a.warmup, b.warmup)
  );
}

/** Says which active tasks got another owner, and where copies are to be. */
function sayMoves(draft: Draft, before: Group, memberIds: readonly string[]): void {
  const { targets, assignmentEpoch } = draft.group;
  const head = `Target of epoch ${assignmentEpoch}`;
  const target = (memberId: string): TasksByRole => targets.get(memberId) ?? NO_TASKS_BY_ROLE;
  const had = (memberId: string): TasksByRole => before.targets.get(memberId) ?? NO_TASKS_BY_ROLE;
  const lost = memberIds
    .map((memberId) => ({
      memberId,
      tasks: subtractTasks(had(memberId).active, target(memberId).active),
    }))
    .filter(({ tasks }) => tasks.length > 0);
  const formerOwner = (subtopologyId: string, partition: number): string | undefined =>
    lost.find(({ tasks }) => hasTask(tasks, subtopologyId, partition))?.memberId;

  const lines: string[] = [];
  let unnamed = 0;
  const name = (tasks: TaskList, line: (subtopologyId: string, partition: number) => string) => {
    for (const { subtopologyId, partitions } of tasks) {
      for (const partition of partitions) {
        if (lines.length < MOVES_NAMED) lines.push(line(subtopologyId, partition));
        else unnamed++;
      }
    }
  };
  for (const memberId of memberIds) {
    name(subtractTasks(target(memberId).active, had(memberId).active), (id, at) => {
      const from = formerOwner(id, at);
      const task = taskKey(id, at);
      return from === undefined
        ? `${head}: task ${task} goes to ${memberId}`
        : `${head}: task ${task} moves from ${from} to ${memberId}`;
    });
  }
  for (const memberId of memberIds) {
    name(subtractTasks(target(memberId).standby, had(memberId).standby), (id, at) => {
      return `${head}: standby of ${taskKey(id, at)} goes to ${memberId}`;
    });
  }
  const given = toTaskList(
    memberIds.flatMap((memberId) => subtractTasks(target(memberId).active, had(memberId).active)),
  );
  for (const { memberId, tasks } of lost) {
    name(
      subtractTasks(tasks, given),
      (id, at) => `${head}: task ${taskKey(id, at)} is taken from ${memberId}`,
    );
  }
  if (lines.length === 0) draft.say(`${head}: nothing moves`);
  for (const line of lines) draft.say(line);
  if (unnamed > 0) draft.say(`${head}: and ${unnamed} more moves`);
}
