import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { decideCommit } from '../../machines/decide/offsets.ts';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import type { Endpoint } from '../../machines/model/member.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import type { Topology } from '../../machines/model/topology.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { keepingAssignor } from './keeping-assignor.ts';
import type { Outcome } from './lone-coordinator.ts';
import { GROUP_ID, LoneCoordinator } from './lone-coordinator.ts';
import { STATUS_CODES } from './recorded-wire.ts';
import { readTasks, writeTasks } from './task-notation.ts';
import { info, subtopology } from './topology-samples.ts';

/**
 * Plays a trace and writes it again with the answers that came: equal texts, and the trace holds.
 *
 * A trace is blocks with blank lines between them; comments start with `#`. A block is commands, and after `----`
 * what they answered. Tasks are `0:[0-2,5] 1:[3]`, roles `active|standby|warmup`; `[]` is an empty list, `-` is
 * "not sent". Verbs are the functions of {@link VERBS}.
 */
export function playTrace(text: string): string {
  const player = new Player();
  return `${text
    .trim()
    .split(/\n{2,}/)
    .map((block) => player.play(block))
    .join('\n\n')}\n`;
}

type Words = { readonly plain: readonly string[]; readonly named: ReadonlyMap<string, string> };

class Player {
  readonly coordinator = new LoneCoordinator(keepingAssignor);
  readonly topologies = new Map<number, Topology>();
  /** The endpoint epoch each member was last told. */
  readonly endpointEpochs = new Map<string, number>();
  topologyEpoch = 0;
  back: () => void = () => {};
  because: readonly string[] = [];

  play(block: string): string {
    const [input = ''] = block.split('\n----');
    const answers: string[] = [];
    for (const line of input.split('\n')) {
      if (line.startsWith('#') || line === '') continue;
      answers.push(...this.run(line));
    }
    return answers.length === 0 ? input : [input, '----', ...answers].join('\n');
  }

  run(line: string): readonly string[] {
    const words = line.split(/\s+/);
    const { plain, named } = sort(words);
    const verb = VERBS[plain[0] ?? ''] ?? VERBS[plain[1] ?? ''];
    if (verb === undefined) throw new Error(`Unknown command in a trace: ${line}`);
    return verb(this, { plain, named });
  }
}

function sort(words: readonly string[]): Words {
  const plain = words.filter((word) => !word.includes('='));
  const named = words
    .filter((word) => word.includes('='))
    .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] as const);
  return { plain, named: new Map(named) };
}

/** One function per verb; the word may stand first, or second after a member's name. */
const VERBS: Readonly<Record<string, (player: Player, words: Words) => readonly string[]>> = {
  /** `topics in:4 other:2`; 0 deletes. */
  topics: ({ coordinator }, { plain }) => {
    for (const word of plain.slice(1)) {
      const [name = '', count] = word.split(':');
      coordinator.setTopic(name, Number(count));
    }
    return [];
  },
  /** `topology 0: in changelog=app-changelog`; every plain name is a source of its own subtopology. */
  topology: (player, { plain, named }) => {
    player.topologyEpoch = Number.parseInt(plain[1] ?? '0', 10);
    const changelog = named.get('changelog');
    const stateChangelogTopics = changelog === undefined ? [] : [info(changelog)];
    const subtopologies = plain
      .slice(2)
      .map((source, at) =>
        subtopology(String(at), { sourceTopics: [source], stateChangelogTopics }),
      );
    player.topologies.set(player.topologyEpoch, { epoch: player.topologyEpoch, subtopologies });
    return [];
  },
  /** `set delay=3000 interval=1000 standbys=1 wait=0 handover=300 profile=kafka`. */
  set: ({ coordinator }, { named }) => {
    for (const [name, value] of named) {
      const setting = SETTINGS[name];
      if (setting === undefined) throw new Error(`Unknown setting in a trace: ${name}`);
      setting(coordinator, value);
    }
    return [];
  },
  /** `A heartbeat epoch=0 topology=0 own=[] process=p1`. */
  heartbeat: (player, { plain, named }) => {
    const name = plain[0] ?? '';
    const version = Number(named.get('version') ?? '1');
    const client = {
      clientId: named.get('client') ?? `client-${name}`,
      clientHost: '/127.0.0.1',
      apiVersion: version,
    };
    return show(player, name, player.coordinator.heartbeat(request(player, name, named), client));
  },
  /** `A leaves`. */
  leaves: (player, { plain, named }) => {
    const name = plain[0] ?? '';
    const leave = request(player, name, new Map([...named, ['epoch', '-1'], ['own', '-']]));
    const client = { clientId: `client-${name}`, clientHost: '/127.0.0.1', apiVersion: 1 };
    return show(player, name, player.coordinator.heartbeat(leave, client));
  },
  /** `A pauses instance=i1`: leaves for a while. */
  pauses: (player, { plain, named }) => {
    const name = plain[0] ?? '';
    const leave = request(player, name, new Map([...named, ['epoch', '-2'], ['own', '-']]));
    const client = { clientId: `client-${name}`, clientHost: '/127.0.0.1', apiVersion: 1 };
    return show(player, name, player.coordinator.heartbeat(leave, client));
  },
  /** `clock +1000`: ms pass, timers fire. */
  clock: (player, { plain }) => {
    const outcome = player.coordinator.advance(Number((plain[1] ?? '').replace('+', '')));
    return outcome.records.length === 0 ? [] : show(player, '', outcome);
  },
  /** `target A=0:[0]|0:[1] B=..`: every run from now on gives this; without members, what it finds best. */
  target: ({ coordinator }, { named }) => {
    coordinator.assignor = named.size === 0 ? keepingAssignor : given(named);
    return [];
  },
  /** Runs of the assignor stay out until they are released. */
  hold: ({ coordinator }) => {
    coordinator.holdRuns = true;
    return [];
  },
  /** `A release`: the oldest run out ends; the answer that waited for it is A's. */
  release: (player, { plain }) => show(player, nameIn(plain), player.coordinator.release()),
  /** `A fails`: the oldest run out fails. */
  fails: (player, { plain }) => show(player, nameIn(plain), player.coordinator.fail('it broke')),
  /** `A waited`: the answer of A waited long enough. */
  waited: (player, { plain }) => show(player, nameIn(plain), player.coordinator.endWaits()),
  /** What follows `back` starts from what was when `keep` was said. */
  keep: (player) => {
    player.back = player.coordinator.keep();
    return [];
  },
  back: (player) => {
    player.back();
    return [];
  },
  /** The timers that run. */
  timers: ({ coordinator }) => [`timers: ${coordinator.timers.join(', ')}`],
  /** `A offers in-0:2`: commits with an epoch. */
  commits: (player, { plain, named }) => commit(player, plain, named),
  /** The words of the last decision that had any. */
  why: (player) => player.because.map((words) => `  ${words}`),
  /** Another coordinator takes over, with nothing but the log. */
  failover: (player) => show(player, '', player.coordinator.failOver()),
  /** Topics the coordinator asked for since the last look. */
  created: ({ coordinator }) => [
    `asked for: ${[...new Set(coordinator.createdTopics.splice(0))].join(', ')}`,
  ],
};

/** The member named before the verb, if one is. */
function nameIn(plain: readonly string[]): string {
  return plain.length > 1 ? (plain[0] ?? '') : '';
}

const SETTINGS: Readonly<Record<string, (on: LoneCoordinator, value: string) => void>> = {
  delay: (on, value) => {
    on.settings = { ...on.settings, initialRebalanceDelayMs: Number(value) };
  },
  interval: (on, value) => {
    on.settings = { ...on.settings, assignmentIntervalMs: Number(value) };
  },
  standbys: (on, value) => {
    on.settings = { ...on.settings, numStandbyReplicas: Number(value) };
  },
  tags: (on, value) => {
    on.settings = { ...on.settings, rackAwareAssignmentTags: value.split(',') };
  },
  wait: (on, value) => {
    on.coordinator = { ...on.coordinator, assignorAnswerWaitMs: Number(value) };
  },
  handover: (on, value) => {
    on.coordinator = { ...on.coordinator, handoverHeartbeatIntervalMs: Number(value) };
  },
  size: (on, value) => {
    on.coordinator = { ...on.coordinator, maxGroupSize: Number(value) };
  },
  profile: (on, value) => {
    on.behaviour = resolveBehaviour(value === 'kafka' ? 'kafka' : 'kip');
  },
  failures: (on, value) => {
    on.creationFailures = value === '' ? undefined : value;
  },
};

function request(
  player: Player,
  memberId: string,
  named: ReadonlyMap<string, string>,
): HeartbeatRequest {
  const epoch = Number(named.get('epoch'));
  const isJoin = epoch === 0;
  const own = (named.get('own') ?? '-').split('|');
  const isSent = own[0] !== '-';
  const topology = player.topologies.get(Number(named.get('topology') ?? '-1'));
  const endpointEpoch = named.get('iq') ?? String(player.endpointEpochs.get(memberId) ?? 0);
  return {
    groupId: GROUP_ID,
    memberId,
    memberEpoch: epoch,
    endpointInformationEpoch: Number(endpointEpoch),
    instanceId: named.get('instance') ?? null,
    rackId: named.get('rack') ?? null,
    rebalanceTimeoutMs: Number(named.get('timeout') ?? (isJoin ? '60000' : '-1')),
    topology: topology ?? null,
    activeTasks: isSent ? readTasks(own[0] ?? '[]') : null,
    standbyTasks: isSent ? readTasks(own[1] ?? '[]') : null,
    warmupTasks: isSent ? readTasks(own[2] ?? '[]') : null,
    processId: named.get('process') ?? (isJoin ? `p${memberId}` : null),
    userEndpoint: readEndpoint(named.get('endpoint')),
    clientTags: null,
    taskOffsets: null,
    taskEndOffsets: null,
    shutdownApplication: named.get('shutdown') === 'yes',
  };
}

function readEndpoint(text: string | undefined): Endpoint | null {
  if (text === undefined) return null;
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}

function given(named: ReadonlyMap<string, string>): (p: AssignmentProblem) => AssignmentResult {
  return (problem) => ({
    members: problem.members.map(({ memberId }) => {
      const [active = '[]', standby = '[]'] = (named.get(memberId) ?? '[]').split('|');
      return { active: readTasks(active), standby: readTasks(standby) };
    }),
    unassigned: [],
  });
}

/** `A commits in-0,in-1 epoch=3`; the answer names the partitions and what each was told. */
function commit(
  { coordinator }: Player,
  plain: readonly string[],
  named: ReadonlyMap<string, string>,
): readonly string[] {
  const memberId = plain[0] ?? '';
  const partitions = (plain[2] ?? '').split(',').map((word) => ({
    name: word.slice(0, word.lastIndexOf('-')),
    partition: Number(word.slice(word.lastIndexOf('-') + 1)),
  }));
  const topics = [...new Set(partitions.map(({ name }) => name))].map((name) => ({
    name,
    topicId: '',
    partitions: partitions
      .filter((each) => each.name === name)
      .map(({ partition }) => ({ partition, offset: 5n, leaderEpoch: -1, metadata: '' })),
  }));
  const decision = decideCommit(
    coordinator.slotOrNone,
    {
      groupId: GROUP_ID,
      memberId,
      memberEpoch: Number(named.get('epoch')),
      instanceId: null,
      transactional: false,
      apiVersion: 9,
      topics,
    },
    coordinator.context(),
  );
  coordinator.carryOut({ ...decision, reply: { kind: 'answer', value: undefined } });
  if (decision.reply.kind !== 'answer') return [];
  const answers = decision.reply.value.topics.flatMap((topic) =>
    topic.partitions.map(({ partition, error }) => `${topic.name}-${partition}=${error}`),
  );
  return [`${memberId} committed: ${answers.join(' ')}`];
}

function show(player: Player, name: string, outcome: Outcome): readonly string[] {
  const { answer, records, because } = outcome;
  if (because.length > 0) player.because = because;
  const lines: string[] = [];
  if (answer !== undefined) {
    if (answer.error === 'NONE') player.endpointEpochs.set(name, answer.endpointInformationEpoch);
    lines.push(showAnswer(name, answer));
  } else if (name !== '') lines.push(`${name} waits`);
  lines.push(`records: ${records.length === 0 ? 'none' : records.map(showRecord).join(', ')}`);
  const { group } = player.coordinator.slot;
  lines.push(
    group === undefined
      ? 'group: none'
      : `group: ${group.state.toLowerCase()} ${group.groupEpoch}/${group.assignmentEpoch}`,
  );
  return lines;
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
  const isUsual = answer.heartbeatIntervalMs === 5000 || answer.memberEpoch < 0;
  if (!isUsual) words.push(`interval=${answer.heartbeatIntervalMs}`);
  if (answer.partitionsByUserEndpoint !== null && answer.partitionsByUserEndpoint.length > 0) {
    const entries = answer.partitionsByUserEndpoint.map(({ userEndpoint }) => userEndpoint.host);
    words.push(`iq=${answer.endpointInformationEpoch} endpoints=[${entries}]`);
  }
  return words.join(' ');
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
      return `offset ${record.topic}-${record.partition}`;
    case 'currentAssignment': {
      if (record.value === null) return `-current ${record.memberId}`;
      const { memberEpoch, previousMemberEpoch, state, pendingRevocation } = record.value;
      const owes = [pendingRevocation.active, pendingRevocation.standby].map(writeTasks).join('|');
      const words =
        state === 'stable' ? '' : state === 'unrevokedTasks' ? ` owes ${owes}` : ' waiting';
      return `current ${record.memberId} ${memberEpoch}/${previousMemberEpoch}${words}`;
    }
  }
}
