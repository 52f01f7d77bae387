import type {
  Client,
  EndpointToPartitions,
  HeartbeatAnswer,
  HeartbeatRequest,
  Status,
} from '../commands.ts';
import type { Context } from '../decision.ts';
import type { Group } from '../model/group.ts';
import type { Member } from '../model/member.ts';
import type { ErrorName } from '../model/refusal.ts';
import { sameTasksByRole, withoutEpochs } from '../model/task-list.ts';
import type { HeldTasks, TaskList, TasksByRole } from '../model/tasks.ts';
import type { ConfiguredTopology, CreatableTopic } from '../model/topology.ts';
import type { Delay } from './assignment-run.ts';
import { tagsLackedBy } from './client-tags.ts';
import { firstFew } from './first-few.ts';

const NO_STATUSES: readonly Status[] = [];

/** The answer that carries an error: everything else has the wire's default. */
export function refusedAnswer(error: ErrorName, errorMessage: string | null): HeartbeatAnswer {
  return {
    error,
    errorMessage,
    memberId: '',
    memberEpoch: 0,
    heartbeatIntervalMs: 0,
    acceptableRecoveryLag: -1n,
    taskOffsetIntervalMs: 0,
    statuses: NO_STATUSES,
    activeTasks: null,
    standbyTasks: null,
    warmupTasks: null,
    endpointInformationEpoch: 0,
    partitionsByUserEndpoint: null,
    topologyDescriptionRequired: false,
  };
}

/** The answer to a leave: the epoch echoed, an empty status list, defaults (LEAVE-6). */
export function leaveAnswer(request: HeartbeatRequest): HeartbeatAnswer {
  return {
    ...refusedAnswer('NONE', null),
    memberId: request.memberId,
    memberEpoch: request.memberEpoch,
  };
}

/** The task lists of an answer; all null or all set (RSP-4). */
export type TaskLists = {
  readonly activeTasks: TaskList | null;
  readonly standbyTasks: TaskList | null;
  readonly warmupTasks: TaskList | null;
};

const NO_LISTS: TaskLists = { activeTasks: null, standbyTasks: null, warmupTasks: null };

/**
 * Decides whether an answer carries the task lists, and whether the member knows its tasks after it (RSP-5, RSP-6).
 *
 * @param said what the member reported in this heartbeat.
 * @param acknowledged whether it had reported the lists it was last sent.
 */
export function tellTasks(input: {
  readonly joined: boolean;
  readonly tasksChanged: boolean;
  readonly assigned: HeldTasks;
  readonly said: TasksByRole | undefined;
  readonly acknowledged: boolean;
  readonly repeats: boolean;
}): { readonly lists: TaskLists; readonly acknowledged: boolean } {
  const { joined, tasksChanged, assigned, said, repeats } = input;
  const knows = said === undefined ? undefined : sameTasksByRole(said, assigned);
  const isDue =
    joined || tasksChanged || (repeats && (knows === undefined ? !input.acknowledged : !knows));
  return {
    lists: isDue ? listsOf(assigned) : NO_LISTS,
    acknowledged: knows ?? (isDue ? false : input.acknowledged),
  };
}

function listsOf(assigned: HeldTasks): TaskLists {
  return {
    activeTasks: withoutEpochs(assigned.active),
    standbyTasks: assigned.standby,
    warmupTasks: assigned.warmup,
  };
}

/** What the statuses of an answer follow from. */
export type StatusInput = {
  readonly group: Group;
  readonly member: Member;
  readonly configured: ConfiguredTopology | undefined;
  readonly delay: Delay | undefined;
  readonly shutdownBy: string | undefined;
  readonly client: Client;
  readonly context: Context;
};

/** The statuses of an answer, in the order of RSP-2; each is found anew for every answer. */
export function statusesOf(input: StatusInput): readonly Status[] {
  const { group, member, configured, delay, shutdownBy } = input;
  const statuses: Status[] = [];
  if (group.topology !== undefined && member.topologyEpoch < group.topology.epoch) {
    statuses.push({
      status: 'STALE_TOPOLOGY',
      detail: `The member's topology epoch is ${member.topologyEpoch}, the group's is ${group.topology.epoch}`,
    });
  }
  if (delay !== undefined) {
    statuses.push({ status: 'ASSIGNMENT_DELAYED', detail: DELAYS[delay] });
  }
  if (configured?.problem !== undefined) statuses.push(topologyStatus(configured, input));
  if (shutdownBy !== undefined) {
    statuses.push({
      status: 'SHUTDOWN_APPLICATION',
      detail: `Member "${shutdownBy}" asked the application to shut down`,
    });
  }
  const missingTags = missingTagsOf(input);
  if (missingTags.length > 0) {
    statuses.push({
      status: 'MISSING_CLIENT_TAGS',
      detail: `The member lacks the client ${missingTags.length === 1 ? 'tag' : 'tags'} ${missingTags.join(', ')}`,
    });
  }
  return statuses.length === 0 ? NO_STATUSES : statuses;
}

const DELAYS: Readonly<Record<Delay, string>> = {
  initialDelay: 'The assignment waits for the initial rebalance delay',
  interval: 'The assignment waits until the assignment interval is over',
  runInFlight: 'The assignment is being computed',
  runFailed: 'The last computation of the assignment failed: it will be tried again',
};

function topologyStatus(configured: ConfiguredTopology, { client, context }: StatusInput): Status {
  const { problem, missingInternalTopics } = configured;
  const status = problem?.status ?? 'MISSING_INTERNAL_TOPICS';
  const detail = problem?.detail ?? '';
  if (status !== 'MISSING_INTERNAL_TOPICS') return { status, detail };
  const denied = deniedTopics(client, missingInternalTopics);
  const why =
    denied.length > 0
      ? `CREATE is not authorized on ${firstFew(denied)}`
      : context.creationFailures(missingInternalTopics);
  return { status, detail: why === undefined ? detail : `${detail}; ${why}` };
}

/** The topics among those to create that the client may not create: with one of them none is created (C-3). */
export function deniedTopics(client: Client, topics: readonly CreatableTopic[]): readonly string[] {
  return client.mayNotCreate?.(topics.map(({ name }) => name)) ?? NO_TOPICS;
}

const NO_TOPICS: readonly string[] = [];
const NO_TAGS: readonly string[] = [];

/** Only clients of version 1 and above know the status (RSP-3). */
function missingTagsOf({ member, client, context }: StatusInput): readonly string[] {
  const { rackAwareAssignmentTags } = context.settings;
  return client.apiVersion < 1 ? NO_TAGS : tagsLackedBy(member, rackAwareAssignmentTags);
}

/**
 * Whether a member is told the hand-over interval: others wait for it, or it waits for them, for a run or for its
 * promotion, and no status says that waiting is pointless (RSP-8).
 *
 * @param takesOver it has a caught-up copy of a task that is to be its own.
 */
export function isInHandover(
  member: Member,
  statuses: readonly Status[],
  delay: Delay | undefined,
  takesOver: boolean,
): boolean {
  const moves =
    takesOver ||
    member.state === 'unreleasedTasks' ||
    member.state === 'unrevokedTasks' ||
    delay === 'runInFlight';
  return moves && statuses.every(({ status }) => HURRIED_STATUSES.has(status));
}

const HURRIED_STATUSES: ReadonlySet<Status['status']> = new Set([
  'STALE_TOPOLOGY',
  'ASSIGNMENT_DELAYED',
  'MISSING_CLIENT_TAGS',
] as const);

/** Everything an answer to a join or a regular heartbeat says. */
export function heartbeatAnswer(input: {
  readonly member: Member;
  readonly heartbeatIntervalMs: number;
  readonly statuses: readonly Status[];
  readonly lists: TaskLists;
  readonly endpointEpoch: number;
  readonly endpoints: readonly EndpointToPartitions[] | null;
  readonly context: Context;
}): HeartbeatAnswer {
  const { settings } = input.context;
  return {
    error: 'NONE',
    errorMessage: null,
    memberId: input.member.memberId,
    memberEpoch: input.member.memberEpoch,
    heartbeatIntervalMs: input.heartbeatIntervalMs,
    acceptableRecoveryLag: settings.acceptableRecoveryLag,
    taskOffsetIntervalMs: settings.taskOffsetIntervalMs,
    statuses: input.statuses,
    activeTasks: input.lists.activeTasks,
    standbyTasks: input.lists.standbyTasks,
    warmupTasks: input.lists.warmupTasks,
    endpointInformationEpoch: input.endpointEpoch,
    partitionsByUserEndpoint: input.endpoints,
    topologyDescriptionRequired: false,
  };
}
