import { expect } from 'chai';
import { loadShard } from '../../actors/loader.ts';
import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { patternsOf } from '../../machines/decide/resolve-topology.ts';
import type { Group } from '../../machines/model/group.ts';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
import type { TaskList } from '../../machines/model/tasks.ts';
import { LevelLog } from '../../src/store/level-log.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { AppendsLog } from './appends-log.ts';
import { assignDirectly } from './assignment.ts';
import { FaultyLog } from './faulty-log.ts';
import { foldAppends } from './fold-appends.ts';
import { Harness, someClient } from './harness.ts';
import type { LawOptions, Step } from './law-steps.ts';
import { ManualClock } from './manual-clock.ts';
import { plainGroup, slowHolders, slowState } from './plain-group.ts';
import { PlayMember } from './play-member.ts';
import { promptly } from './promptly.ts';
import { restlessAssignor } from './restless-assignor.ts';
import { ToldTasks } from './told-tasks.ts';
import { info, subtopology, topology } from './topology-samples.ts';

const GROUPS = ['g', 'h'] as const;
const PARTITIONS_MAX = 5;
const CALM_ROUNDS = 24;
const ROUND_MS = 2000;
/** What a client is told when it is to ask again, with all it has. */
const PASSING = ['COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR'];
const EXPECTED = ['NONE', 'UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH', 'GROUP_ID_NOT_FOUND'];

/** Two subtopologies, the second with state. */
const TOPOLOGY = topology(
  subtopology('0', { sourceTopics: ['in'] }),
  subtopology('1', { sourceTopics: ['in2'], stateChangelogTopics: [info('changelog')] }),
);

/** The same, found by a pattern that may match a wider topic as well. */
const PATTERN_TOPOLOGY = topology(
  subtopology('0', { sourceTopicRegex: ['in|ext.*'] }),
  subtopology('1', { sourceTopics: ['in2'], stateChangelogTopics: [info('changelog')] }),
);

/** A client of one of the groups; at most one request of it is under way. */
type Player = {
  readonly groupId: string;
  readonly client: PlayMember;
  pending: symbol | undefined;
};

/**
 * Two groups of one shard and their seven members, played over the real actors, with everything that can go wrong on
 * the way. Holds the laws to what comes of it:
 *
 * - no active task has two owners, as the coordinator sees it and as the clients do; and no process two copies of a
 *   task with state, as the clients see it;
 * - at each commit, a group is what the log so far folds to, with all that is derived;
 * - no answer carries an error but those a client can act upon, and nothing breaks inside;
 * - epochs only rise within a group's life;
 * - a load from bytes gives what a load from values gives.
 */
export class LawHistory {
  readonly #options: LawOptions;
  readonly #players: readonly Player[];
  #log = new AppendsLog([]);
  #faulty = new FaultyLog(this.#log);
  #harness: Harness;
  /** The groups as committed, one after the other, since the last start; the first is what was loaded. */
  #lived = new Map<string, (Group | undefined)[]>();
  #partitions = 2;
  #offset = 0n;
  /** What the clients of each group can be running. */
  readonly #told = new Map<string, ToldTasks>();
  /** Answers that no client can act upon. */
  readonly #strange: string[] = [];

  constructor(options: LawOptions) {
    this.#options = options;
    this.#players = ['pA', 'pA', 'pB', 'pB', 'pC', 'pA', 'pB'].map((processId, at) => {
      const groupId = at < 5 ? 'g' : 'h';
      const hasPatterns = groupId === 'h' && options.profile === 'kip';
      const read = hasPatterns ? PATTERN_TOPOLOGY : TOPOLOGY;
      return { groupId, client: new PlayMember(`m${at}`, processId, read), pending: undefined };
    });
    this.#harness = this.#newHarness(new ManualClock());
  }

  async start(): Promise<this> {
    await this.#load();
    return this;
  }

  async play(step: Step): Promise<void> {
    const harness = this.#harness;
    switch (step.kind) {
      case 'beat':
        this.#send(step.who, step.lost, (client) => ({
          ...client.request(step.said),
          // Whoever says what it has also says that its copies are caught up.
          ...client.reports(step.said === 'silent' ? undefined : 0),
        }));
        return;
      case 'join':
        this.#send(step.who, step.lost, (client) => client.join());
        return;
      case 'leave':
        this.#send(step.who, false, (client) => client.leave());
        return;
      case 'commit':
        this.#commit(step.who);
        return;
      case 'delete':
        void harness.router.delete([...GROUPS]);
        return;
      case 'failAppend':
        this.#faulty.failAppend(this.#faulty.called + 1, step.error);
        return;
      case 'holdLog':
        this.#faulty.hold();
        return;
      case 'releaseLog':
        await this.#releaseLog();
        return;
      case 'holdRuns':
        harness.assignor.hold();
        return;
      case 'releaseRuns':
        harness.assignor.release();
        return;
      case 'failRun':
        harness.assignor.failNext(new Error('the thread ended'));
        return;
      case 'standbys':
        harness.settings = { ...harness.settings, numStandbyReplicas: step.count };
        return;
      case 'grow':
        this.#partitions = Math.min(PARTITIONS_MAX, this.#partitions + 1);
        this.#setTopics();
        return;
      case 'extra':
        harness.topics.set('extra', harness.topics.view().topic('extra') ? 0 : PARTITIONS_MAX + 1);
        return;
      case 'holdSearches':
        harness.patterns.hold();
        return;
      case 'releaseSearches':
        this.#releaseSearches();
        return;
      case 'failSearches':
        harness.patterns.failure = 'nobody is there';
        return;
      case 'vanish':
        harness.topics.set('in', 0);
        return;
      case 'turn':
        await harness.clock.settle();
        this.#check();
        return;
      case 'pass':
        await harness.clock.pass(step.ms);
        this.#check();
        return;
      case 'restart':
        await this.#restart();
    }
  }

  /** Nothing goes wrong any more and everybody does as told; in the end every task is with one owner and all is at rest. */
  async calmDown(): Promise<void> {
    await this.#releaseLog();
    this.#harness.assignor.release();
    this.#releaseSearches();
    this.#harness.topics.set('extra', 0);
    this.#setTopics();
    await this.play({ kind: 'pass', ms: 60_000 });
    // Kafka tells a member its tasks once; whoever missed it learns them by joining (X11).
    for (let at = 0; at < this.#players.length; at++) {
      await this.play({ kind: 'join', who: at, lost: false });
    }
    for (let round = 0; round < CALM_ROUNDS; round++) {
      await this.play({ kind: 'turn' });
      for (let at = 0; at < this.#players.length; at++) {
        await this.play({ kind: 'beat', who: at, said: 'told', lost: false });
      }
      await this.play({ kind: 'pass', ms: ROUND_MS });
    }
    for (const groupId of GROUPS) {
      const group = this.#harness.router.view(groupId)?.group;
      expect(group?.state, groupId).to.equal('Stable');
      const players = this.#players.filter((player) => player.groupId === groupId);
      const unanswered = players.filter(({ pending }) => pending !== undefined);
      expect([group?.members.size, unanswered.length]).to.deep.equal([players.length, 0]);
      for (const { client } of players) {
        expect(client.told.warmup, `${client.memberId} is done`).to.deep.equal([]);
      }
      const owned = players.flatMap(({ client }) => keysOf(client.told.active));
      const all = ['0', '1'].flatMap((id) =>
        Array.from({ length: this.#partitions }, (_, partition) => taskKey(id, partition)),
      );
      expect(owned.sort(), `tasks of ${groupId}`).to.deep.equal(all.sort());
    }
    await this.#compareStores();
    this.#compareLived();
  }

  /** What became of appends is heard of before the shard's next turn, as in a process. */
  async #releaseLog(): Promise<void> {
    this.#faulty.release();
    await new Promise((resolve) => setImmediate(resolve));
  }

  #releaseSearches(): void {
    this.#harness.patterns.failure = undefined;
    this.#harness.patterns.release();
  }

  #newHarness(clock: ManualClock): Harness {
    const { profile, delayMs, intervalMs, warmups, restless } = this.#options;
    const mine: Harness = new Harness({
      recordLog: this.#faulty,
      compute: restless ? restlessAssignor() : assignDirectly,
      profile,
      clock,
      shardCount: 1,
      settings: {
        initialRebalanceDelayMs: delayMs,
        assignmentIntervalMs: intervalMs,
        numWarmupReplicas: warmups,
      },
      onCommit: (groupId) => {
        if (mine !== this.#harness) return;
        this.#lived.set(groupId, [
          ...(this.#lived.get(groupId) ?? []),
          mine.router.view(groupId)?.group,
        ]);
      },
    });
    return mine;
  }

  async #load(): Promise<void> {
    const harness = this.#harness;
    this.#setTopics();
    await harness.start();
    for (const groupId of GROUPS) {
      const lived = [harness.router.view(groupId)?.group];
      this.#lived.set(groupId, lived);
    }
  }

  /** The process dies with all that is under way, and another takes over its log. */
  async #restart(): Promise<void> {
    this.#compareLived();
    await this.#log.close();
    const { clock, settings } = this.#harness;
    for (const player of this.#players) player.pending = undefined;
    this.#log = new AppendsLog(this.#log.batches);
    this.#faulty = new FaultyLog(this.#log);
    this.#harness = this.#newHarness(new ManualClock(clock.nowMs()));
    this.#harness.settings = settings;
    await this.#load();
    this.#check();
  }

  #setTopics(): void {
    for (const name of ['in', 'in2', 'changelog']) this.#harness.topics.set(name, this.#partitions);
  }

  #send(who: number, lost: boolean, request: (client: PlayMember) => HeartbeatRequest): void {
    const player = this.#players[who];
    if (player === undefined || player.pending !== undefined) return;
    const { client, groupId } = player;
    const mine = Symbol(client.memberId);
    player.pending = mine;
    const said = request(client);
    const patterns = said.topology === null ? [] : patternsOf(said.topology);
    const patternSearch = patterns.length === 0 ? undefined : this.#harness.patterns.find(patterns);
    const sent = { ...said, groupId, patternSearch };
    // What an honest client does not report is not running any more, whatever becomes of the request.
    this.#toldIn(groupId).heard(sent);
    void this.#harness.router.heartbeat(sent, someClient).then((answer) => {
      // The process it asked is dead.
      if (player.pending !== mine) return;
      player.pending = undefined;
      this.#toldIn(groupId).told(answer);
      this.#read(client, answer, lost);
    });
  }

  #toldIn(groupId: string): ToldTasks {
    const told = this.#told.get(groupId) ?? new ToldTasks();
    this.#told.set(groupId, told);
    return told;
  }

  #read(client: PlayMember, answer: HeartbeatAnswer, lost: boolean): void {
    const { error } = answer;
    if (PASSING.includes(error)) return;
    if (!EXPECTED.includes(error)) {
      this.#strange.push(`${client.memberId}: ${error}: ${answer.errorMessage}`);
    }
    const lists = [answer.activeTasks, answer.standbyTasks, answer.warmupTasks];
    if (new Set(lists.map((list) => list === null)).size > 1) {
      this.#strange.push(`${client.memberId}: some lists are null, some not (RSP-4)`);
    }
    if (!lost) client.read(answer);
  }

  /** Commits an offset of a task it runs. */
  #commit(who: number): void {
    const player = this.#players[who];
    const [task] = player?.client.runs.active ?? [];
    if (player === undefined || task === undefined) return;
    void this.#harness.router.commit({
      groupId: player.groupId,
      memberId: player.client.memberId,
      memberEpoch: player.client.epoch,
      instanceId: null,
      transactional: false,
      apiVersion: 9,
      topics: [
        {
          name: task.subtopologyId === '0' ? 'in' : 'in2',
          topicId: 'AAAAAAAAAAAAAAAAAAAAAA',
          partitions: [
            {
              partition: task.partitions[0] ?? 0,
              offset: ++this.#offset,
              leaderEpoch: -1,
              metadata: '',
            },
          ],
        },
      ],
    });
  }

  #check(): void {
    expect(this.#strange).to.deep.equal([]);
    const broken = this.#harness.log.lines.filter(
      ({ level, text }) => level === 'error' && !/^Records /.test(text),
    );
    expect(broken).to.deep.equal([]);
    for (const groupId of GROUPS) {
      const group = this.#harness.router.view(groupId)?.group;
      expect(this.#toldIn(groupId).violations(group), groupId).to.deep.equal([]);
      if (group === undefined) continue;
      expect(group.state).to.equal(slowState(group));
      for (const [task, members] of slowHolders(group).active) {
        expect(members, `owners of ${task} in ${groupId}`).to.have.length(1);
      }
    }
  }

  /** What the log folds to, append by append, is what was lived, commit by commit. */
  #compareLived(): void {
    for (const [groupId, groups] of foldAppends(GROUPS, this.#log)) {
      // A dead process may not have noticed its last appends.
      const lived = this.#lived.get(groupId) ?? [];
      expect(groups.length, `commits of ${groupId}`).to.be.at.least(lived.length);
      lived.forEach((group, at) => {
        expect(plainGroup(group), `${groupId}, commit ${at}`).to.deep.equal(plainGroup(groups[at]));
      });
    }
  }

  /** A store of bytes gives back what a log of values does. */
  async #compareStores(): Promise<void> {
    const levelLog = new LevelLog(new MemoryKeyValues(), promptly);
    for (const append of this.#log.batches) await levelLog.append([append]);
    const [fromBytes, fromValues] = await Promise.all(
      [levelLog, new MemoryLog(this.#log.batches)].map(async (recordLog) => {
        let incarnations = 0;
        const { log } = this.#harness;
        const slots = await loadShard(0, { recordLog, log, nextIncarnation: () => ++incarnations });
        return [...slots.values()]
          .sort((a, b) => (a.groupId < b.groupId ? -1 : 1))
          .map(({ group, offsets }) => [plainGroup(group), [...offsets].sort()]);
      }),
    );
    expect(fromBytes).to.deep.equal(fromValues);
  }
}

function keysOf(tasks: TaskList): string[] {
  const keys: string[] = [];
  forEachTask(tasks, (subtopologyId, partition) => keys.push(taskKey(subtopologyId, partition)));
  return keys;
}
