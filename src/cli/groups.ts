import { lackedTagText } from '../../machines/decide/client-tags.ts';
import { standInText } from '../../machines/model/assignors.ts';
import { unreachable } from '../../machines/model/refusal.ts';
import type { GroupStateAnswer, MemberView, StagedTask, TaskNames } from '../admin/views.ts';
import type { WaitingFor } from '../admin/waiting-for.ts';
import type {
  AdminClient,
  CommittedOffset,
  DescribedGroup,
  LogBounds,
  TopicPartition,
} from '../client/admin.ts';
import { ClientError } from '../client/client-error.ts';
import { title } from '../client/connection.ts';
import type { HostPort } from '../config/host-port.ts';
import { askAdmin } from './admin-http.ts';
import { CommandError, type CommandIo } from './command-io.ts';
import { qualityLine } from './quality-text.ts';
import { jsonText, table } from './table.ts';

/** How the answers of `groups` are written. */
export type Printing = { readonly io: CommandIo; readonly json: boolean };

/** An admin server to ask for what the Kafka protocol cannot carry; undefined: that is left out. */
export type LiveFrom = { readonly admin: HostPort | undefined };

type TaskLists = DescribedGroup['members'][number]['assignment'];

/** `groups list`: all streams groups, or with `all` groups of every type. */
export async function listGroups(
  client: AdminClient,
  { all, json, io }: Printing & { readonly all: boolean },
): Promise<void> {
  const groups = await client.listGroups(all ? [] : ['streams']);
  if (json) {
    io.out(jsonText(groups));
    return;
  }
  if (groups.length === 0) io.err(all ? 'No groups\n' : 'No streams groups\n');
  else {
    const rows = groups.map(({ groupId, groupState, groupType }) => [
      groupId,
      groupType,
      groupState,
    ]);
    io.out(table(['GROUP', 'TYPE', 'STATE'], rows));
  }
}

/** `groups describe`: state, epochs and topology; live, also how good its target is and what it waits for. */
export async function describeGroup(
  client: AdminClient,
  groupId: string,
  { json, io, admin }: Printing & LiveFrom,
): Promise<void> {
  const { group, coordinator } = await client.describe(groupId);
  const live = admin === undefined ? undefined : await askState(admin, groupId);
  if (json) {
    io.out(jsonText({ ...group, coordinator, ...(live === undefined ? {} : { live }) }));
    return;
  }
  const { groupState, groupEpoch, assignmentEpoch, members, assignorName, topology } = group;
  io.out(
    table(
      ['GROUP', 'COORDINATOR', 'ASSIGNOR', 'STATE', 'EPOCH', 'TARGET-EPOCH', 'MEMBERS', 'TOPOLOGY'],
      [
        [
          groupId,
          `${title(coordinator)} (${coordinator.nodeId})`,
          assignorName ?? '-',
          groupState,
          String(groupEpoch),
          String(assignmentEpoch),
          String(members.length),
          topology === null ? '-' : `epoch ${topology.epoch}`,
        ],
      ],
    ),
  );
  if (live !== undefined) io.out(qualityLine(live) + pendingText(live));
  const subtopologies = topology?.subtopologies ?? [];
  if (subtopologies.length === 0) return;
  const names = (topics: readonly { readonly name: string }[]) =>
    topics.map(({ name }) => name).join(',') || '-';
  io.out('\n');
  io.out(
    table(
      ['SUBTOPOLOGY', 'SOURCES', 'REPARTITION', 'CHANGELOGS'],
      subtopologies.map((one) => [
        one.subtopologyId,
        one.sourceTopics.join(',') || '-',
        names(one.repartitionSourceTopics),
        names(one.stateChangelogTopics),
      ]),
    ),
  );
}

/** What keeps a group from going on, or as it should, a line each; nothing when nothing does. */
function pendingText(live: GroupStateAnswer): string {
  const { topology, pending, standIn, members } = live;
  const lines = [
    topology?.problem && `${topology.problem.status}: ${topology.problem.detail}`,
    pending.initialDelay && 'The first assignment waits for more members',
    pending.assignmentOfEpoch !== null &&
      `The assignment of epoch ${pending.assignmentOfEpoch} is being computed`,
    pending.assignmentFailedAtMs !== null && 'The last assignment failed; the log tells why',
    standIn !== null && standInText(standIn),
    ...live.lackedTags.map((lacked) => lackedTagText(lacked, members)),
    ...stagedLines(pending.staged),
    pending.shutdownBy !== null && `${pending.shutdownBy} asked the application to shut down`,
    ...members.map(
      (member) =>
        member.waitingFor.length > 0 && `${member.memberId} waits for ${waitText(member)}`,
    ),
  ];
  const told = lines.filter((line) => typeof line === 'string');
  return told.length === 0 ? '' : `\n${told.join('\n')}\n`;
}

/** Tasks told one by one; a count stands for the rest. */
const STAGED_TOLD = 20;

function stagedLines(staged: readonly StagedTask[]): readonly string[] {
  const lines = staged.slice(0, STAGED_TOLD).map(({ task, runner, owner, warming, lag }) => {
    const copy = lag === null ? 'not heard of yet' : `${lag} behind`;
    const why = {
      warmup: `the warm-up for ${owner} is ${copy}`,
      standby: `the standby at ${owner} is ${copy}`,
      noRoom: `no warm-up is free for ${owner}`,
      unheard: `${owner} was not heard yet`,
      ownerGone: 'the member that was to have it is gone',
    }[warming];
    return `${task} runs on ${runner}: ${why}`;
  });
  const more = staged.length - lines.length;
  return more === 0 ? lines : [...lines, `${more} more tasks wait for a copy`];
}

function waitText({ memberId, waitingFor }: MemberView): string {
  const each = waitingFor.map((wait) => {
    const name = wait.role === 'active' ? wait.task : `${wait.role} of ${wait.task}`;
    return `${name} (${untilText(wait, memberId)})`;
  });
  return each.join(', ');
}

function untilText({ task, role, until, heldBy }: WaitingFor, memberId: string): string {
  switch (until) {
    case 'staged':
      return role === 'active' ? 'until a copy has caught up' : `until ${task} has moved`;
    case 'held': {
      const names = heldBy.map((each) =>
        each.memberId === memberId ? 'it itself' : each.memberId,
      );
      return `until ${names.join(' and ')} ${names.length === 1 ? 'gives' : 'give'} it up`;
    }
    case 'heartbeat':
      return 'with its next heartbeat';
    default:
      return unreachable(until);
  }
}

function askState(admin: HostPort, groupId: string): Promise<GroupStateAnswer> {
  return askAdmin<GroupStateAnswer>(admin, `/groups/${encodeURIComponent(groupId)}/state`);
}

/** `groups members`: who has which tasks, and what is still to come; live, also each one's state and what it waits for. */
export async function showMembers(
  client: AdminClient,
  groupId: string,
  { json, io, admin }: Printing & LiveFrom,
): Promise<void> {
  if (admin !== undefined) {
    showLiveMembers(await askState(admin, groupId), { json, io });
    return;
  }
  const { group } = await client.describe(groupId);
  if (json) {
    io.out(jsonText(group.members));
    return;
  }
  if (group.members.length === 0) {
    io.err(noMembersText(groupId, group.groupState));
    return;
  }
  const rows = group.members.map((member) => [
    member.memberId,
    member.clientId,
    member.processId,
    String(member.memberEpoch),
    tasksText(member.assignment),
    sameTasks(member.assignment, member.targetAssignment)
      ? 'as given'
      : tasksText(member.targetAssignment),
  ]);
  io.out(table(['MEMBER', 'CLIENT', 'PROCESS', 'EPOCH', 'TASKS', 'TARGET'], rows));
}

function noMembersText(groupId: string, state: string): string {
  return `Group "${groupId}" has no members: it is ${state}\n`;
}

function showLiveMembers(
  { groupId, state, members }: GroupStateAnswer,
  { json, io }: Printing,
): void {
  if (json) {
    io.out(jsonText(members));
    return;
  }
  if (members.length === 0) {
    io.err(noMembersText(groupId, state));
    return;
  }
  const names = ({ active, standby, warmup }: TaskNames) =>
    [
      ...active,
      ...standby.map((task) => `${task} (standby)`),
      ...warmup.map((task) => `${task} (warm-up)`),
    ].join(' ') || '-';
  const rows = members.map((member) => [
    member.memberId,
    member.clientId,
    member.processId,
    member.state,
    String(member.memberEpoch),
    names(member.assigned),
    names(member.pendingRevocation),
    member.waitingFor.length === 0 ? '-' : waitText(member),
  ]);
  const headings = ['MEMBER', 'CLIENT', 'PROCESS', 'STATE', 'EPOCH', 'TASKS', 'MUST-GIVE-UP'];
  io.out(table([...headings, 'WAITS-FOR'], rows));
}

/** `groups offsets`: how far the group is in its topics; of a streams group every source partition is shown. */
export async function showOffsets(
  client: AdminClient,
  groupId: string,
  { json, io }: Printing,
): Promise<void> {
  const committed = await client.committedOffsets(groupId);
  const sources = await sourcePartitions(client, groupId, { mayBeOther: committed.length > 0 });
  const partitions = inOrder(committed, sources);
  const bounds = await client.logBounds(partitions);
  const lines = partitions.map((one, at) => offsetLine(one, bounds[at]));
  if (json) io.out(jsonText(lines));
  else if (lines.length === 0) io.err(`Group "${groupId}" has no committed offsets\n`);
  else {
    const text = (value: bigint | undefined) => (value === undefined ? '-' : String(value));
    const rows = lines.map(({ topic, partition, offset, end, lag }) => [
      topic,
      String(partition),
      text(offset),
      text(end),
      text(lag),
    ]);
    io.out(table(['TOPIC', 'PARTITION', 'OFFSET', 'END', 'LAG'], rows));
  }
}

/** Of a streams group; none of a group of another kind, which its committed offsets speak for. */
async function sourcePartitions(
  client: AdminClient,
  groupId: string,
  { mayBeOther }: { readonly mayBeOther: boolean },
): Promise<readonly TopicPartition[]> {
  const described = await client.describe(groupId).catch((error: unknown) => {
    if (mayBeOther && error instanceof ClientError) return undefined;
    throw error;
  });
  const subtopologies = described?.group.topology?.subtopologies ?? [];
  const topics = subtopologies.flatMap(({ sourceTopics, repartitionSourceTopics }) => [
    ...sourceTopics,
    ...repartitionSourceTopics.map(({ name }) => name),
  ]);
  const counts = await client.partitionCounts([...new Set(topics)]);
  return [...counts].flatMap(([topic, count]) =>
    Array.from({ length: count }, (_, partition) => ({ topic, partition })),
  );
}

type MaybeCommitted = TopicPartition & Partial<CommittedOffset>;

/** Each partition once, by topic and number. */
function inOrder(
  committed: readonly CommittedOffset[],
  sources: readonly TopicPartition[],
): readonly MaybeCommitted[] {
  const key = ({ topic, partition }: TopicPartition) => `${topic}:${partition}`;
  const known = new Set(committed.map(key));
  return [...committed, ...sources.filter((source) => !known.has(key(source)))].sort((a, b) =>
    a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1,
  );
}

function offsetLine({ topic, partition, offset, metadata }: MaybeCommitted, bounds?: LogBounds) {
  const end = bounds?.end;
  // Without a log of its own a coordinator only knows offsets that were committed: none lags behind itself.
  const isBehind = end !== undefined && offset !== undefined && end >= offset;
  const lag = isBehind ? end - offset : undefined;
  return { topic, partition, offset, end, lag, metadata };
}

/** `groups delete`: each group by itself; fails when one of them could not be deleted. */
export async function deleteGroups(
  client: AdminClient,
  groupIds: readonly string[],
  { json, io }: Printing,
): Promise<void> {
  const results = await Promise.all(groupIds.map((groupId) => client.deleteGroup(groupId)));
  if (json) io.out(jsonText(results));
  else {
    const rows = results.map(({ groupId, error, message }) => [
      groupId,
      error === 'NONE' ? 'deleted' : `${error}: ${message ?? reasonOf(error)}`,
    ]);
    io.out(table(['GROUP', 'RESULT'], rows));
  }
  const failed = results.filter(({ error }) => error !== 'NONE').length;
  if (failed > 0) throw new CommandError(`Cannot delete ${failed} of ${results.length} groups`);
}

function reasonOf(error: string): string {
  if (error === 'NON_EMPTY_GROUP') return 'it has members';
  return error === 'GROUP_ID_NOT_FOUND' ? 'there is no such group' : 'the broker gives no reason';
}

function tasksText({ activeTasks, standbyTasks, warmupTasks }: TaskLists): string {
  const role = (name: string, tasks: TaskLists['activeTasks']) =>
    tasks.length === 0
      ? []
      : [`${name} ${tasks.map((one) => `${one.subtopologyId}:[${one.partitions}]`).join(' ')}`];
  const parts = [
    ...role('active', activeTasks),
    ...role('standby', standbyTasks),
    ...role('warmup', warmupTasks),
  ];
  return parts.join('; ') || '-';
}

function sameTasks(one: TaskLists, other: TaskLists): boolean {
  return tasksText(one) === tasksText(other);
}
