import type { GroupView, ShardStatus } from '../../actors/group-coordinator.ts';
import type { JournalEntry } from '../../actors/ports.ts';
import { type LackedTag, lackedTags, storedTags } from '../../machines/decide/client-tags.ts';
import type { StandIn } from '../../machines/model/assignors.ts';
import type { Group, GroupState } from '../../machines/model/group.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import type { AssignmentFigures } from '../../machines/model/look-back.ts';
import type { Endpoint, Member, MemberState } from '../../machines/model/member.ts';
import type { Warming } from '../../machines/model/refinement.ts';
import type { GroupSoft } from '../../machines/model/soft.ts';
import { taskKey } from '../../machines/model/task-list.ts';
import {
  NO_TASKS_BY_ROLE,
  type Role,
  type TaskOffset,
  type TasksByRole,
} from '../../machines/model/tasks.ts';
import type { KeyValue, TopologyProblem } from '../../machines/model/topology.ts';
import { eachTask, type WaitingFor, Waits } from './waiting-for.ts';

/** One line of `/groups`. */
export type GroupSummary = {
  readonly groupId: string;
  readonly state: GroupState;
  readonly groupEpoch: number;
  readonly assignmentEpoch: number;
  readonly members: number;
};

/** The answer of `/groups`; `total` counts what matches, `groups` begins behind `after` and is cut at `limit`. */
export type GroupsAnswer = { readonly total: number; readonly groups: readonly GroupSummary[] };

/** Tasks as people write them, `0_2`: subtopology and partition, in order. */
export type TaskNames = Readonly<Record<Role, readonly string[]>>;

export type MemberView = {
  readonly memberId: string;
  readonly state: MemberState;
  readonly memberEpoch: number;
  readonly previousMemberEpoch: number;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly processId: string;
  readonly clientId: string;
  readonly clientHost: string;
  readonly rebalanceTimeoutMs: number;
  readonly topologyEpoch: number;
  readonly userEndpoint: Endpoint | null;
  readonly clientTags: Readonly<Record<string, string>>;
  readonly assigned: TaskNames;
  readonly pendingRevocation: TaskNames;
  readonly target: TaskNames;
  readonly waitingFor: readonly WaitingFor[];
  /** int64 as text, by task. */
  readonly taskOffsets: Readonly<Record<string, string>>;
  readonly taskEndOffsets: Readonly<Record<string, string>>;
  /** It was last told the hand-over interval (RSP-8). */
  readonly hurried: boolean;
};

/** A task with state that does not go to the member of its target yet, as it was last looked at (coordination 8). */
export type StagedTask = {
  readonly task: string;
  /** Who runs it meanwhile. */
  readonly runner: string;
  /** Whom the target names; null: a member that is gone. */
  readonly owner: string | null;
  readonly warming: Warming;
  /** int64 as text: how far the best copy at the owner is behind; null: not known. */
  readonly lag: string | null;
};

/** The topology as it stands against the cluster's topics; undefined parts are unknown until a member's heartbeat. */
export type TopologyView = {
  readonly epoch: number;
  readonly ready: boolean;
  readonly problem: TopologyProblem | null;
  readonly subtopologies: readonly {
    readonly subtopologyId: string;
    /** Null: not decided. */
    readonly tasks: number | null;
    readonly stateful: boolean;
    readonly sourceTopics: readonly string[];
    readonly repartitionTopics: readonly string[];
    readonly changelogTopics: readonly string[];
  }[];
};

/** The answer of `/groups/{id}/state`: a group as of its last commit, with what is known beside the log. */
export type GroupStateAnswer = Omit<GroupSummary, 'members'> & {
  readonly validatedTopologyEpoch: number;
  /** int64 as text. */
  readonly metadataHash: string;
  /** Wall clock, ms. */
  readonly assignmentTimestampMs: number;
  readonly lastAssignmentConfigs: Readonly<Record<string, string>>;
  /** The target is of one of Headgate's assignors, in place of a user's own that failed. */
  readonly standIn: StandIn | null;
  /**
   * How good the target is; null where no run since the start made it, and for a moment after one did: it is found by
   * comparing with what was before, which only the journal keeps (`/groups/{id}/journal`).
   */
  readonly targetFigures: AssignmentFigures | null;
  readonly topology: TopologyView | null;
  /** Rack-aware assignment tags that not every member has, and who lacks them. */
  readonly lackedTags: readonly LackedTag[];
  readonly members: readonly MemberView[];
  /** Why members may not run what they could. */
  readonly pending: {
    /** The first assignment waits for more members. */
    readonly initialDelay: boolean;
    /** The epoch that an assignment is being computed for. */
    readonly assignmentOfEpoch: number | null;
    /** Wall clock, ms, of the last assignment that failed. */
    readonly assignmentFailedAtMs: number | null;
    /** Topics changed since the topology was last held against them. */
    readonly topicsChanged: boolean;
    /** Tasks that wait for a copy of them at their new owner. */
    readonly staged: readonly StagedTask[];
    /** The member that asked the application to shut down. */
    readonly shutdownBy: string | null;
  };
  readonly endpointEpoch: number;
};

/** The answer of `/groups/{id}/journal`: oldest first. */
export type JournalAnswer = { readonly groupId: string; readonly entries: readonly JournalEntry[] };

/** The answer of `/health/ready`. */
export type ReadyAnswer = {
  readonly ready: boolean;
  /** Shards by state. */
  readonly shards: Readonly<Record<string, number>>;
  /** The upstream cluster was reached once; true when there is none. */
  readonly upstreamReached: boolean;
};

/** The answer of `/status`. */
export type StatusAnswer = {
  readonly version: string;
  /** `host:port` as clients are told them: first where they connect, then a gateway's that stand for upstream nodes. */
  readonly addresses: readonly string[];
};

/** What goes wrong is told like this, with a status of 400 and above. */
export type ErrorAnswer = { readonly error: string };

/** A group in one line. */
export function summaryView({ group }: GroupView): GroupSummary {
  const { groupId, state, groupEpoch, assignmentEpoch, members } = group;
  return { groupId, state, groupEpoch, assignmentEpoch, members: members.size };
}

/** All there is to know about a group. */
export function stateView({ group, soft }: GroupView): GroupStateAnswer {
  const { groupId, state, groupEpoch, assignmentEpoch } = group;
  const members = [...group.members.values()].sort((a, b) => byCodeUnits(a.memberId, b.memberId));
  const waits = new Waits(group, soft);
  return {
    groupId,
    state,
    groupEpoch,
    assignmentEpoch,
    validatedTopologyEpoch: group.validatedTopologyEpoch,
    metadataHash: String(group.metadataHash),
    assignmentTimestampMs: group.assignmentTimestampMs,
    lastAssignmentConfigs: byKey(group.lastAssignmentConfigs),
    standIn: soft.standIn ?? null,
    targetFigures: soft.targetFigures ?? null,
    topology: topologyView(group, soft),
    lackedTags: lackedTags(members, storedTags(group.lastAssignmentConfigs)),
    members: members.map((member) => memberView(member, group, soft, waits)),
    pending: {
      initialDelay: soft.delaying,
      assignmentOfEpoch: soft.run?.groupEpoch ?? null,
      assignmentFailedAtMs: soft.runFailedAtMs ?? null,
      topicsChanged: soft.refreshDue,
      staged: waits.staged.map(stagedTask),
      shutdownBy: soft.shutdownBy ?? null,
    },
    endpointEpoch: soft.endpointEpoch,
  };
}

function stagedTask(move: Waits['staged'][number]): StagedTask {
  const { subtopologyId, partition, runner, owner = null, warming, lag } = move;
  const task = taskKey(subtopologyId, partition);
  return { task, runner, owner, warming, lag: lag === undefined ? null : String(lag) };
}

function memberView(member: Member, group: Group, soft: GroupSoft, waits: Waits): MemberView {
  const { memberId, assigned, pendingRevocation } = member;
  const target = group.targets.get(memberId) ?? NO_TASKS_BY_ROLE;
  const known = soft.members.get(memberId);
  return {
    memberId,
    state: member.state,
    memberEpoch: member.memberEpoch,
    previousMemberEpoch: member.previousMemberEpoch,
    instanceId: member.instanceId,
    rackId: member.rackId,
    processId: member.processId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    rebalanceTimeoutMs: member.rebalanceTimeoutMs,
    topologyEpoch: member.topologyEpoch,
    userEndpoint: member.userEndpoint,
    clientTags: byKey(member.clientTags),
    assigned: taskNames(assigned),
    pendingRevocation: taskNames(pendingRevocation),
    target: taskNames(target),
    waitingFor: waits.of(member),
    taskOffsets: offsetsByTask(known?.taskOffsets ?? []),
    taskEndOffsets: offsetsByTask(known?.taskEndOffsets ?? []),
    hurried: known?.hurried ?? false,
  };
}

function topologyView(
  { topology, validatedTopologyEpoch }: Group,
  soft: GroupSoft,
): TopologyView | null {
  if (topology === undefined) return null;
  const { configured } = soft;
  const decided = new Map(
    configured?.subtopologies.map((subtopology) => [subtopology.subtopologyId, subtopology]),
  );
  const names = (topics: readonly { readonly name: string }[]) => topics.map(({ name }) => name);
  return {
    epoch: topology.epoch,
    ready: validatedTopologyEpoch === topology.epoch,
    problem: configured?.problem ?? null,
    subtopologies: topology.subtopologies.map((sent) => ({
      subtopologyId: sent.subtopologyId,
      tasks: decided.get(sent.subtopologyId)?.taskCount ?? null,
      stateful: sent.stateChangelogTopics.length > 0,
      sourceTopics: sent.sourceTopics,
      repartitionTopics: names(sent.repartitionSourceTopics),
      changelogTopics: names(sent.stateChangelogTopics),
    })),
  };
}

/** Whether clients can be served: every shard is active, and the upstream was reached. */
export function readyView(
  shards: readonly ShardStatus[],
  { upstreamReached }: { readonly upstreamReached: boolean },
): ReadyAnswer {
  const byState: Record<string, number> = {};
  for (const { state } of shards) byState[state] = (byState[state] ?? 0) + 1;
  const ready = upstreamReached && shards.length > 0 && byState['active'] === shards.length;
  return { ready, shards: byState, upstreamReached };
}

/** Notes for the states that a group, its members, its shard and its description are in, by chart. */
export function chartMarks(
  chart: 'group' | 'member' | 'shard' | 'description',
  { group }: GroupView,
  shard: ShardStatus | undefined,
): Readonly<Record<string, string>> {
  switch (chart) {
    case 'group':
      return { [group.state]: group.groupId };
    case 'member':
      return memberMarks(group);
    case 'shard':
      return shard === undefined ? {} : { [shard.state]: `shard ${shard.shard}` };
    case 'description':
      return { [descriptionState(group)]: group.groupId };
  }
}

/** A single member by its id, several by their number: ids of hundreds would fill the picture. */
function memberMarks({ members }: Group): Readonly<Record<string, string>> {
  const byState = new Map<string, Member[]>();
  for (const member of members.values()) {
    byState.set(member.state, [...(byState.get(member.state) ?? []), member]);
  }
  return Object.fromEntries(
    [...byState].map(([state, there]) => [
      state,
      there.length === 1 ? (there[0]?.memberId ?? '') : `${there.length} members`,
    ]),
  );
}

/** What the sentinels of the group's record stand for (SC-3). */
function descriptionState(group: Group): 'none' | 'uncertain' | 'stored' | 'refused' {
  const { storedDescriptionTopologyEpoch: stored, failedDescriptionTopologyEpoch: failed } = group;
  if (stored === -2) return 'uncertain';
  if (failed >= 0 && failed === group.topology?.epoch) return 'refused';
  return stored >= 0 ? 'stored' : 'none';
}

function taskNames(tasks: TasksByRole): TaskNames {
  return {
    active: eachTask(tasks.active),
    standby: eachTask(tasks.standby),
    warmup: eachTask(tasks.warmup),
  };
}

function offsetsByTask(offsets: readonly TaskOffset[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    offsets.map(({ subtopologyId, partition, offset }) => [
      taskKey(subtopologyId, partition),
      String(offset),
    ]),
  );
}

function byKey(pairs: readonly KeyValue[]): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
}
