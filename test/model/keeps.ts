import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { intersectTasks, unionTasks } from '../../machines/model/task-list.ts';
import { NO_TASKS_BY_ROLE, type TasksByRole } from '../../machines/model/tasks.ts';

/** What a member keeps after a request of it was taken: what it does not list is dropped; a leave drops all. */
export function afterReport(keeps: TasksByRole, request: HeartbeatRequest): TasksByRole {
  const { memberEpoch, activeTasks, standbyTasks, warmupTasks } = request;
  if (memberEpoch < 0) return NO_TASKS_BY_ROLE;
  if (activeTasks === null || standbyTasks === null || warmupTasks === null) return keeps;
  return {
    active: intersectTasks(keeps.active, activeTasks),
    standby: intersectTasks(keeps.standby, standbyTasks),
    warmup: intersectTasks(keeps.warmup, warmupTasks),
  };
}

/** What a member keeps after an answer was sent to it, whether or not it arrives. */
export function afterTold(keeps: TasksByRole, answer: HeartbeatAnswer): TasksByRole {
  const { activeTasks, standbyTasks, warmupTasks } = answer;
  if (activeTasks === null || standbyTasks === null || warmupTasks === null) return keeps;
  return {
    active: unionTasks(keeps.active, activeTasks),
    standby: unionTasks(keeps.standby, standbyTasks),
    warmup: unionTasks(keeps.warmup, warmupTasks),
  };
}
