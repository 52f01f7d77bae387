import { JOIN_EPOCH, STATIC_LEAVE_EPOCH } from '../model/ids.ts';
import type { Member } from '../model/member.ts';
import { ownedSince, withoutEpochs } from '../model/task-list.ts';
import { NO_HELD_TASKS, NO_TASKS_BY_ROLE } from '../model/tasks.ts';
import type { Draft } from './draft.ts';
import { forgetMember } from './forget-member.ts';
import { renameInIntermediate } from './intermediate.ts';
import { assignmentOf, metadataOf } from './member-fields.ts';
import { memberTombstones } from './tombstones.ts';

/** Whether a static member said that it comes back: it keeps its place and its tasks until its session ends. */
export function isAway(member: Member): boolean {
  return member.memberEpoch === STATIC_LEAVE_EPOCH;
}

/**
 * A static member leaves for a while: it keeps its tasks, whose assignment epochs fall to 0 so that late commits of
 * its next life pass, and owes nothing any more. Neither the group's epoch nor a timer moves: what is left of the
 * session is the time it has (LEAVE-4, LEAVE-5, OFF-C6).
 */
export function takeBreak(draft: Draft, member: Member): void {
  const { memberId, previousMemberEpoch, state, assigned } = member;
  draft.write({
    type: 'currentAssignment',
    groupId: draft.group.groupId,
    memberId,
    value: {
      memberEpoch: STATIC_LEAVE_EPOCH,
      previousMemberEpoch,
      state,
      assigned: { ...assigned, active: ownedSince(withoutEpochs(assigned.active), 0) },
      pendingRevocation: NO_HELD_TASKS,
    },
  });
  draft.say(`${memberId} leaves for a while: instance ${member.instanceId} keeps its tasks`);
}

/** A member as it comes back from its break: with what it had, at the epoch of a join (STAT-3). */
export function backFromBreak(member: Member): Member {
  return { ...member, memberEpoch: JOIN_EPOCH, previousMemberEpoch: JOIN_EPOCH };
}

/**
 * Puts a joining member in the place of one on a break: it takes over registration, target and tasks, and the old
 * one is gone (STAT-3 to STAT-5). The group's epoch stays.
 *
 * @returns the new member, at epoch 0.
 */
export function replaceMember(draft: Draft, holder: Member, memberId: string): Member {
  const { groupId } = draft.group;
  const target = draft.group.targets.get(holder.memberId) ?? NO_TASKS_BY_ROLE;
  const member: Member = { ...backFromBreak(holder), memberId };
  for (const record of memberTombstones(groupId, holder.memberId)) draft.write(record);
  draft.write({ type: 'memberMetadata', groupId, memberId, value: metadataOf(member) });
  draft.write({ type: 'targetMember', groupId, memberId, value: target });
  draft.write({ type: 'currentAssignment', groupId, memberId, value: assignmentOf(member) });
  forgetMember(draft, holder.memberId);
  renameInIntermediate(draft, holder.memberId, memberId);
  draft.say(`${memberId} takes the place of ${holder.memberId} as instance ${holder.instanceId}`);
  return member;
}
