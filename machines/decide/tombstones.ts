import type { GroupSlot } from '../decision.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { GroupRecord } from '../records.ts';

/**
 * The records that take a streams group out of the log, in the order that replay asks for (RP-1, GS-4); none for
 * a slot without one. Offsets are not among them.
 */
export function groupTombstones(slot: GroupSlot): readonly GroupRecord[] {
  const { group, groupId } = slot;
  if (group === undefined) return [];
  const members = [...group.members.keys()].sort(byCodeUnits);
  const targets = [...group.targets.keys()].sort(byCodeUnits);
  return [
    ...members.map((memberId) => tombstone('currentAssignment', groupId, memberId)),
    ...targets.map((memberId) => tombstone('targetMember', groupId, memberId)),
    { type: 'targetMetadata', groupId, value: null },
    ...members.map((memberId) => tombstone('memberMetadata', groupId, memberId)),
    { type: 'groupMetadata', groupId, value: null },
    { type: 'topology', groupId, value: null },
  ];
}

/** The records that take one member out of the log, in the order of FENCE-1. */
export function memberTombstones(groupId: string, memberId: string): readonly GroupRecord[] {
  return [
    tombstone('currentAssignment', groupId, memberId),
    tombstone('targetMember', groupId, memberId),
    tombstone('memberMetadata', groupId, memberId),
  ];
}

function tombstone(
  type: 'currentAssignment' | 'targetMember' | 'memberMetadata',
  groupId: string,
  memberId: string,
): GroupRecord {
  return { type, groupId, memberId, value: null };
}
