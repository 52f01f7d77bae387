import { apply } from '../../machines/apply.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import type { CurrentAssignment, MemberMetadata } from '../../machines/model/member.ts';
import type { CoordinatorSettings } from '../../machines/model/settings.ts';
import { NO_HELD_TASKS, NO_TASKS_BY_ROLE, type TasksByRole } from '../../machines/model/tasks.ts';
import { UNKNOWN_TOPIC } from '../../machines/model/topics.ts';
import type { Topology } from '../../machines/model/topology.ts';
import type { GroupRecord, OffsetCommitRecord } from '../../machines/records.ts';
import { STATELESS } from '../support/topology-samples.ts';

export const GROUP = 'g';

export const COORDINATOR: CoordinatorSettings = {
  maxGroupSize: 100,
  assignorAnswerWaitMs: 0,
  handoverHeartbeatIntervalMs: 0,
  warmupWaitMaxMs: 600_000,
  offsetMetadataMaxBytes: 4096,
  offsetsRetentionMs: 1_000,
};

type SampleMember = Partial<MemberMetadata> &
  Partial<CurrentAssignment> & { readonly target?: TasksByRole };

/** Folds records over nothing. */
export function slotOf(records: readonly GroupRecord[], groupId: string = GROUP): GroupSlot {
  return records.reduce(apply, emptySlot(groupId));
}

/** The records of a group at epoch 3 with the members said, each settled at epoch 3 where nothing else is said. */
export function groupRecords(
  members: Readonly<Record<string, SampleMember>> = {},
  options: { readonly topology?: Topology; readonly isReady?: boolean } = {},
): readonly GroupRecord[] {
  const topology = options.topology ?? STATELESS;
  const epoch = 3;
  return [
    {
      type: 'groupMetadata',
      groupId: GROUP,
      value: {
        groupEpoch: epoch,
        metadataHash: 1n,
        validatedTopologyEpoch: options.isReady === false ? -1 : topology.epoch,
        lastAssignmentConfigs: [],
        storedDescriptionTopologyEpoch: -1,
        failedDescriptionTopologyEpoch: -1,
      },
    },
    { type: 'topology', groupId: GROUP, value: topology },
    {
      type: 'targetMetadata',
      groupId: GROUP,
      value: { assignmentEpoch: epoch, assignmentTimestampMs: 0 },
    },
    ...Object.entries(members).flatMap(([memberId, member]) =>
      memberRecords(memberId, { memberEpoch: epoch, previousMemberEpoch: epoch - 1, ...member }),
    ),
  ];
}

function memberRecords(memberId: string, member: SampleMember): readonly GroupRecord[] {
  const { target, ...said } = member;
  return [
    {
      type: 'memberMetadata',
      groupId: GROUP,
      memberId,
      value: {
        instanceId: said.instanceId ?? null,
        rackId: said.rackId ?? null,
        clientId: said.clientId ?? `client-${memberId}`,
        clientHost: said.clientHost ?? '/127.0.0.1',
        rebalanceTimeoutMs: said.rebalanceTimeoutMs ?? 60_000,
        topologyEpoch: said.topologyEpoch ?? 0,
        processId: said.processId ?? `p-${memberId}`,
        userEndpoint: said.userEndpoint ?? null,
        clientTags: said.clientTags ?? [],
      },
    },
    { type: 'targetMember', groupId: GROUP, memberId, value: target ?? NO_TASKS_BY_ROLE },
    {
      type: 'currentAssignment',
      groupId: GROUP,
      memberId,
      value: {
        memberEpoch: said.memberEpoch ?? 0,
        previousMemberEpoch: said.previousMemberEpoch ?? 0,
        state: said.state ?? 'stable',
        assigned: said.assigned ?? NO_HELD_TASKS,
        pendingRevocation: said.pendingRevocation ?? NO_HELD_TASKS,
      },
    },
  ];
}

/** A committed offset of value 7, committed at 0 ms, with what is said otherwise. */
export function offsetRecord(
  topic: string,
  partition: number,
  overrides: Partial<NonNullable<OffsetCommitRecord['value']>> = {},
): OffsetCommitRecord {
  const value = {
    offset: 7n,
    leaderEpoch: -1,
    metadata: '',
    commitTimestampMs: 0,
    expireTimestampMs: -1,
    topicId: UNKNOWN_TOPIC,
    ...overrides,
  };
  return { type: 'offsetCommit', groupId: GROUP, topic, partition, value };
}

export function offsetTombstone(topic: string, partition: number): OffsetCommitRecord {
  return { type: 'offsetCommit', groupId: GROUP, topic, partition, value: null };
}
