import type { Effect } from '../machines/decision.ts';
import type { PatternQuery, PatternSearch, SearchOutcome } from '../machines/model/patterns.ts';
import { unreachable } from '../machines/model/refusal.ts';
import type { Jobs, RunOver } from './jobs.ts';
import type { PatternsPort, TopicCreatorPort } from './ports.ts';
import { reasonOf } from './reason-of.ts';
import { delayKey, rebalanceKey, sessionKey } from './shard-timers.ts';
import type { TimerPurpose } from './timer-purpose.ts';
import type { Timers } from './timers.ts';

/** Carries out what a decision asks for beside records and replies: timers, runs, searches, topics. */
export class Effects {
  readonly #timers: Timers<TimerPurpose>;
  readonly #jobs: Jobs;
  readonly #topicCreator: TopicCreatorPort;
  readonly #patterns: PatternsPort;
  readonly #runOver: (groupId: string, ...over: Parameters<RunOver>) => void;
  readonly #searchOver: (groupId: string, outcome: SearchOutcome) => void;

  constructor(parts: {
    timers: Timers<TimerPurpose>;
    jobs: Jobs;
    topicCreator: TopicCreatorPort;
    patterns: PatternsPort;
    runOver: (groupId: string, ...over: Parameters<RunOver>) => void;
    searchOver: (groupId: string, outcome: SearchOutcome) => void;
  }) {
    this.#timers = parts.timers;
    this.#jobs = parts.jobs;
    this.#topicCreator = parts.topicCreator;
    this.#patterns = parts.patterns;
    this.#runOver = parts.runOver;
    this.#searchOver = parts.searchOver;
  }

  carryOut(groupId: string, effect: Effect): void {
    const timers = this.#timers;
    switch (effect.type) {
      case 'armSession': {
        const { memberId } = effect;
        const key = sessionKey(groupId, memberId);
        if (timers.move(key, effect.delayMs)) return;
        timers.arm(key, effect.delayMs, { type: 'session', groupId, memberId });
        return;
      }
      case 'armRebalance': {
        const { memberId, memberEpoch } = effect;
        const key = rebalanceKey(groupId, memberId);
        timers.arm(key, effect.delayMs, { type: 'rebalance', groupId, memberId, memberEpoch });
        return;
      }
      case 'cancelRebalance':
        timers.cancel(rebalanceKey(groupId, effect.memberId));
        return;
      case 'cancelMember':
        timers.cancel(sessionKey(groupId, effect.memberId));
        timers.cancel(rebalanceKey(groupId, effect.memberId));
        return;
      case 'armInitialDelay':
        timers.arm(delayKey(groupId), effect.delayMs, { type: 'initialDelay', groupId });
        return;
      case 'cancelInitialDelay':
        timers.cancel(delayKey(groupId));
        return;
      case 'startRun':
        this.#jobs.start(effect.run, (...over) => this.#runOver(groupId, ...over));
        return;
      case 'prepareRun':
        this.#jobs.prepare(effect.problem);
        return;
      case 'searchTopics':
        this.#search(groupId, effect.query);
        return;
      case 'createTopics':
        this.#topicCreator.create(effect.topics, effect.failureTtlMs);
        return;
      default:
        unreachable(effect);
    }
  }

  /** Comes back exactly once, tagged as it went. */
  #search(groupId: string, { incarnation, topologyEpoch, patterns }: PatternQuery): void {
    const over = (search: PatternSearch) =>
      this.#searchOver(groupId, { incarnation, topologyEpoch, search });
    this.#patterns.search(patterns).then(over, (cause: unknown) => {
      const reason = reasonOf(cause);
      over({ kind: 'failed', reason });
    });
  }
}
