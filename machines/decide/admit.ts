import type { HeartbeatRequest } from '../commands.ts';
import { JOIN_EPOCH, STATIC_LEAVE_EPOCH } from '../model/ids.ts';
import type { Member } from '../model/member.ts';
import type { Behaviour } from '../model/profile.ts';
import { Refusal } from '../model/refusal.ts';
import { areDisjoint, hasTask, taskKey } from '../model/task-list.ts';
import type { TaskIds, TaskOffset, TasksByRole } from '../model/tasks.ts';
import type { ConfiguredTopology } from '../model/topology.ts';
import { ownedTasks } from './owned.ts';
import { refuseBadPatterns, refusePatterns } from './patterns.ts';
import { refuseInvalidTopology } from './topology.ts';
import { refuseTooLarge } from './topology-size.ts';

/**
 * Refuses a heartbeat whose fields cannot stand, whatever the group looks like: REQ-6 to REQ-15, in that order,
 * since the first fault is the one that is named. Where patterns are not resolved, they are refused first of all
 * (REQ-12); else one that is none comes last.
 *
 * @throws Refusal INVALID_REQUEST; STREAMS_INVALID_TOPOLOGY or INVALID_REGULAR_EXPRESSION for what is in the topology.
 */
export function refuseBadFields(request: HeartbeatRequest, behaviour: Behaviour): void {
  const { memberEpoch } = request;
  if (memberEpoch === JOIN_EPOCH) refusePatterns(request, behaviour);
  if (isBlank(request.memberId)) refuse('MemberId cannot be empty');
  if (isBlank(request.groupId)) refuse('GroupId cannot be empty');
  if (request.instanceId !== null && isBlank(request.instanceId)) {
    refuse('InstanceId cannot be empty');
  }
  if (request.rackId !== null && isBlank(request.rackId)) refuse('RackId cannot be empty');
  if (memberEpoch === JOIN_EPOCH) refuseBadJoin(request, behaviour);
  if (memberEpoch === STATIC_LEAVE_EPOCH && request.instanceId === null) {
    refuse('InstanceId cannot be null when MemberEpoch is -2');
  }
  if (memberEpoch < STATIC_LEAVE_EPOCH) refuse(`MemberEpoch is ${memberEpoch}: wanted -2 or above`);
  refuseBadOwnedLists(request, behaviour);
  if (memberEpoch !== JOIN_EPOCH && request.topology !== null) {
    refuse(`Topology can only be sent with MemberEpoch 0, not with ${memberEpoch}`);
  }
  if (memberEpoch === JOIN_EPOCH && request.topology !== null) {
    refuseTooLarge(request.topology);
    refuseInvalidTopology(request.topology, behaviour);
    refuseBadPatterns(request);
  }
}

/** As many tasks as a group may have, and more than a member has state of; whoever reports more fills memory. */
export const REPORTED_OFFSETS_MAX = 100_000;

/** Refuses an offset list that is too long, or that reports a task twice (REQ-17). Most heartbeats carry none. */
export function refuseBadOffsets({ taskOffsets, taskEndOffsets }: HeartbeatRequest): void {
  if (taskOffsets !== null) refuseBadReport('TaskOffsets', taskOffsets);
  if (taskEndOffsets !== null) refuseBadReport('TaskEndOffsets', taskEndOffsets);
}

function refuseBadReport(field: string, list: readonly TaskOffset[]): void {
  if (list.length > REPORTED_OFFSETS_MAX) {
    refuse(`${field} reports ${list.length} tasks: wanted at most ${REPORTED_OFFSETS_MAX}`);
  }
  refuseRepeats(field, list);
}

/**
 * Refuses owned tasks that the configured topology does not have. Skipped while the topology is not ready, and, where
 * topologies are replaced, for a member of an older one, which may rightly still hold tasks of it (REQ-16). Neither is
 * a task refused that the member was given: topics shrank since, which it cannot know before it is answered. Kafka 4.4.0
 * refuses it again and again, and its client stops for good.
 */
export function refuseUnknownTasks(
  request: HeartbeatRequest,
  member: Member,
  configured: ConfiguredTopology | undefined,
  behaviour: Behaviour,
): void {
  if (configured === undefined || configured.problem !== undefined) return;
  if (behaviour.topologyUpdates && member.topologyEpoch < configured.topologyEpoch) return;
  const given = [member.assigned, member.pendingRevocation];
  const isGiven = (subtopologyId: string, partition: number) =>
    given.some(({ active, standby, warmup }) =>
      [active, standby, warmup].some((tasks) => hasTask(tasks, subtopologyId, partition)),
    );
  for (const list of [request.activeTasks, request.standbyTasks, request.warmupTasks]) {
    if (list !== null) refuseUnknown(list, configured, isGiven);
  }
}

function refuseUnknown(
  list: readonly TaskIds[],
  { subtopologies }: ConfiguredTopology,
  isGiven: (subtopologyId: string, partition: number) => boolean,
): void {
  for (const { subtopologyId, partitions } of list) {
    const known = subtopologies.find((each) => each.subtopologyId === subtopologyId);
    const taskCount = known?.taskCount ?? 0;
    const strange = partitions.find(
      (each) => (each < 0 || each >= taskCount) && !isGiven(subtopologyId, each),
    );
    if (known === undefined && (strange !== undefined || partitions.length === 0)) {
      refuse(`Subtopology "${subtopologyId}" is not in the topology`);
    }
    if (strange === undefined) continue;
    const task = taskKey(subtopologyId, strange);
    refuse(`Task ${task} does not exist: subtopology has ${taskCount} tasks`);
  }
}

function refuseBadJoin(request: HeartbeatRequest, behaviour: Behaviour): void {
  const { rebalanceTimeoutMs } = request;
  const timeoutIsBad = behaviour.refuseNonPositiveRebalanceTimeout
    ? rebalanceTimeoutMs <= 0
    : rebalanceTimeoutMs === -1;
  if (timeoutIsBad) {
    refuse(`RebalanceTimeoutMs is ${rebalanceTimeoutMs}: a join needs a positive one`);
  }
  refuseUnlessEmpty('ActiveTasks', request.activeTasks);
  refuseUnlessEmpty('StandbyTasks', request.standbyTasks);
  refuseUnlessEmpty('WarmupTasks', request.warmupTasks);
  if (request.topology === null) refuse('Topology cannot be null when MemberEpoch is 0');
}

function refuseUnlessEmpty(field: string, list: readonly TaskIds[] | null): void {
  if (list === null || list.length > 0) refuse(`${field} must be an empty list on a join`);
}

function refuseBadOwnedLists(request: HeartbeatRequest, behaviour: Behaviour): void {
  const { activeTasks, standbyTasks, warmupTasks } = request;
  const anyNull = activeTasks === null || standbyTasks === null || warmupTasks === null;
  if (!anyNull) {
    if (behaviour.refuseOverlappingTasks) refuseOverlap(ownedTasks(request));
    return;
  }
  if (activeTasks !== null || standbyTasks !== null || warmupTasks !== null) {
    refuse('ActiveTasks, StandbyTasks and WarmupTasks must be all null or all set');
  }
}

function refuseOverlap(owned: TasksByRole | undefined): void {
  if (owned === undefined) return;
  const { active, standby, warmup } = owned;
  if (areDisjoint(active, standby) && areDisjoint(active, warmup) && areDisjoint(standby, warmup)) {
    return;
  }
  refuse('A task is in more than one of ActiveTasks, StandbyTasks and WarmupTasks');
}

function refuseRepeats(field: string, offsets: readonly TaskOffset[] | null): void {
  if (offsets === null || offsets.length < 2) return;
  const seen = new Set<string>();
  for (const { subtopologyId, partition } of offsets) {
    const task = taskKey(subtopologyId, partition);
    if (seen.has(task)) refuse(`${field} names task ${task} twice`);
    seen.add(task);
  }
}

/** Nothing but characters up to U+0020, as Java's trim sees it. */
function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x20) return false;
  return true;
}

function refuse(message: string): never {
  throw new Refusal('INVALID_REQUEST', message);
}
