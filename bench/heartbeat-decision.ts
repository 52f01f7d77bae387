import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { apply } from '../machines/apply.ts';
import type { Client, HeartbeatRequest } from '../machines/commands.ts';
import { decideHeartbeat } from '../machines/decide/heartbeat.ts';
import type { Context, GroupSlot } from '../machines/decision.ts';
import { emptySlot, newSoft } from '../machines/model/empty.ts';
import { resolveBehaviour } from '../machines/model/profile.ts';
import { ownedSince } from '../machines/model/task-list.ts';
import type { TasksByRole } from '../machines/model/tasks.ts';
import type { GroupRecord } from '../machines/records.ts';

/** Nanoseconds of one idle heartbeat's decision in a group of some size; `check` is the same for every run. */
export type HeartbeatDecisionCost = {
  readonly members: number;
  readonly nanoseconds: number;
  readonly check: number;
};

const GROUP_ID = 'bench';
const CLIENT: Client = { clientId: 'client', clientHost: '/127.0.0.1', apiVersion: 1 };
/** Members take turns, so that no single one stays in the processor's cache. */
const MEMBERS_VISITED = 997;

/**
 * Measures the decision of an idle heartbeat: a stable group, one task per member, nothing changed.
 *
 * @param members the size of the group.
 * @param beats how many heartbeats are decided.
 */
export function measureHeartbeatDecision(members: number, beats: number): HeartbeatDecisionCost {
  const context = idleContext(members);
  const slot = settle(stableSlot(members), context);
  const requests = Array.from({ length: Math.min(members, MEMBERS_VISITED) }, (_, at) =>
    idleRequest(`member-${(at * 7919) % members}`),
  );
  let check = 0;
  const from = process.hrtime.bigint();
  for (let at = 0; at < beats; at++) {
    const request = requests[at % requests.length];
    if (request === undefined) break;
    const decision = decideHeartbeat(slot, request, CLIENT, context);
    if (decision.reply.kind === 'answer') check += decision.reply.value.memberEpoch;
    check += decision.records.length;
  }
  const nanoseconds = Number(process.hrtime.bigint() - from) / beats;
  return { members, nanoseconds, check };
}

/** The first heartbeat of each member tells its version and configures the topology; later ones are idle. */
function settle(slot: GroupSlot, context: Context): GroupSlot {
  let settled = slot;
  for (const memberId of slot.group?.members.keys() ?? []) {
    const { soft } = decideHeartbeat(settled, idleRequest(memberId), CLIENT, context);
    settled = { ...settled, soft };
  }
  return settled;
}

function stableSlot(members: number): GroupSlot {
  const subtopology = {
    subtopologyId: '0',
    sourceTopics: ['in'],
    sourceTopicRegex: [],
    stateChangelogTopics: [],
    repartitionSinkTopics: [],
    repartitionSourceTopics: [],
    copartitionGroups: [],
  };
  const records: GroupRecord[] = [
    { type: 'topology', groupId: GROUP_ID, value: { epoch: 0, subtopologies: [subtopology] } },
  ];
  for (let at = 0; at < members; at++) {
    const active = [{ subtopologyId: '0', partitions: [at] }];
    const tasks = { active, standby: [], warmup: [] };
    records.push(...recordsOfMember(`member-${at}`, tasks, tasks));
  }
  const joined = records.reduce(apply, emptySlot(GROUP_ID));
  const first = decideHeartbeat(
    { ...joined, soft: newSoft(1) },
    idleRequest('member-0'),
    CLIENT,
    idleContext(members),
  );
  // The first heartbeat of all raises the epoch, since the topics are news; the group is then put at its end.
  const raised = first.records.filter(({ type }) => type === 'groupMetadata').reduce(apply, joined);
  const target: GroupRecord = {
    type: 'targetMetadata',
    groupId: GROUP_ID,
    value: { assignmentEpoch: 2, assignmentTimestampMs: 1 },
  };
  return { ...apply(raised, target), soft: newSoft(1) };
}

/** The records of a member that is settled at epoch 2. */
export function recordsOfMember(
  memberId: string,
  has: TasksByRole,
  target: TasksByRole,
): readonly GroupRecord[] {
  return [
    {
      type: 'memberMetadata',
      groupId: GROUP_ID,
      memberId,
      value: {
        instanceId: null,
        rackId: null,
        clientId: CLIENT.clientId,
        clientHost: CLIENT.clientHost,
        rebalanceTimeoutMs: 60_000,
        topologyEpoch: 0,
        processId: memberId,
        userEndpoint: null,
        clientTags: [],
      },
    },
    { type: 'targetMember', groupId: GROUP_ID, memberId, value: target },
    {
      type: 'currentAssignment',
      groupId: GROUP_ID,
      memberId,
      value: {
        memberEpoch: 2,
        previousMemberEpoch: 1,
        state: 'stable',
        assigned: { ...has, active: ownedSince(has.active, 2) },
        pendingRevocation: { active: [], standby: [], warmup: [] },
      },
    },
  ];
}

/** A heartbeat that says nothing but that its member is there. */
export function idleRequest(memberId: string): HeartbeatRequest {
  return {
    groupId: GROUP_ID,
    memberId,
    memberEpoch: 2,
    endpointInformationEpoch: 0,
    instanceId: null,
    rackId: null,
    rebalanceTimeoutMs: -1,
    topology: null,
    activeTasks: null,
    standbyTasks: null,
    warmupTasks: null,
    processId: null,
    userEndpoint: null,
    clientTags: null,
    taskOffsets: null,
    taskEndOffsets: null,
    shutdownApplication: false,
  };
}

/** What decisions about a group of the benchmarks look at. */
export function idleContext(partitions: number): Context {
  const topic = {
    name: 'in',
    topicId: 'in'.padEnd(22, '_'),
    partitionCount: partitions,
    racks: Array.from({ length: partitions }, () => []),
  };
  return {
    nowMs: 1_000_000,
    settings: {
      sessionTimeoutMs: 45_000,
      heartbeatIntervalMs: 5_000,
      numStandbyReplicas: 0,
      numWarmupReplicas: 2,
      acceptableRecoveryLag: 10_000n,
      taskOffsetIntervalMs: 60_000,
      initialRebalanceDelayMs: 3000,
      assignmentIntervalMs: 1000,
      rackAwareAssignmentTags: [],
      assignorName: 'sticky',
      assignorSelected: false,
    },
    coordinator: {
      maxGroupSize: 2 ** 31 - 1,
      assignorAnswerWaitMs: 100,
      handoverHeartbeatIntervalMs: 300,
      warmupWaitMaxMs: 600_000,
      offsetMetadataMaxBytes: 4096,
      offsetsRetentionMs: 1,
    },
    behaviour: resolveBehaviour('kip'),
    topics: { topic: (name) => (name === 'in' ? topic : undefined) },
    freshIncarnation: 2,
    mayHurry: true,
    creationFailures: () => undefined,
  };
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  for (const members of [10, 1000, 10_000]) {
    measureHeartbeatDecision(members, 200_000);
    const { nanoseconds, check } = measureHeartbeatDecision(members, 2_000_000);
    console.log(`${members} members: ${nanoseconds.toFixed(0)} ns a heartbeat (check ${check})`);
  }
}
