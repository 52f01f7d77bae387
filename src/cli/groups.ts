import type { AdminClient, CommittedOffset, DescribedGroup, LogBounds } from '../client/admin.ts';
import { title } from '../client/connection.ts';
import { CommandError, type CommandIo } from './command-io.ts';
import { jsonText, table } from './table.ts';

/** How the answers of `groups` are written. */
export type Printing = { readonly io: CommandIo; readonly json: boolean };

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

/** `groups describe`: state, epochs and topology. */
export async function describeGroup(
  client: AdminClient,
  groupId: string,
  { json, io }: Printing,
): Promise<void> {
  const { group, coordinator } = await client.describe(groupId);
  if (json) {
    io.out(jsonText({ ...group, coordinator }));
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

/** `groups members`: who has which tasks, and what is still to come. */
export async function showMembers(
  client: AdminClient,
  groupId: string,
  { json, io }: Printing,
): Promise<void> {
  const { group } = await client.describe(groupId);
  if (json) {
    io.out(jsonText(group.members));
    return;
  }
  if (group.members.length === 0) {
    io.err(`Group "${groupId}" has no members: it is ${group.groupState}\n`);
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

/** `groups offsets`: how far the group is in its topics. */
export async function showOffsets(
  client: AdminClient,
  groupId: string,
  { json, io }: Printing,
): Promise<void> {
  const committed = await client.committedOffsets(groupId);
  const bounds = await client.logBounds(committed);
  const lines = committed.map((offset, at) => offsetLine(offset, bounds[at]));
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

function offsetLine({ topic, partition, offset, metadata }: CommittedOffset, bounds?: LogBounds) {
  const end = bounds?.end;
  // Without a log of its own a coordinator only knows offsets that were committed: none lags behind itself.
  const lag = end === undefined || end < offset ? undefined : end - offset;
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
