import type { Group } from '../model/group.ts';
import type { Member } from '../model/member.ts';
import { sameTasksByRole, subtractTasks, unionTasks } from '../model/task-list.ts';
import { type HeldTasks, NO_TASKS, type TaskList } from '../model/tasks.ts';
import type { Draft } from './draft.ts';
import { assignmentOf } from './member-fields.ts';

/**
 * A member that joins under another process than before does not bring along what another member of that process holds
 * or has yet to give up, in whatever role: a process has one copy of a task (H10 of assignors; S10). A member owns
 * nothing when it joins, so nobody has to be told.
 */
export function leaveCopies(draft: Draft, memberId: string): void {
  if (!draft.context.behaviour.oneCopyAfterMove) return;
  const member = draft.member(memberId);
  const assigned = withoutCopiesIn(draft.group, member);
  if (sameTasksByRole(assigned, member.assigned)) return;
  draft.write({
    type: 'currentAssignment',
    groupId: draft.group.groupId,
    memberId,
    value: { ...assignmentOf(member), assigned },
  });
  draft.say(`${memberId} leaves behind what its process ${member.processId} holds already`);
}

function withoutCopiesIn(group: Group, member: Member): HeldTasks {
  let held: TaskList = NO_TASKS;
  for (const other of group.members.values()) {
    if (other.processId !== member.processId || other.memberId === member.memberId) continue;
    for (const { active, standby, warmup } of [other.assigned, other.pendingRevocation]) {
      held = [active, standby, warmup].reduce<TaskList>(unionTasks, held);
    }
  }
  const { active, standby, warmup } = member.assigned;
  return {
    active: subtractTasks(active, held),
    standby: subtractTasks(standby, held),
    warmup: subtractTasks(warmup, held),
  };
}
