import type { GroupSlot } from './decision.ts';
import { nextGroupState } from './group-machine.ts';
import { moveHoldings } from './holders.ts';
import { newGroup, newMember } from './model/empty.ts';
import type { CommittedOffset, Group, Offsets } from './model/group.ts';
import type { Member } from './model/member.ts';
import type { PersistentMap } from './model/persistent-map.ts';
import { invariant, unreachable } from './model/refusal.ts';
import { NO_HELD_TASKS } from './model/tasks.ts';
import { type TargetsOfGroup, targetsChanged, tasksChanged } from './off-target.ts';
import type {
  CurrentAssignmentRecord,
  GroupMetadataRecord,
  GroupRecord,
  MadeTarget,
  MemberMetadataRecord,
  OffsetCommitRecord,
  TargetMemberRecord,
  TargetMetadataRecord,
} from './records.ts';

/**
 * Folds one record into what is known under a group id. Living a change and replaying it are the same call, so
 * a log gives back what was.
 *
 * A record with a value makes the group, and the member, where they are missing, in whatever order records
 * come; a tombstone of something unknown does nothing (LOG-1, LOG-2, RP-2 to RP-5). The state of the group is
 * derived anew after every record. Costs O(log n) in the size of the group, times the tasks that change hands.
 * Soft state is not touched: it comes with the decision, or is made after a load.
 *
 * @throws Error a tombstone out of order (LOG-3, LOG-4): the batch, or the load, fails.
 */
export function apply(slot: GroupSlot, record: GroupRecord): GroupSlot {
  invariant(record.groupId === slot.groupId, 'a record is applied to its own group');
  if (record.type === 'offsetCommit') {
    return { ...slot, offsets: applyOffset(slot.offsets, record) };
  }
  if (record.value === null && slot.group === undefined) return slot;
  const group = applyToGroup(slot.group ?? newGroup(slot.groupId), record);
  if (group === slot.group) return slot;
  return { ...slot, group: group === undefined ? undefined : settle(group) };
}

/** The targets of a group with those of many members, each once; what they share is made once. */
export function foldTargets(
  group: TargetsOfGroup & Pick<Group, 'members'>,
  records: readonly MadeTarget[],
): TargetsOfGroup {
  const targets = group.targets.setAll(
    records.map(({ memberId }) => memberId),
    records.map(({ value }) => value),
  );
  return { targets, ...targetsChanged(group, records) };
}

/** Gives a group targets that its records were folded into already: the same as {@link apply} one by one. */
export function applyTargets(slot: GroupSlot, made: TargetsOfGroup): GroupSlot {
  const { targets, offTarget, targetTasks } = made;
  const group = slot.group ?? newGroup(slot.groupId);
  if (targets === group.targets) return slot;
  return { ...slot, group: settle({ ...group, targets, offTarget, targetTasks }) };
}

type StreamsRecord = Exclude<GroupRecord, OffsetCommitRecord>;

function applyToGroup(group: Group, record: StreamsRecord): Group | undefined {
  switch (record.type) {
    case 'groupMetadata':
      return applyGroupMetadata(group, record);
    case 'memberMetadata':
      return applyMemberMetadata(group, record);
    case 'targetMetadata':
      return applyTargetMetadata(group, record);
    case 'targetMember':
      return applyTarget(group, record);
    case 'currentAssignment':
      return applyCurrentAssignment(group, record);
    case 'topology':
      return { ...group, topology: record.value ?? undefined };
    default:
      return unreachable(record);
  }
}

function applyGroupMetadata(group: Group, { value }: GroupMetadataRecord): Group | undefined {
  if (value !== null) return { ...group, ...value };
  invariant(group.members.size === 0, 'a group is deleted after its members (LOG-4)');
  invariant(group.assignmentEpoch === -1, 'a group is deleted after its target epoch (LOG-4)');
  const state = nextGroupState(group.state, { type: 'DELETED' });
  invariant(state === 'Dead', 'only an empty group is deleted (GS-4)');
  return undefined;
}

function applyMemberMetadata(group: Group, { memberId, value }: MemberMetadataRecord): Group {
  const before = group.members.get(memberId);
  if (value !== null) {
    return withMember(group, { ...(before ?? newMember(memberId)), ...value });
  }
  if (before === undefined) return group;
  invariant(before.memberEpoch === -1, 'a member is removed after its assignment (LOG-3)');
  invariant(!group.targets.has(memberId), 'a member is removed after its target (LOG-3)');
  return withoutMember(group, before);
}

function applyCurrentAssignment(group: Group, { memberId, value }: CurrentAssignmentRecord): Group {
  const before = group.members.get(memberId);
  if (value !== null) {
    return withMember(group, { ...(before ?? newMember(memberId)), ...value });
  }
  if (before === undefined) return group;
  return withMember(group, {
    ...before,
    memberEpoch: -1,
    previousMemberEpoch: -1,
    assigned: NO_HELD_TASKS,
    pendingRevocation: NO_HELD_TASKS,
  });
}

function applyTarget(group: Group, record: TargetMemberRecord): Group {
  const { memberId, value } = record;
  const targets =
    value === null ? group.targets.delete(memberId) : group.targets.set(memberId, value);
  if (targets === group.targets) return group;
  const { offTarget, targetTasks } = targetsChanged(group, [record]);
  return { ...group, targets, offTarget, targetTasks };
}

function applyTargetMetadata(group: Group, { value }: TargetMetadataRecord): Group {
  if (value !== null) return { ...group, ...value };
  invariant(group.targets.size === 0, 'the target epoch is deleted after the targets (LOG-4)');
  return { ...group, assignmentEpoch: -1, assignmentTimestampMs: 0 };
}

function withMember(group: Group, member: Member): Group {
  const { memberId, assigned } = member;
  const before = group.members.get(memberId);
  const { offTarget, targetTasks } = tasksChanged(group, memberId, before?.assigned, assigned);
  return {
    ...group,
    members: group.members.set(memberId, member),
    staticMembers: moveInstanceId(group.staticMembers, before, member),
    holders: moveHoldings(group.holders, before, member),
    endpointCount: group.endpointCount - endpointsOf(before) + endpointsOf(member),
    offTarget,
    targetTasks,
    stableMembersByEpoch: countStable(
      countStable(group.stableMembersByEpoch, before, -1),
      member,
      1,
    ),
  };
}

function withoutMember(group: Group, member: Member): Group {
  const { memberId, assigned } = member;
  const { offTarget, targetTasks } = tasksChanged(group, memberId, assigned, undefined);
  return {
    ...group,
    members: group.members.delete(memberId),
    staticMembers: moveInstanceId(group.staticMembers, member, undefined),
    holders: moveHoldings(group.holders, member, undefined),
    endpointCount: group.endpointCount - endpointsOf(member),
    offTarget,
    targetTasks,
    stableMembersByEpoch: countStable(group.stableMembersByEpoch, member, -1),
  };
}

function endpointsOf(member: Member | undefined): number {
  return member === undefined || member.userEndpoint === null ? 0 : 1;
}

/** An instance id is freed by the member that has it, and only by that one: another may have taken it over. */
function moveInstanceId(
  map: PersistentMap<string>,
  before: Member | undefined,
  after: Member | undefined,
): PersistentMap<string> {
  const from = before?.instanceId ?? null;
  const to = after?.instanceId ?? null;
  if (from === to) return map;
  const freed = from !== null && map.get(from) === before?.memberId ? map.delete(from) : map;
  return to === null || after === undefined ? freed : freed.set(to, after.memberId);
}

function countStable(
  map: PersistentMap<number>,
  member: Member | undefined,
  by: 1 | -1,
): PersistentMap<number> {
  if (member === undefined || member.state !== 'stable') return map;
  const key = String(member.memberEpoch);
  const count = (map.get(key) ?? 0) + by;
  return count === 0 ? map.delete(key) : map.set(key, count);
}

/** Derives the state from the facts (coordination, section 5); the one place that sets it. */
function settle(group: Group): Group {
  const { topology, members, stableMembersByEpoch, assignmentEpoch } = group;
  const settled = stableMembersByEpoch.get(String(assignmentEpoch)) ?? 0;
  const state = nextGroupState(group.state, {
    type: 'SETTLED',
    memberCount: members.size,
    topologyReady: topology !== undefined && topology.epoch === group.validatedTopologyEpoch,
    groupEpoch: group.groupEpoch,
    assignmentEpoch,
    unsettledMembers: members.size - settled,
  });
  return state === group.state ? group : { ...group, state };
}

function applyOffset(offsets: Offsets, record: OffsetCommitRecord): Offsets {
  const before = offsets.get(record.topic);
  if (record.value === null && before?.has(record.partition) !== true) return offsets;
  const partitions = new Map<number, CommittedOffset>(before);
  if (record.value !== null) partitions.set(record.partition, record.value);
  else partitions.delete(record.partition);
  return partitions.size > 0 ? offsets.set(record.topic, partitions) : offsets.delete(record.topic);
}
