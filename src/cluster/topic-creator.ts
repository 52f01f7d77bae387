import type { Clock, Log, TopicCreatorPort } from '../../actors/ports.ts';
import { firstFew } from '../../machines/decide/first-few.ts';
import type { CreatableTopic } from '../../machines/model/topology.ts';
import type { WireErrorName } from '../wire/errors.ts';
import { within } from '../within.ts';

/** What became of one topic; `message` null: the error's name is all there is to say. */
export type CreateOutcome = {
  readonly name: string;
  readonly error: WireErrorName;
  readonly message: string | null;
};

/** Asks whoever keeps the topics to make these, and gives one outcome for each. */
export type CreateTopics = (topics: readonly CreatableTopic[]) => Promise<readonly CreateOutcome[]>;

type Failure = { readonly text: string; readonly untilMs: number };

const FAILURES_MAX = 1000;
const IN_FLIGHT_MAX = 10_000;
const TEXT_LENGTH_MAX = 200;

/**
 * Creates internal topics for all groups together. A topic that is being made, or was made since the group looked, is not
 * asked for; one that failed is left alone until its failure expires, which is the whole back-off.
 *
 * Source: topology-and-admin 10, rules C-4 to C-10.
 */
export class TopicCreator implements TopicCreatorPort {
  readonly #createTopics: CreateTopics;
  readonly #isThere: (name: string) => boolean;
  readonly #clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly #log: Log;
  readonly #timeoutMs: number;
  readonly #inFlight = new Set<string>();
  readonly #failures = new Map<string, Failure>();

  /**
   * @param options.isThere whether a topic is known to exist now: a heartbeat that was decided while the topic was being
   *   made still asks for it.
   * @param options.timeoutMs how long an answer is waited for; Kafka's `request.timeout.ms` (C-5).
   */
  constructor(options: {
    readonly createTopics: CreateTopics;
    readonly isThere: (name: string) => boolean;
    readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
    readonly log: Log;
    readonly timeoutMs: number;
  }) {
    this.#createTopics = options.createTopics;
    this.#isThere = options.isThere;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#timeoutMs = options.timeoutMs;
  }

  create(topics: readonly CreatableTopic[], failureTtlMs: number): void {
    const candidates = topics
      .filter(({ name }) => !this.#inFlight.has(name) && !this.#isThere(name))
      .filter(({ name }) => this.#liveFailure(name) === undefined)
      .slice(0, IN_FLIGHT_MAX - this.#inFlight.size);
    if (candidates.length === 0) return;
    for (const { name } of candidates) this.#inFlight.add(name);
    this.#log.info({ topics: candidates.map(({ name }) => name) }, 'Creating internal topics');
    void this.#run(candidates, failureTtlMs);
  }

  failures(topics: readonly CreatableTopic[]): string | undefined {
    const live = topics.flatMap(({ name }) => {
      const failure = this.#liveFailure(name);
      return failure === undefined ? [] : [`${name} (${failure.text})`];
    });
    return live.length === 0 ? undefined : `creation failed: ${firstFew(live)}`;
  }

  /** Never rejects. */
  async #run(topics: readonly CreatableTopic[], failureTtlMs: number): Promise<void> {
    const texts = await this.#failureTexts(topics);
    for (const { name } of topics) this.#inFlight.delete(name);
    if (texts.size === 0) return;
    this.#log.warn({ failures: Object.fromEntries(texts) }, 'Internal topics were not created');
    const untilMs = this.#clock.monotonicMs() + failureTtlMs;
    for (const [name, text] of texts) this.#remember(name, { text, untilMs });
  }

  /** Per topic that was not made, why. One that somebody else has made meanwhile is as good as made (C-6). */
  async #failureTexts(topics: readonly CreatableTopic[]): Promise<ReadonlyMap<string, string>> {
    try {
      const outcomes = await within(this.#clock, this.#timeoutMs, this.#createTopics(topics));
      if (outcomes === undefined) throw new Error(`No answer within ${this.#timeoutMs} ms`);
      const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
      const texts = new Map<string, string>();
      for (const { name } of topics) {
        const outcome = byName.get(name);
        if (outcome === undefined) texts.set(name, 'no answer for this topic');
        else if (outcome.error !== 'NONE' && outcome.error !== 'TOPIC_ALREADY_EXISTS') {
          texts.set(name, shorten(outcome.message ?? outcome.error));
        }
      }
      return texts;
    } catch (thrown) {
      const text = shorten(thrown instanceof Error ? thrown.message : String(thrown));
      return new Map(topics.map(({ name }) => [name, text]));
    }
  }

  #liveFailure(name: string): Failure | undefined {
    const failure = this.#failures.get(name);
    if (failure === undefined || failure.untilMs > this.#clock.monotonicMs()) return failure;
    this.#failures.delete(name);
    return undefined;
  }

  /** Makes room by giving up the failure that would expire first (C-7). */
  #remember(name: string, failure: Failure): void {
    this.#failures.set(name, failure);
    if (this.#failures.size <= FAILURES_MAX) return;
    let first = name;
    let firstMs = failure.untilMs;
    for (const [other, { untilMs }] of this.#failures) {
      if (untilMs < firstMs) [first, firstMs] = [other, untilMs];
    }
    this.#failures.delete(first);
  }
}

function shorten(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX - 1)}…`;
}
