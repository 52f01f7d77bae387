import type {
  AssignedRun,
  AssignorPort,
  GroupWatcher,
  JournalEntry,
  PatternsPort,
  RecordLog,
  RunLookBack,
  RuntimeMetrics,
  TopicsPort,
} from '../../actors/ports.ts';
import { Router } from '../../actors/router.ts';
import { Shards } from '../../actors/shards.ts';
import type { Client, HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import type {
  AssignmentProblem,
  AssignmentResult,
  GroupProblem,
} from '../../machines/model/assignment.ts';
import type { PatternSearch } from '../../machines/model/patterns.ts';
import { type Profile, resolveBehaviour } from '../../machines/model/profile.ts';
import type { CoordinatorSettings, GroupSettings } from '../../machines/model/settings.ts';
import type { TopicMetadata } from '../../machines/model/topics.ts';
import type { CreatableTopic, Topology } from '../../machines/model/topology.ts';
import { KeptLog } from './kept-log.ts';
import { GROUP_SETTINGS } from './lone-coordinator.ts';
import { ManualClock } from './manual-clock.ts';
import { runAssignor } from './run-assignor.ts';
import { searchNames } from './search-names.ts';
import { steadyBeat } from './steady-beat.ts';
import { subtopology, topology } from './topology-samples.ts';

/** Topics that a test makes, grows and deletes by hand. */
export class FakeTopics implements TopicsPort {
  #topics = new Map<string, TopicMetadata>();
  #listeners: ((names: readonly string[]) => void)[] = [];
  #made = 0;
  #version = 0;

  view() {
    const topics = this.#topics;
    return { topic: (name: string) => topics.get(name) };
  }

  onChange(listener: (names: readonly string[]) => void): void {
    this.#listeners.push(listener);
  }

  async ensureKnown(): Promise<boolean> {
    return true;
  }

  async listAll() {
    return this.list();
  }

  list() {
    return { version: this.#version, names: [...this.#topics.keys()].sort() };
  }

  /** A topic with this many partitions; 0 deletes it. */
  set(name: string, partitionCount: number): void {
    const next = new Map(this.#topics);
    if (partitionCount === 0) next.delete(name);
    else {
      const topicId = next.get(name)?.topicId ?? `${String(++this.#made).padStart(21, '0')}A`;
      const racks = Array.from({ length: partitionCount }, () => []);
      next.set(name, { name, topicId, partitionCount, racks });
    }
    this.#topics = next;
    this.#version += 1;
    for (const listener of this.#listeners) listener([name]);
  }
}

/** An assignor whose answers a test may hold back, let go, or turn into failures. */
export class ManualAssignor implements AssignorPort {
  readonly #compute: (problem: AssignmentProblem) => AssignmentResult;
  #held = false;
  #failNext: Error | undefined;
  #waiting: (() => void)[] = [];
  runs = 0;
  /** Groups that it was told are no more. */
  readonly forgotten: string[] = [];
  /** What runs say of themselves. */
  lookBack: RunLookBack | undefined;

  constructor(compute: (problem: AssignmentProblem) => AssignmentResult) {
    this.#compute = compute;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  hold(): void {
    this.#held = true;
  }

  /** Lets the runs that wait finish, and those that follow. */
  release(): void {
    this.#held = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  failNext(error: Error): void {
    this.#failNext = error;
  }

  prepare(): void {}

  forget(groupId: string): void {
    this.forgotten.push(groupId);
  }

  async assign(problem: GroupProblem): Promise<AssignedRun> {
    this.runs++;
    const failure = this.#failNext;
    this.#failNext = undefined;
    if (this.#held) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (failure !== undefined) throw failure;
    const result = runAssignor(this.#compute, problem);
    return this.lookBack === undefined ? result : { ...result, lookBack: this.lookBack };
  }
}

/** Searches topics made by hand; a test may hold results back, or have searches fail. */
export class FakePatterns implements PatternsPort {
  readonly #topics: FakeTopics;
  #waiting: (() => void)[] | undefined;
  /** What was searched for, once for each search. */
  readonly searches: (readonly string[])[] = [];
  failure: string | undefined;

  constructor(topics: FakeTopics) {
    this.#topics = topics;
  }

  hold(): void {
    this.#waiting = [];
  }

  /** Lets the results that wait come back, and those that follow. */
  release(): void {
    for (const go of this.#waiting ?? []) go();
    this.#waiting = undefined;
  }

  async search(patterns: readonly string[]): Promise<PatternSearch> {
    this.searches.push(patterns);
    const found = this.find(patterns);
    if (this.#waiting !== undefined) {
      await new Promise<void>((resolve) => this.#waiting?.push(resolve));
    }
    return found;
  }

  /** What a search would come to now. */
  find(patterns: readonly string[]): PatternSearch {
    if (this.failure !== undefined) return { kind: 'failed', reason: this.failure };
    const { version, names } = this.#topics.list();
    return searchNames(patterns, names, version);
  }
}

const noMetrics: RuntimeMetrics = {
  rebalanced() {},
  offsetsCommitted() {},
  offsetsDeleted() {},
  offsetsExpired() {},
  processed() {},
  committed() {},
  loaded() {},
  assignmentRun() {},
  targetInstalled() {},
  assignorStoodIn() {},
};

export type HarnessOptions = {
  readonly recordLog: RecordLog;
  readonly compute: (problem: AssignmentProblem) => AssignmentResult;
  readonly profile?: Profile;
  readonly settings?: Partial<GroupSettings>;
  readonly coordinator?: Partial<CoordinatorSettings>;
  readonly shardCount?: number;
  readonly mailboxMax?: number;
  readonly clock?: ManualClock;
  readonly topics?: FakeTopics;
  /** Called for each group of each commit, and for each group that a load found. */
  readonly onCommit?: (groupId: string) => void;
};

/** The real shards and router between doubles: a clock that moves when told, topics made by hand, a log with faults. */
export class Harness {
  readonly clock: ManualClock;
  readonly topics: FakeTopics;
  readonly patterns: FakePatterns;
  readonly assignor: ManualAssignor;
  readonly log = new KeptLog();
  readonly journal: JournalEntry[] = [];
  readonly created: (readonly CreatableTopic[])[] = [];
  readonly states: [string, string][] = [];
  readonly shards: Shards;
  readonly router: Router;
  settings: GroupSettings;

  constructor(options: HarnessOptions) {
    this.clock = options.clock ?? new ManualClock();
    this.topics = options.topics ?? new FakeTopics();
    this.patterns = new FakePatterns(this.topics);
    this.assignor = new ManualAssignor(options.compute);
    this.settings = { ...GROUP_SETTINGS, ...options.settings };
    const profile = options.profile ?? 'kip';
    const watcher: GroupWatcher = {
      groupChanged: (groupId, state) => {
        this.states.push([groupId, state]);
        options.onCommit?.(groupId);
      },
    };
    const shared = {
      behaviour: resolveBehaviour(profile),
      coordinator: {
        maxGroupSize: 1000,
        assignorAnswerWaitMs: profile === 'kip' ? 100 : 10_000,
        handoverHeartbeatIntervalMs: profile === 'kip' ? 300 : 0,
        warmupWaitMaxMs: 600_000,
        offsetMetadataMaxBytes: 4096,
        offsetsRetentionMs: 7 * 24 * 3_600_000,
        ...options.coordinator,
      },
      settings: { group: () => this.settings },
      topics: this.topics,
      metrics: noMetrics,
    };
    this.shards = new Shards({
      ...shared,
      clock: this.clock,
      recordLog: options.recordLog,
      assignor: this.assignor,
      patterns: this.patterns,
      topicCreator: {
        create: (topics) => this.created.push(topics),
        failures: () => undefined,
      },
      journal: { write: (entry) => this.journal.push(entry) },
      watcher,
      log: this.log,
      shardCount: options.shardCount ?? 2,
      mailboxMax: options.mailboxMax ?? 10_000,
      assignorRunTimeoutMs: 30_000,
      commitTimeoutMs: 5000,
      hurriedMembersMax: 1000,
      offsetsRetentionCheckMs: 600_000,
    });
    this.router = new Router(this.shards, shared);
  }

  async start(): Promise<this> {
    await this.shards.load();
    return this;
  }

  /** Waits for something that needs turns to end; time stands still. */
  async soon<T>(pending: Promise<T>): Promise<T> {
    const gone = Symbol('gone');
    await this.clock.settle();
    const first = await Promise.race([pending, Promise.resolve(gone)]);
    if (first === gone) throw new Error('Not answered although nothing is left to do');
    return first as T;
  }

  beat(request: HeartbeatRequest, client = someClient): Promise<HeartbeatAnswer> {
    return this.soon(this.router.heartbeat(request, client));
  }
}

export const someClient: Client = { clientId: 'c', clientHost: '/127.0.0.1', apiVersion: 1 };

/** One subtopology that reads `in`. */
const SIMPLE_TOPOLOGY = topology(subtopology('0', { sourceTopics: ['in'] }));

/** A join of a member that lives in a process of its own. */
export function joinBeat(
  groupId: string,
  memberId: string,
  joined: Topology = SIMPLE_TOPOLOGY,
): HeartbeatRequest {
  return {
    ...steadyBeat(groupId, memberId, 0),
    rebalanceTimeoutMs: 60_000,
    topology: joined,
    activeTasks: [],
    standbyTasks: [],
    warmupTasks: [],
    processId: `p${memberId}`,
    clientTags: [],
  };
}
