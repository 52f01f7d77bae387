import type { HeartbeatRequest } from '../commands.ts';
import { toTaskList } from '../model/task-list.ts';
import type { TasksByRole } from '../model/tasks.ts';

/** The tasks a member says it owns; undefined unless it sent all three lists (REC-2, EPO-3). */
export function ownedTasks(request: HeartbeatRequest): TasksByRole | undefined {
  const { activeTasks, standbyTasks, warmupTasks } = request;
  if (activeTasks === null || standbyTasks === null || warmupTasks === null) return undefined;
  return {
    active: toTaskList(activeTasks),
    standby: toTaskList(standbyTasks),
    warmup: toTaskList(warmupTasks),
  };
}
