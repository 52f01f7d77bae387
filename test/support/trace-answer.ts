import type {
  DescribedGroup,
  EndpointToPartitions,
  HeartbeatAnswer,
} from '../../machines/commands.ts';
import type { AssignmentProblem } from '../../machines/model/assignment.ts';
import type { Group } from '../../machines/model/group.ts';
import type { CurrentAssignment, Member } from '../../machines/model/member.ts';
import type { ActiveTaskList, TaskOffset } from '../../machines/model/tasks.ts';
import type { KeyValue } from '../../machines/model/topology.ts';
import type { GroupRecord } from '../../machines/records.ts';
import type { Outcome } from './lone-coordinator.ts';
import { STATUS_CODES } from './recorded-wire.ts';
import { writeTasks } from './task-notation.ts';

/** What a step did: the answer, if `name` is to get one, the records, and the group as it is now. */
export function showOutcome(
  name: string,
  { answer, records }: Outcome,
  group: Group | undefined,
): readonly string[] {
  const lines: string[] = [];
  if (answer !== undefined) lines.push(showAnswer(name, answer));
  else if (name !== '') lines.push(`${name} waits`);
  return [...lines, ...showRecords(records), showGroup(group)];
}

export function showRecords(records: readonly GroupRecord[]): readonly string[] {
  return [`records: ${records.length === 0 ? 'none' : records.map(showRecord).join(', ')}`];
}

export function showGroup(group: Group | undefined): string {
  if (group === undefined) return 'group: none';
  return `group: ${group.state.toLowerCase()} ${group.groupEpoch}/${group.assignmentEpoch}`;
}

/** Every member as stored: state, epochs, assigned and pending tasks, active ones with the epoch since when. */
export function showMembers(group: Group | undefined): readonly string[] {
  return sorted(group).map((member) => {
    const { memberId, memberEpoch, previousMemberEpoch, assigned, pendingRevocation } = member;
    const owes = showOwes(member);
    return [
      `${memberId}: ${STATE_WORDS[member.state]} ${memberEpoch}/${previousMemberEpoch}`,
      `act{${showSince(assigned.active)}} stb{${brief(assigned.standby)}}`,
      `wrm{${brief(assigned.warmup)}}`,
      owes === '' ? 'rev{}' : `rev{${showSince(pendingRevocation.active)}|${owes.split('|')[1]}}`,
    ].join(' ');
  });
}

/** What an assignor was shown: tasks, options, and of each member what it has and says. */
export function showProblem(problem: AssignmentProblem): readonly string[] {
  const tasks = problem.subtopologies.map(
    ({ subtopologyId, taskCount, stateful }) =>
      `${subtopologyId}x${taskCount}${stateful ? ' stateful' : ''}`,
  );
  return [
    `shown: ${tasks.join(', ')}, topology ${problem.topologyEpoch}, standbys ${problem.numStandbyReplicas}`,
    ...problem.members.map((member) => {
      const has = [member.active, member.standby, member.warmup].map(writeTasks).join('|');
      const said = showFields([
        [
          'topology',
          member.topologyEpoch === problem.topologyEpoch ? null : `${member.topologyEpoch}`,
        ],
        ['instance', member.instanceId],
        ['rack', member.rackId],
        ['process', member.processId],
        ['tags', showTags(member.clientTags)],
        ['offsets', showOffsets(member.taskOffsets)],
        ['ends', showOffsets(member.taskEndOffsets)],
      ]);
      return `  ${member.memberId} has ${has}${said}`;
    }),
  ];
}

/** The group as StreamsGroupDescribe shows it, one line for each member; fields at their usual value are left out. */
export function showDescribed(described: DescribedGroup): readonly string[] {
  if (described.error !== 'NONE') return [`described: ${described.error}`];
  const { groupState, groupEpoch, assignmentEpoch, topology } = described;
  const subtopologies = (topology?.subtopologies ?? []).map((one) => {
    const infos = [...one.repartitionSourceTopics, ...one.stateChangelogTopics];
    return [...one.sourceTopics, ...infos.map((each) => `${each.name}:${each.partitions}`)].join(
      ' ',
    );
  });
  return [
    `described: ${groupState} ${groupEpoch}/${assignmentEpoch}, topology ${topology?.epoch}: ${subtopologies.join(' | ')}`,
    ...described.members.map(({ assignment, targetAssignment, ...member }) => {
      const has = [assignment.activeTasks, assignment.standbyTasks, assignment.warmupTasks];
      const target = [targetAssignment.activeTasks, targetAssignment.standbyTasks];
      const said = showFields([
        ['topology', member.topologyEpoch === topology?.epoch ? null : `${member.topologyEpoch}`],
        ['instance', member.instanceId],
        ['rack', member.rackId],
        ['process', member.processId === `p${member.memberId}` ? null : member.processId],
        ['client', member.clientId === `client-${member.memberId}` ? null : member.clientId],
        ['host', member.clientHost === '/127.0.0.1' ? null : member.clientHost],
        [
          'endpoint',
          member.userEndpoint && `${member.userEndpoint.host}:${member.userEndpoint.port}`,
        ],
        ['tags', showTags(member.clientTags)],
        ['offsets', showOffsets(member.taskOffsets)],
        ['ends', showOffsets(member.taskEndOffsets)],
      ]);
      const lists = `has ${has.map(writeTasks).join('|')} target ${target.map(writeTasks).join('|')}`;
      return `  ${member.memberId} epoch=${member.memberEpoch} ${lists}${said}`;
    }),
  ];
}

function showAnswer(name: string, answer: HeartbeatAnswer): string {
  if (answer.error !== 'NONE') return `${name} error=${answer.error}`;
  const words = [`${name} epoch=${answer.memberEpoch}`];
  const { activeTasks, standbyTasks, warmupTasks } = answer;
  if (activeTasks === null) words.push('tasks=-');
  else {
    words.push(`active=${writeTasks(activeTasks)}`);
    words.push(`standby=${writeTasks(standbyTasks ?? [])}`);
    words.push(`warmup=${writeTasks(warmupTasks ?? [])}`);
  }
  if (answer.statuses.length > 0) {
    words.push(`status=[${answer.statuses.map(({ status }) => STATUS_CODES[status])}]`);
  }
  const isLeave = answer.memberEpoch < 0;
  const usual = isLeave ? UNSET_INTERVALS : USUAL_INTERVALS;
  for (const [word, value, expected] of [
    ['interval', answer.heartbeatIntervalMs, usual.heartbeat],
    ['offset-interval', answer.taskOffsetIntervalMs, usual.offsets],
    ['lag', Number(answer.acceptableRecoveryLag), usual.lag],
  ] as const) {
    if (value !== expected) words.push(`${word}=${value}`);
  }
  if (answer.partitionsByUserEndpoint !== null) {
    const entries = answer.partitionsByUserEndpoint.map(showEndpoint);
    words.push(`iq=${answer.endpointInformationEpoch} endpoints=[${entries.join(' ')}]`);
  }
  return words.join(' ');
}

const USUAL_INTERVALS = { heartbeat: 5000, offsets: 60_000, lag: 10_000 };
const UNSET_INTERVALS = { heartbeat: 0, offsets: 0, lag: -1 };

function showEndpoint(entry: EndpointToPartitions): string {
  const [active, standby] = [entry.activePartitions, entry.standbyPartitions].map((topics) =>
    writeTasks(topics.map(({ topic, partitions }) => ({ subtopologyId: topic, partitions }))),
  );
  return `${entry.userEndpoint.host}:${entry.userEndpoint.port}=${active}|${standby}`;
}

function showRecord(record: GroupRecord): string {
  switch (record.type) {
    case 'memberMetadata':
      return `${record.value === null ? '-' : ''}member ${record.memberId}`;
    case 'topology':
      return record.value === null ? '-topology' : `topology ${record.value.epoch}`;
    case 'groupMetadata':
      return record.value === null ? '-group' : `group ${record.value.groupEpoch}`;
    case 'targetMember':
      return `${record.value === null ? '-' : ''}target ${record.memberId}`;
    case 'targetMetadata':
      return record.value === null
        ? '-target-epoch'
        : `target-epoch ${record.value.assignmentEpoch}`;
    case 'offsetCommit':
      return `${record.value === null ? '-' : ''}offset ${record.topic}-${record.partition}`;
    case 'currentAssignment': {
      if (record.value === null) return `-current ${record.memberId}`;
      const { memberEpoch, previousMemberEpoch, state } = record.value;
      const owes = showOwes(record.value);
      const words = state === 'unreleasedTasks' ? ' waiting' : owes === '' ? '' : ` owes ${owes}`;
      return `current ${record.memberId} ${memberEpoch}/${previousMemberEpoch}${words}`;
    }
  }
}

const STATE_WORDS: Readonly<Record<CurrentAssignment['state'], string>> = {
  stable: 'STABLE',
  unrevokedTasks: 'UNREVOKED',
  unreleasedTasks: 'UNRELEASED',
  unknown: 'UNKNOWN',
};

function showOwes({ pendingRevocation: { active, standby, warmup } }: CurrentAssignment): string {
  if (active.length + standby.length + warmup.length === 0) return '';
  const roles = warmup.length === 0 ? [active, standby] : [active, standby, warmup];
  return roles.map(writeTasks).join('|');
}

/** `0:[0-1]@2`: tasks and since which epoch they are held, runs of one epoch together. */
function showSince(tasks: ActiveTaskList): string {
  return tasks
    .map(({ subtopologyId, partitions, assignmentEpochs }) => {
      const since = new Map<number, number[]>();
      partitions.forEach((partition, at) => {
        const epoch = assignmentEpochs[at] ?? Number.NaN;
        since.set(epoch, [...(since.get(epoch) ?? []), partition]);
      });
      return [...since]
        .map(([epoch, list]) => `${writeTasks([{ subtopologyId, partitions: list }])}@${epoch}`)
        .join(';');
    })
    .join(';');
}

function brief(tasks: Parameters<typeof writeTasks>[0]): string {
  return tasks.length === 0 ? '' : writeTasks(tasks);
}

/** Those that have a value, as ` name=value`. */
function showFields(fields: readonly (readonly [name: string, value: string | null])[]): string {
  return fields.map(([name, value]) => (value === null ? '' : ` ${name}=${value}`)).join('');
}

function showTags(tags: readonly KeyValue[]): string | null {
  return tags.length === 0 ? null : tags.map(({ key, value }) => `${key}:${value}`).join(',');
}

function showOffsets(offsets: readonly TaskOffset[]): string | null {
  if (offsets.length === 0) return null;
  return offsets.map((each) => `${each.subtopologyId}_${each.partition}:${each.offset}`).join(',');
}

function sorted(group: Group | undefined): readonly Member[] {
  return [...(group?.members.values() ?? [])].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
}
