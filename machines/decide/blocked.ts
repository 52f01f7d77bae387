import type { Holders } from '../model/group.ts';
import type { Member } from '../model/member.ts';
import { hasTask, taskKey } from '../model/task-list.ts';
import type { Role } from '../model/tasks.ts';

/**
 * Whether a task cannot be given to a member yet, in a role, because of who still holds it (BLK-A, BLK-S, BLK-W).
 *
 * A member's own *assigned* task of another role does not stand in its way, so that it can change the role in
 * place; what it is giving up does, until the record that drops it is applied (BLK-O). Other processes block the
 * active role only (BLK-N).
 */
export function isBlocked(
  holders: Holders,
  member: Member,
  role: Role,
  subtopologyId: string,
  partition: number,
): boolean {
  const key = taskKey(subtopologyId, partition);
  const { processId, assigned } = member;
  const othersHold = (copies: 'standby' | 'warmup'): boolean => {
    const held = holders[copies].get(key)?.get(processId) ?? 0;
    return held > (hasTask(assigned[copies], subtopologyId, partition) ? 1 : 0);
  };
  switch (role) {
    case 'active':
      return holders.active.has(key) || othersHold('standby') || othersHold('warmup');
    case 'standby':
      return (
        (holders.active.get(key) === processId &&
          !hasTask(assigned.active, subtopologyId, partition)) ||
        othersHold('warmup') ||
        othersHold('standby')
      );
    case 'warmup':
      return holders.active.get(key) === processId || othersHold('warmup') || othersHold('standby');
  }
}
