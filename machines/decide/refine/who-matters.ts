import type { Group } from '../../model/group.ts';
import type { Member } from '../../model/member.ts';
import { forEachTask, subtractTasks, taskKey } from '../../model/task-list.ts';
import { NO_TASKS_BY_ROLE } from '../../model/tasks.ts';
import type { ConfiguredTopology } from '../../model/topology.ts';

/** Members that a refinement has to look at. */
export type WhoMatters = {
  /** In no useful order. */
  readonly members: readonly Member[];
  /** The others have the active tasks that the target gives them, and no copy of one that moves. */
  readonly isPart: boolean;
};

const NOBODY: WhoMatters = { members: [], isPart: true };

/**
 * Finds the members on whom a refinement depends: those off target, who has a copy of a task that moves, all of whose
 * process any of them is, and who has a warm-up. Of a large group where few tasks move they are few.
 *
 * They are all where most are off target, and where a task is not with exactly one member by the target: then nobody
 * knows where it is without a look at everybody.
 */
export function whoMatters(group: Group, { subtopologies }: ConfiguredTopology): WhoMatters {
  const { offTarget, targetTasks, holders } = group;
  // What nobody has goes to its owner at once, and at its first target a group has nothing.
  if (holders.active.size + holders.standby.size + holders.warmup.size === 0) return NOBODY;
  const taskCount = subtopologies.reduce((sum, one) => sum + one.taskCount, 0);
  const everybody = () => ({ members: membersWith(group, () => true), isPart: false });
  if (targetTasks !== taskCount || 2 * offTarget.size > group.members.size) return everybody();
  if (offTarget.size === 0) return NOBODY;
  const processes = processesThatMatter(group);
  if (processes === undefined) return everybody();
  if (processes.size === 0) return NOBODY;
  const members = membersWith(group, ({ processId }) => processes.has(processId));
  return { members, isPart: true };
}

function membersWith(group: Group, holds: (member: Member) => boolean): readonly Member[] {
  const members: Member[] = [];
  group.members.forEach((_, member) => {
    if (holds(member)) members.push(member);
  });
  return members;
}

/** By id; none if no active task moves; undefined = a task has a holder, but nobody is to be its owner. */
function processesThatMatter({
  members,
  targets,
  holders,
  offTarget,
}: Group): ReadonlySet<string> | undefined {
  const processes = new Set<string>();
  const arriving = new Set<string>();
  const leaving = new Set<string>();
  for (const memberId of offTarget.keys()) {
    const member = members.get(memberId);
    if (member === undefined) continue;
    const target = targets.get(memberId) ?? NO_TASKS_BY_ROLE;
    processes.add(member.processId);
    const { active } = member.assigned;
    forEachTask(subtractTasks(target.active, active), (id, at) => arriving.add(taskKey(id, at)));
    forEachTask(subtractTasks(active, target.active), (id, at) => leaving.add(taskKey(id, at)));
  }
  for (const task of leaving) if (!arriving.has(task)) return undefined;
  if (arriving.size === 0) return new Set();
  for (const task of arriving) {
    for (const copies of [holders.standby, holders.warmup]) {
      for (const processId of copies.get(task)?.keys() ?? []) processes.add(processId);
    }
  }
  holders.warmup.forEach((_, copies) => {
    for (const processId of copies.keys()) processes.add(processId);
  });
  return processes;
}
