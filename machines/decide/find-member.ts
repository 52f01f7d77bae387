import type { HeartbeatRequest } from '../commands.ts';
import type { GroupSlot } from '../decision.ts';
import type { Group } from '../model/group.ts';
import type { Member } from '../model/member.ts';
import { Refusal } from '../model/refusal.ts';

/** The slot that a member of a streams group speaks to; there is a group in it (MEM-1). @throws Refusal GROUP_ID_NOT_FOUND. */
export function requireGroup(slot: GroupSlot | undefined, groupId: string): GroupSlot {
  if (slot?.group !== undefined) return slot;
  throw new Refusal('GROUP_ID_NOT_FOUND', `Cannot find streams group "${groupId}"`);
}

/**
 * The member a heartbeat or leave speaks for. With an instance id the holder of that id counts (STAT-6, LEAVE-2),
 * without one the member id alone (MEM-3, MEM-4, LEAVE-1).
 *
 * @throws Refusal UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when another member holds the instance id.
 */
export function requireMember(group: Group, request: HeartbeatRequest): Member {
  const { memberId, instanceId } = request;
  if (instanceId !== null) {
    const holder = group.staticMembers.get(instanceId);
    if (holder === undefined) {
      throw new Refusal(
        'UNKNOWN_MEMBER_ID',
        `Cannot find instance "${instanceId}" in group "${group.groupId}"`,
      );
    }
    if (holder !== memberId) {
      throw new Refusal(
        'FENCED_INSTANCE_ID',
        `Instance "${instanceId}" is held by member "${holder}", not by "${memberId}"`,
      );
    }
  }
  const member = group.members.get(memberId);
  if (member !== undefined) return member;
  throw new Refusal(
    'UNKNOWN_MEMBER_ID',
    `Cannot find member "${memberId}" in group "${group.groupId}"`,
  );
}
