import type { GroupSlot } from '../decision.ts';
import type { Group, Holders } from './group.ts';
import { FIRST_GROUP_EPOCH, NOT_VALIDATED } from './ids.ts';
import type { Member } from './member.ts';
import { NO_PATTERNS } from './patterns.ts';
import { PersistentMap } from './persistent-map.ts';
import type { GroupSoft, MemberSoft } from './soft.ts';
import { NO_HELD_TASKS } from './tasks.ts';

const NO_HOLDERS: Holders = {
  active: PersistentMap.empty(),
  standby: PersistentMap.empty(),
  warmup: PersistentMap.empty(),
};

/** A group that was just made: epochs 1, nothing in it (JOIN-1, WR-11). */
export function newGroup(groupId: string): Group {
  return {
    groupId,
    groupEpoch: FIRST_GROUP_EPOCH,
    metadataHash: 0n,
    validatedTopologyEpoch: NOT_VALIDATED,
    lastAssignmentConfigs: [],
    storedDescriptionTopologyEpoch: -1,
    failedDescriptionTopologyEpoch: -1,
    assignmentEpoch: FIRST_GROUP_EPOCH,
    assignmentTimestampMs: 0,
    topology: undefined,
    members: PersistentMap.empty(),
    staticMembers: PersistentMap.empty(),
    targets: PersistentMap.empty(),
    holders: NO_HOLDERS,
    endpointCount: 0,
    offTarget: PersistentMap.empty(),
    targetTasks: 0,
    stableMembersByEpoch: PersistentMap.empty(),
    state: 'Empty',
  };
}

/** A member that was just made: epoch 0, stable, no tasks (JOIN-4). */
export function newMember(memberId: string): Member {
  return {
    memberId,
    instanceId: null,
    rackId: null,
    clientId: '',
    clientHost: '',
    rebalanceTimeoutMs: -1,
    topologyEpoch: -1,
    processId: '',
    userEndpoint: null,
    clientTags: [],
    memberEpoch: 0,
    previousMemberEpoch: 0,
    state: 'stable',
    assigned: NO_HELD_TASKS,
    pendingRevocation: NO_HELD_TASKS,
  };
}

/** What is known of a member beside the log when nothing was heard yet: acknowledged, so that nothing is repeated unasked (LOAD-2). */
export const UNHEARD_MEMBER: MemberSoft = {
  taskOffsets: [],
  taskEndOffsets: [],
  reportedAtMs: undefined,
  heartbeatVersion: undefined,
  acknowledged: true,
  hurried: false,
};

/** Soft state of a group that was just made or loaded, under an incarnation never used before (OFF-2, LOAD-2). */
export function newSoft(incarnation: number): GroupSoft {
  return {
    incarnation,
    members: PersistentMap.empty(),
    configured: undefined,
    patterns: NO_PATTERNS,
    refreshDue: false,
    endpointEpoch: 0,
    shutdownBy: undefined,
    delaying: false,
    run: undefined,
    nextRun: 1,
    runFailedAtMs: undefined,
    standIn: undefined,
    targetFigures: undefined,
    reporters: PersistentMap.empty(),
    derived: undefined,
    intermediate: undefined,
    hurriedMembers: 0,
  };
}

/** A group id of which nothing is known. Incarnation 0 is that of no group. */
export function emptySlot(groupId: string): GroupSlot {
  return { groupId, group: undefined, soft: newSoft(0), offsets: PersistentMap.empty() };
}
