import type { Group } from '../model/group.ts';
import type { TasksByRole } from '../model/tasks.ts';
import { NO_TASKS_BY_ROLE } from '../model/tasks.ts';

/**
 * What a member is to reconcile toward: its slice of the intermediate assignment. Warm-ups are not handed out
 * yet, so the intermediate assignment is the target (WU-1); staging has its place here.
 */
export function intermediateTarget(group: Group, memberId: string): TasksByRole {
  return group.targets.get(memberId) ?? NO_TASKS_BY_ROLE;
}
