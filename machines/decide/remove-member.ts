import { raiseGroupEpoch } from './bump.ts';
import type { Draft } from './draft.ts';
import { forgetMember } from './forget-member.ts';
import { memberTombstones } from './tombstones.ts';

/**
 * Takes a member out of its group (FENCE-1): its tombstones, one group epoch up, and, when it was the last one,
 * a target epoch that leaves nothing to assign. What it leaves in memory goes too; the assignor does not run
 * (FENCE-2).
 *
 * @param reason in words, for the journal.
 */
export function removeMember(draft: Draft, memberId: string, reason: string): void {
  const { behaviour } = draft.context;
  const member = draft.member(memberId);
  const { groupId } = draft.group;
  for (const record of memberTombstones(groupId, memberId)) draft.write(record);
  raiseGroupEpoch(draft, [reason]);
  const { group } = draft;
  const isEmpty = group.members.size === 0;
  if (isEmpty) {
    draft.write({
      type: 'targetMetadata',
      groupId,
      value: { assignmentEpoch: group.groupEpoch, assignmentTimestampMs: 0 },
    });
  }
  forgetMember(draft, memberId);
  if (isEmpty) draft.change({ shutdownBy: undefined });
  if (member.userEndpoint !== null && behaviour.mergeEndpoints) {
    draft.change({ endpointEpoch: draft.soft.endpointEpoch + 1 });
  }
}
