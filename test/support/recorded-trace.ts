import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HeartbeatRequest } from '../../machines/commands.ts';
import { describeGroup, describeMissing } from '../../machines/decide/describe.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import type { TaskIds } from '../../machines/model/tasks.ts';
import type { Subtopology, Topology } from '../../machines/model/topology.ts';
import { GROUP_ID, GROUP_SETTINGS, LoneCoordinator } from './lone-coordinator.ts';
import { DEFAULTS, SETTINGS } from './recorded-settings.ts';
import { ERROR_CODES, exactOffsets, onTheWire, plain } from './recorded-wire.ts';
import { stickyAssignor } from './sticky-assignor.ts';

/** A trace recorded from a real coordinator; `test/recorded/README.md` says what its fields mean. */
export type RecordedTrace = {
  readonly name: string;
  readonly title: string;
  readonly defect?: string;
  readonly upstream?: boolean;
  readonly broker?: Fields;
  readonly groupConfigs?: Fields;
  readonly topics?: Readonly<Record<string, number>>;
  readonly topologies?: Readonly<Record<string, Partial<Topology>>>;
  readonly members?: Readonly<Record<string, Fields>>;
  readonly steps: readonly Step[];
};

type Fields = Readonly<Record<string, unknown>>;
type Step = Fields & { readonly do: string; readonly answer?: unknown };
type Body = Record<string, unknown>;

/** The words that answers are compared in; shared with the check over the wire. */
type Answers = {
  shortHeartbeat(body: Body, memberId: unknown, version: number): Body;
  shortDescribed(group: Body, version: number): Body;
  normalise(value: unknown, names: { hide(text: string): string }): Body;
  longTasks(tasks: unknown): readonly TaskIds[] | null;
  shortTasks(tasks: unknown): Body;
  differences(expected: unknown, got: unknown, options: object): readonly object[];
};

const PLAYABLE = new Set([
  ...['join', 'beat', 'ack', 'leave', 'settle', 'describe', 'sleep', 'close', 'restart', 'kill'],
  ...['createTopics', 'createPartitions', 'deleteTopics', 'alterConfig'],
]);

/** What is judged before a request becomes a command. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'topology-illegal-names': 'names are judged at the edge (A-3, A-4)',
  'topology-internal-names': 'names are judged at the edge (A-3, A-4)',
};

/** Why decisions alone cannot play a trace yet; undefined if they can. */
export function reasonToSkip(trace: RecordedTrace): string | undefined {
  if (trace.defect !== undefined) return 'shows a defect';
  if (trace.upstream === true) return 'needs an upstream cluster';
  if (ELSEWHERE[trace.name] !== undefined) return ELSEWHERE[trace.name];
  const other = trace.steps.find((step) => !PLAYABLE.has(step.do));
  if (other !== undefined) return `has a step ${other.do}`;
  if (trace.steps.some(({ group, groups }) => group !== undefined || groups !== undefined)) {
    return 'is about several groups';
  }
  return undefined;
}

/** Plays a trace on decisions alone, in profile kafka. @returns every difference, named by its step; none is right. */
export async function playRecorded(trace: RecordedTrace): Promise<readonly string[]> {
  const path = join(process.cwd(), 'test', 'recorded', 'runner', 'answers.mjs');
  const answers = (await import(pathToFileURL(path).href)) as Answers;
  return new RecordedPlay(trace, answers).play();
}

type PlayedMember = {
  readonly alias: string;
  readonly fields: Fields;
  epoch: number;
  endpointEpoch: number;
  owned: Body;
  joined: boolean;
  unacknowledged: boolean;
};

const NO_LISTS = { activeTasks: {}, standbyTasks: {}, warmupTasks: {} };
const ROLES = ['activeTasks', 'standbyTasks', 'warmupTasks'] as const;

class RecordedPlay {
  readonly #trace: RecordedTrace;
  readonly #answers: Answers;
  readonly #coordinator = new LoneCoordinator(stickyAssignor);
  readonly #members = new Map<string, PlayedMember>();
  readonly #names: { hide(text: string): string };

  constructor(trace: RecordedTrace, answers: Answers) {
    this.#trace = trace;
    this.#answers = answers;
    this.#names = { hide: (text) => (text === GROUP_ID ? '{group}' : text) };
    const coordinator = this.#coordinator;
    coordinator.behaviour = resolveBehaviour('kafka');
    coordinator.settings = {
      ...GROUP_SETTINGS,
      initialRebalanceDelayMs: 3000,
      assignmentIntervalMs: 1000,
    };
    this.#configure(trace.broker ?? {}, 'group.streams.');
    this.#configure(trace.groupConfigs ?? {}, 'streams.');
    this.#setTopics(trace.topics ?? {});
  }

  play(): readonly string[] {
    const found: string[] = [];
    this.#trace.steps.forEach((step, at) => {
      const got = this.#step(step);
      this.#makeTopics();
      if (step.answer === undefined || got === undefined) return;
      const countTasks = step['compareTasks'] === 'counts';
      const options = { countTasks, exactMessage: false };
      for (const each of this.#answers.differences(step.answer, got, options)) {
        found.push(`${at + 1} ${step.do} ${step['as'] ?? ''}: ${JSON.stringify(each)}`);
      }
    });
    return found;
  }

  #step(step: Step): unknown {
    switch (step.do) {
      case 'join':
      case 'beat':
      case 'ack':
      case 'leave':
        return this.#repeat(step, () => this.#heartbeat(step.do, step));
      case 'describe':
        return this.#repeat(step, () => this.#describe(step));
      case 'settle':
        return this.#settle(step);
      case 'sleep':
        this.#coordinator.advance(Number(step['ms']));
        return undefined;
      case 'restart':
      case 'kill':
        this.#coordinator.failOver();
        return undefined;
      case 'createTopics':
      case 'createPartitions':
        this.#setTopics(step['topics'] as Record<string, number>);
        return undefined;
      case 'deleteTopics':
        for (const name of step['topics'] as string[]) this.#coordinator.setTopic(`{${name}}`, 0);
        return undefined;
      case 'alterConfig':
        this.#alter(step);
        return undefined;
      default:
        return undefined;
    }
  }

  /** Plays a step again, as time goes by, until the condition it waits for holds. */
  #repeat(step: Step, once: () => { readonly short: Body; readonly full: Body }): Body {
    const until = step['until'] as Fields | undefined;
    for (let passedMs = 0; ; passedMs += 100) {
      const { short, full } = once();
      if (until === undefined || passedMs > 8000 || holds(until, full)) return short;
      this.#coordinator.advance(100);
    }
  }

  #member(alias: string): PlayedMember {
    const known = this.#members.get(alias);
    if (known !== undefined) return known;
    const fields = { ...this.#trace.members?.[alias] };
    const made: PlayedMember = {
      alias,
      fields,
      epoch: 0,
      endpointEpoch: fields['iq'] === true ? -1 : 0,
      owned: { ...NO_LISTS },
      joined: false,
      unacknowledged: false,
    };
    this.#members.set(alias, made);
    return made;
  }

  #heartbeat(kind: string, step: Fields): { readonly short: Body; readonly full: Body } {
    const member = this.#member(String(step['as']));
    if (kind === 'join') member.owned = { ...NO_LISTS };
    const version = Number(step['version'] ?? member.fields['version'] ?? 1);
    const body = this.#body(kind, member, step);
    const clientId = String(member.fields['clientId'] ?? `client-${member.alias}`);
    const client = { clientId, clientHost: '/127.0.0.1', apiVersion: version };
    const { answer } = this.#coordinator.heartbeat(body, client);
    if (answer === undefined) throw new Error('The answer waits');
    const full = this.#answers.normalise(onTheWire(answer, version), this.#names);
    if (step['lose'] !== true) this.#heed(member, kind, full);
    return { short: this.#answers.shortHeartbeat(full, body.memberId, version), full };
  }

  #body(kind: string, member: PlayedMember, step: Fields): HeartbeatRequest {
    const { fields } = member;
    const isJoin = kind === 'join';
    const body: Body = {
      groupId: GROUP_ID,
      memberId: fields['memberId'] ?? member.alias,
      memberEpoch: isJoin ? 0 : kind === 'leave' ? -1 : member.epoch,
      endpointInformationEpoch: member.endpointEpoch,
      instanceId: fields['instanceId'] ?? null,
      rackId: isJoin ? (fields['rackId'] ?? null) : null,
      rebalanceTimeoutMs: isJoin ? (fields['rebalanceTimeoutMs'] ?? 60_000) : -1,
      topology: isJoin ? (fields['topology'] ?? 'default') : null,
      activeTasks: isJoin ? {} : null,
      standbyTasks: isJoin ? {} : null,
      warmupTasks: isJoin ? {} : null,
      processId: isJoin ? (fields['processId'] ?? `p${member.alias}`) : null,
      userEndpoint: isJoin ? (fields['userEndpoint'] ?? null) : null,
      clientTags: isJoin ? (fields['clientTags'] ?? null) : null,
      taskOffsets: null,
      taskEndOffsets: null,
      shutdownApplication: false,
      ...(kind === 'ack' ? member.owned : {}),
      ...(step['send'] as Body | undefined),
    };
    for (const role of ROLES) body[role] = this.#answers.longTasks(body[role]);
    for (const list of ['taskOffsets', 'taskEndOffsets']) body[list] = exactOffsets(body[list]);
    body['topology'] = this.#topology(body['topology']);
    return body as unknown as HeartbeatRequest;
  }

  #topology(given: unknown): Topology | null {
    if (given === null) return null;
    const named = typeof given === 'string' ? this.#trace.topologies?.[given] : (given as Topology);
    const { epoch = 0, subtopologies = [{ subtopologyId: '0', sourceTopics: ['{in}'] }] } =
      named ?? {};
    return { epoch, subtopologies: subtopologies.map((each) => whole(each)) };
  }

  #heed(member: PlayedMember, kind: string, answer: Body): void {
    if (answer['errorCode'] !== 0) return;
    member.epoch = Number(answer['memberEpoch']);
    member.joined = member.epoch >= 0;
    if (!member.joined) return;
    if (member.fields['iq'] === true) {
      member.endpointEpoch = Number(answer['endpointInformationEpoch']);
    }
    if (kind === 'ack') member.unacknowledged = false;
    if (answer['activeTasks'] === null) return;
    for (const role of ROLES) member.owned[role] = this.#answers.shortTasks(answer[role] ?? []);
    member.unacknowledged = true;
  }

  #settle(step: Step): Body {
    const joined = [...this.#members.values()].filter((member) => member.joined);
    const aliases = (step['members'] as string[] | undefined) ?? joined.map(({ alias }) => alias);
    const errors = new Map<string, unknown>();
    for (let calm = 0, round = 0; calm < 2 && round < 200; round++) {
      let changed = false;
      for (const alias of aliases) {
        const member = this.#member(alias);
        const before = member.epoch;
        const kind = member.unacknowledged ? 'ack' : 'beat';
        const { full } = this.#heartbeat(kind, { as: alias });
        errors.set(alias, full['errorCode']);
        const delayed = JSON.stringify(full['status'] ?? []).includes('"statusCode":5');
        changed ||=
          full['errorCode'] === 0 && (member.epoch !== before || member.unacknowledged || delayed);
      }
      calm = changed ? 0 : calm + 1;
      this.#makeTopics();
      this.#coordinator.advance(50);
    }
    const members: Body = {};
    for (const alias of aliases) {
      const { epoch, owned } = this.#member(alias);
      const errorCode = errors.get(alias);
      members[alias] = errorCode === 0 ? { memberEpoch: epoch, ...owned } : { errorCode };
    }
    return { members };
  }

  #describe(step: Step): { readonly short: Body; readonly full: Body } {
    const version = Number(step['version'] ?? 1);
    const { slotOrNone, behaviour, settings } = this.#coordinator;
    const { error, ...described } =
      slotOrNone?.group === undefined
        ? describeMissing(GROUP_ID)
        : describeGroup(slotOrNone, { behaviour, settings });
    const body: Body = {
      errorCode: ERROR_CODES[error],
      ...described,
      authorizedOperations: -2_147_483_648,
      ...(version >= 1 ? { topologyDescription: null, topologyDescriptionStatus: 0 } : {}),
    };
    if (version < 1) delete body['assignorName'];
    const full = this.#answers.normalise(plain(body), this.#names);
    return { short: this.#answers.shortDescribed(full, version), full };
  }

  #alter(step: Step): void {
    const isBroker = step['broker'] === true;
    this.#configure((step['set'] ?? {}) as Fields, isBroker ? 'group.streams.' : 'streams.');
    for (const name of (step['unset'] ?? []) as string[]) {
      const broker = this.#trace.broker?.[`group.${name}`];
      this.#configure({ [name]: broker ?? DEFAULTS[name.replace('streams.', '')] }, 'streams.');
    }
  }

  #configure(configs: Fields, prefix: string): void {
    const coordinator = this.#coordinator;
    for (const [name, value] of Object.entries(configs)) {
      if (!name.startsWith(prefix)) continue;
      const short = name.slice(prefix.length);
      if (short === 'max.size') {
        coordinator.coordinator = { ...coordinator.coordinator, maxGroupSize: Number(value) };
      }
      const change = SETTINGS[short]?.(String(value));
      if (change !== undefined) coordinator.settings = { ...coordinator.settings, ...change };
    }
  }

  #setTopics(topics: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(topics)) {
      this.#coordinator.setTopic(`{${name}}`, count);
    }
  }

  /** Topics that the coordinator asked for are there by the next step. */
  #makeTopics(): void {
    for (const asked of this.#coordinator.createdTopics.splice(0)) {
      const at = asked.lastIndexOf(':');
      this.#coordinator.setTopic(asked.slice(0, at), Number(asked.slice(at + 1)));
    }
  }
}

function holds(until: Fields, full: Body): boolean {
  const statuses = ((full['status'] ?? []) as { statusCode: number }[]).map((s) => s.statusCode);
  return Object.entries(until).every(([key, value]) => {
    if (key === 'told') return (full['activeTasks'] !== null) === value;
    if (key === 'hasStatus') return statuses.includes(Number(value));
    if (key === 'noStatus') return !statuses.includes(Number(value));
    return full[key] === value;
  });
}

function whole(given: Partial<Subtopology>): Subtopology {
  const topics = (list: readonly Partial<Subtopology['stateChangelogTopics'][number]>[] = []) =>
    list.map(({ name = '', partitions = 0, replicationFactor = 0, topicConfigs = [] }) => ({
      name,
      partitions,
      replicationFactor,
      topicConfigs,
    }));
  return {
    subtopologyId: given.subtopologyId ?? '',
    sourceTopics: given.sourceTopics ?? [],
    sourceTopicRegex: given.sourceTopicRegex ?? [],
    stateChangelogTopics: topics(given.stateChangelogTopics),
    repartitionSinkTopics: given.repartitionSinkTopics ?? [],
    repartitionSourceTopics: topics(given.repartitionSourceTopics),
    copartitionGroups: (given.copartitionGroups ?? []).map((group) => ({
      sourceTopics: group.sourceTopics ?? [],
      sourceTopicRegex: group.sourceTopicRegex ?? [],
      repartitionSourceTopics: group.repartitionSourceTopics ?? [],
    })),
  };
}
