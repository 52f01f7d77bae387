import { expect } from 'chai';
import { apply } from '../../machines/apply.ts';
import type { Client, HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { refusedAnswer } from '../../machines/decide/answer.ts';
import { decideHeartbeat } from '../../machines/decide/heartbeat.ts';
import { decideLoaded } from '../../machines/decide/loaded.ts';
import { decideSearch, decideSearchOver } from '../../machines/decide/patterns.ts';
import { hasPatterns, patternsOf } from '../../machines/decide/resolve-topology.ts';
import { decideRunOver, decideWaitOver } from '../../machines/decide/target.ts';
import {
  decideInitialDelayOver,
  decideRebalanceExpired,
  decideSessionExpired,
} from '../../machines/decide/timeouts.ts';
import { topicsChanged } from '../../machines/decide/topics-changed.ts';
import type {
  AssignmentRun,
  Context,
  Effect,
  GroupDecision,
  GroupSlot,
  HeldHeartbeat,
} from '../../machines/decision.ts';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { emptySlot, newSoft } from '../../machines/model/empty.ts';
import type { PatternSearch } from '../../machines/model/patterns.ts';
import type { Behaviour } from '../../machines/model/profile.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import type { CoordinatorSettings, GroupSettings } from '../../machines/model/settings.ts';
import type { TopicMetadata, TopicsView } from '../../machines/model/topics.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { plainGroup } from './plain-group.ts';
import { runAssignor } from './run-assignor.ts';
import { searchNames } from './search-names.ts';

export const GROUP_ID = 'g';

/** How long a search for patterns takes. */
const SEARCH_MS = 1;

/** Computes an assignment at once, in a test. */
export type TestAssignor = (problem: AssignmentProblem) => AssignmentResult;

/** The settings of the worked examples: no delay, no interval, no standbys. */
export const GROUP_SETTINGS: GroupSettings = {
  sessionTimeoutMs: 45_000,
  heartbeatIntervalMs: 5_000,
  numStandbyReplicas: 0,
  numWarmupReplicas: 0,
  acceptableRecoveryLag: 10_000n,
  taskOffsetIntervalMs: 60_000,
  initialRebalanceDelayMs: 0,
  assignmentIntervalMs: 0,
  rackAwareAssignmentTags: [],
  assignorName: 'sticky',
  assignorSelected: false,
};

export const COORDINATOR_SETTINGS: CoordinatorSettings = {
  maxGroupSize: 2 ** 31 - 1,
  assignorAnswerWaitMs: 100,
  handoverHeartbeatIntervalMs: 0,
  warmupWaitMaxMs: 600_000,
  offsetMetadataMaxBytes: 4096,
  offsetsRetentionMs: 7 * 24 * 3600 * 1000,
};

/** What one step of a {@link LoneCoordinator} did. */
export type Outcome = {
  /** Undefined: nobody was answered, or the answer still waits. */
  readonly answer: HeartbeatAnswer | undefined;
  readonly records: readonly GroupRecord[];
  readonly because: readonly string[];
};

/**
 * Decisions about one group, carried out at once and one after the other: what a shard does without its mailbox,
 * disk and threads. Time stands still until {@link advance}. A run of the assignor ends at once unless it is held.
 */
export class LoneCoordinator {
  slot: GroupSlot = emptySlot(GROUP_ID);
  nowMs = 10_000;
  settings: GroupSettings = GROUP_SETTINGS;
  coordinator: CoordinatorSettings = COORDINATOR_SETTINGS;
  behaviour: Behaviour = resolveBehaviour('kip');
  assignor: TestAssignor;
  /** Runs started from now on do not end by themselves. */
  holdRuns = false;
  creationFailures: string | undefined;
  mayHurry = true;
  /** Searches for patterns fail with this reason. */
  searchFailure: string | undefined;
  readonly log: GroupRecord[] = [];
  readonly createdTopics: string[] = [];
  readonly heldRuns: AssignmentRun[] = [];
  readonly #topics = new Map<string, TopicMetadata>();
  readonly #timers = new Map<string, { readonly atMs: number; readonly fire: () => void }>();
  readonly #parked = new Map<number, HeldHeartbeat>();
  #incarnation = 0;
  #topicsVersion = 0;
  #outcome: { answer: HeartbeatAnswer | undefined; records: GroupRecord[]; because: string[] } = {
    answer: undefined,
    records: [],
    because: [],
  };

  constructor(assignor: TestAssignor) {
    this.assignor = assignor;
  }

  get timers(): readonly string[] {
    return [...this.#timers.keys()].sort();
  }

  heartbeat(request: HeartbeatRequest, client: Client): Outcome {
    return this.#step(() => {
      try {
        const asked = this.#withSearch(request);
        const decision = decideHeartbeat(this.slotOrNone, asked, client, this.context());
        this.#carryOut(decision);
      } catch (refusal) {
        if (!(refusal instanceof Refusal)) throw refusal;
        this.#outcome.answer = refusedAnswer(refusal.error, refusal.text);
      }
      this.#endOrphanedWaits();
    });
  }

  /** Lets time pass; timers that are due fire in order, each at its own time. */
  advance(ms: number): Outcome {
    return this.#step(() => {
      const untilMs = this.nowMs + ms;
      for (;;) {
        const due = [...this.#timers].sort(([, a], [, b]) => a.atMs - b.atMs)[0];
        if (due === undefined || due[1].atMs > untilMs) break;
        this.nowMs = Math.max(this.nowMs, due[1].atMs);
        this.#timers.delete(due[0]);
        due[1].fire();
      }
      this.nowMs = untilMs;
    });
  }

  setTopic(name: string, partitionCount: number): void {
    if (partitionCount === 0) this.#topics.delete(name);
    else {
      const racks = Array.from({ length: partitionCount }, () => []);
      const topicId = `${name}-id`.padEnd(22, '_').slice(0, 22);
      this.#topics.set(name, { name, topicId, partitionCount, racks });
    }
    this.#topicsVersion++;
    const soft = topicsChanged(this.slot, new Set([name]));
    if (soft === undefined) return;
    this.slot = { ...this.slot, soft };
    const decision = soft.patterns.due ? decideSearch(this.slot, this.context()) : undefined;
    if (decision !== undefined) this.#carryOut(decision);
  }

  /** What a search for patterns finds now, with the patterns of JavaScript. */
  search(patterns: readonly string[]): PatternSearch {
    if (this.searchFailure !== undefined) return { kind: 'failed', reason: this.searchFailure };
    return searchNames(patterns, this.#topics.keys(), this.#topicsVersion);
  }

  /** The request as the edge hands it over: with what its patterns stand for. */
  #withSearch(request: HeartbeatRequest): HeartbeatRequest {
    const { topology } = request;
    const isSearched = request.patternSearch !== undefined;
    if (topology === null || !hasPatterns(topology) || isSearched) return request;
    if (!this.behaviour.resolveSourceTopicRegex) return request;
    return { ...request, patternSearch: this.search(patternsOf(topology)) };
  }

  /** A timer fires now, whenever it is due. */
  fire(key: string): Outcome {
    return this.#step(() => {
      const timer = this.#timers.get(key);
      this.#timers.delete(key);
      timer?.fire();
    });
  }

  /** A held run, the oldest unless said otherwise, ends as the assignor has it. */
  release(at = 0): Outcome {
    return this.#step(() => {
      const [run] = this.heldRuns.splice(at, 1);
      if (run !== undefined) this.#endRun(run);
    });
  }

  /** A held run, the oldest unless said otherwise, fails. */
  fail(reason: string, at = 0): Outcome {
    return this.#step(() => {
      const [run] = this.heldRuns.splice(at, 1);
      if (run === undefined) return;
      const { incarnation } = run;
      this.#runOver({ kind: 'failed', incarnation, run: run.run, reason });
    });
  }

  /** Every answer that waits has waited long enough. */
  endWaits(): Outcome {
    return this.#step(() => {
      for (const held of [...this.#parked.values()]) this.#endWait(held);
    });
  }

  /** A new coordinator reads the log; runs of the old one are still out. */
  failOver(): Outcome {
    return this.#step(() => {
      this.#timers.clear();
      this.#parked.clear();
      this.#incarnation++;
      const loaded = this.log.reduce(apply, emptySlot(GROUP_ID));
      this.slot = { ...loaded, soft: newSoft(this.#incarnation) };
      for (const effect of decideLoaded(this.slot, this.context())) this.#perform(effect);
    });
  }

  /** Remembers everything as it is now. @returns what brings it back, as often as wanted. */
  keep(): () => void {
    const { slot, nowMs } = this;
    const log = [...this.log];
    const heldRuns = [...this.heldRuns];
    const timers = [...this.#timers];
    const parked = [...this.#parked];
    return () => {
      this.slot = slot;
      this.nowMs = nowMs;
      this.log.splice(0, this.log.length, ...log);
      this.heldRuns.splice(0, this.heldRuns.length, ...heldRuns);
      this.#timers.clear();
      for (const [key, timer] of timers) this.#timers.set(key, timer);
      this.#parked.clear();
      for (const [run, held] of parked) this.#parked.set(run, held);
    };
  }

  /** Carries out the decision of some other command, as a shard would. */
  carryOut<T>(decision: GroupDecision<T>): Outcome {
    return this.#step(() => this.#carryOut(decision as GroupDecision<never>));
  }

  context(): Context {
    const topics: TopicsView = { topic: (name) => this.#topics.get(name) };
    return {
      nowMs: this.nowMs,
      settings: this.settings,
      coordinator: this.coordinator,
      behaviour: this.behaviour,
      topics,
      freshIncarnation: this.#incarnation + 1,
      mayHurry: this.mayHurry,
      creationFailures: () => this.creationFailures,
    };
  }

  get slotOrNone(): GroupSlot | undefined {
    const { group, offsets } = this.slot;
    return group === undefined && offsets.size === 0 ? undefined : this.slot;
  }

  #step(work: () => void): Outcome {
    this.#outcome = { answer: undefined, records: [], because: [] };
    work();
    return this.#outcome;
  }

  #carryOut(decision: GroupDecision<HeartbeatAnswer | undefined>): void {
    const { records, folded, soft, reply, effects, because } = decision;
    const after = records.reduce(apply, this.slot);
    // What a decision folded itself is what its records give to whoever replays them.
    if (folded !== undefined && records.length > 0) {
      expect(plainGroup(folded.group)).to.deep.equal(plainGroup(after.group));
      expect([...folded.offsets]).to.deep.equal([...after.offsets]);
    }
    this.slot = { ...after, soft };
    this.#incarnation = Math.max(this.#incarnation, soft.incarnation);
    this.log.push(...records);
    this.#outcome.records.push(...records);
    this.#outcome.because.push(...because);
    if (reply.kind === 'held') this.#parked.set(reply.held.run, reply.held);
    else if (reply.value !== undefined) this.#outcome.answer = reply.value;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'armSession':
        this.#arm(`session ${effect.memberId}`, effect.delayMs, () =>
          decideSessionExpired(this.slotOrNone, effect.memberId, this.context()),
        );
        return;
      case 'armRebalance':
        this.#arm(`rebalance ${effect.memberId}`, effect.delayMs, () =>
          decideRebalanceExpired(
            this.slotOrNone,
            effect.memberId,
            effect.memberEpoch,
            this.context(),
          ),
        );
        return;
      case 'armInitialDelay':
        this.#arm('initial delay', effect.delayMs, () =>
          decideInitialDelayOver(this.slotOrNone, this.context()),
        );
        return;
      case 'cancelRebalance':
        this.#timers.delete(`rebalance ${effect.memberId}`);
        return;
      case 'cancelMember':
        this.#timers.delete(`rebalance ${effect.memberId}`);
        this.#timers.delete(`session ${effect.memberId}`);
        return;
      case 'cancelInitialDelay':
        this.#timers.delete('initial delay');
        return;
      case 'createTopics':
        this.createdTopics.push(
          ...effect.topics.map(({ name, partitions }) => `${name}:${partitions}`),
        );
        return;
      case 'searchTopics':
        this.#arm('search', SEARCH_MS, () => {
          const { incarnation, topologyEpoch, patterns } = effect.query;
          const outcome = { incarnation, topologyEpoch, search: this.search(patterns) };
          return decideSearchOver(this.slotOrNone, outcome, this.context());
        });
        return;
      case 'startRun':
        if (this.holdRuns) this.heldRuns.push(effect.run);
        else this.#endRun(effect.run);
        return;
    }
  }

  #arm(key: string, delayMs: number, decide: () => GroupDecision<undefined> | undefined): void {
    const fire = () => {
      const decision = decide();
      if (decision !== undefined) this.#carryOut(decision);
      this.#endOrphanedWaits();
    };
    this.#timers.set(key, { atMs: this.nowMs + delayMs, fire });
  }

  #endRun({ incarnation, run, groupEpoch, problem }: AssignmentRun): void {
    const result = runAssignor(this.assignor, problem);
    this.#runOver({ kind: 'assigned', incarnation, run, groupEpoch, problem, result });
  }

  #runOver(outcome: Parameters<typeof decideRunOver>[1]): void {
    const isOurs = outcome.incarnation === this.slot.soft.incarnation;
    const held = isOurs ? this.#parked.get(outcome.run) : undefined;
    if (held !== undefined) this.#parked.delete(outcome.run);
    this.#carryOut(decideRunOver(this.slotOrNone, outcome, held, this.context()));
  }

  #endWait(held: HeldHeartbeat): void {
    this.#parked.delete(held.run);
    this.#carryOut(decideWaitOver(this.slotOrNone, held, this.context()));
  }

  /** A member that is gone waits for nothing. Its answer is lost here: the step's own answer is the one to show. */
  #endOrphanedWaits(): void {
    for (const held of [...this.#parked.values()]) {
      if (this.slot.group?.members.has(held.request.memberId) === true) continue;
      const { answer } = this.#outcome;
      this.#endWait(held);
      this.#outcome.answer = answer;
    }
  }
}
