import type { Holders } from '../model/group.ts';
import { byCodeUnits, JOIN_EPOCH } from '../model/ids.ts';
import type { Member } from '../model/member.ts';
import { forEachTask, nameTasks, subtractTasks, taskKey, unionTasks } from '../model/task-list.ts';
import type { TaskList, TasksByRole } from '../model/tasks.ts';
import { ROLES } from '../model/tasks.ts';
import type { Draft } from './draft.ts';

/** Says in words what a step did to a member: what it got, what it owes, for whom it waits. Nothing if it goes on as before. */
export function sayReconciled(
  draft: Draft,
  before: Member,
  after: Member,
  waitingFor: TasksByRole,
): void {
  const { memberId } = after;
  // Of a large group most members only take note of an epoch: a line for each would bury what moved.
  const isSettledAsBefore =
    before.memberEpoch !== JOIN_EPOCH && before.state === 'stable' && after.state === 'stable';
  if (isSettledAsBefore && after.assigned === before.assigned) return;
  for (const role of ROLES) {
    const gained = subtractTasks<TaskList[number]>(after.assigned[role], before.assigned[role]);
    if (gained.length > 0) {
      draft.say(`${memberId} gets ${ROLE_WORDS[role]}${nameTasks(gained)}`);
    }
  }
  if (after.state === 'unrevokedTasks') {
    const owed = all(after.pendingRevocation);
    draft.say(`${memberId} must give up ${nameTasks(owed)} within ${after.rebalanceTimeoutMs} ms`);
    return;
  }
  if (before.state === 'unrevokedTasks') {
    draft.say(`${memberId} gave up ${nameTasks(all(before.pendingRevocation))}`);
  }
  const isNews = before.state !== after.state || before.memberEpoch !== after.memberEpoch;
  if (!isNews) return;
  if (after.state === 'stable') {
    draft.say(`${memberId} is settled at epoch ${after.memberEpoch}`);
    return;
  }
  const held = processesHolding(draft.group.holders, after, waitingFor);
  draft.say(`${memberId} waits for ${nameTasks(all(waitingFor))}, held by ${held}`);
}

const ROLE_WORDS = { active: '', standby: 'standby of ', warmup: 'warm-up of ' } as const;

function all(tasks: TasksByRole): TaskList {
  return unionTasks(unionTasks(tasks.active, tasks.standby), tasks.warmup);
}

/** A copy is only ever held up by the member's own process. */
function processesHolding(holders: Holders, member: Member, waitingFor: TasksByRole): string {
  const processes = new Set<string>();
  forEachTask(waitingFor.active, (subtopologyId, partition) => {
    processes.add(holders.active.get(taskKey(subtopologyId, partition)) ?? member.processId);
  });
  if (waitingFor.standby.length + waitingFor.warmup.length > 0) processes.add(member.processId);
  const names = [...processes].sort(byCodeUnits);
  return names.length === 1 ? `process ${names[0]}` : `processes ${names.join(', ')}`;
}
