import type { Length } from './mailbox.ts';
import type { Clock, RuntimeMetrics } from './ports.ts';

/** What takes turns. */
export interface TurnTaker {
  /** Whether it could take a message of this length now. */
  waits(length: Length): boolean;
  /** Takes one message of this length, if there is one. Never throws. */
  take(length: Length): void;
  /** The turn in which it took messages is over. */
  endTurn(): void;
}

/** So long messages of each length are taken in one turn, ms; the one at hand then is the last. */
export const TURN_MS_MAX: Readonly<Record<Length, number>> = { short: 1, long: 0.5 };

/**
 * Shares the event loop among all shards. A turn takes short messages first, one of each shard in turn, then long ones
 * likewise, until the time of each is over; but one of each at least, so that every turn brings both kinds further. Answers
 * to the short ones leave before a long one is begun. Between two turns sockets are read.
 *
 * So a short message that comes between turns waits for the short ones that came before it and for nothing else; one that
 * comes during a turn waits for the rest of that turn too, which is one long message at most once its time is over. How
 * many long ones wait, of which groups and shards, makes no difference to it.
 *
 * Source: style 7, coordination ORD-1 (order within a group), records-and-configs BA-10.
 */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'soon'>;
  readonly #metrics: Pick<RuntimeMetrics, 'processed'>;
  /** Who may have a message of that length, the one that waits for its turn the longest first. */
  readonly #waiting: Readonly<Record<Length, Set<TurnTaker>>> = {
    short: new Set(),
    long: new Set(),
  };
  #isPlanned = false;

  constructor(
    clock: Pick<Clock, 'monotonicMs' | 'soon'>,
    metrics: Pick<RuntimeMetrics, 'processed'>,
  ) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** Asks for turns: to be called whenever something makes `waits` true. */
  ask(taker: TurnTaker): void {
    this.#enter(taker);
    this.#plan();
  }

  #enter(taker: TurnTaker): void {
    if (taker.waits('short')) this.#waiting.short.add(taker);
    if (taker.waits('long')) this.#waiting.long.add(taker);
  }

  #plan(): void {
    if (this.#isPlanned || this.#waiting.short.size + this.#waiting.long.size === 0) return;
    this.#isPlanned = true;
    const turn: Turn = { took: new Set(), ms: 0 };
    // Two calls: what is answered in one leaves when it is over.
    this.#clock.soon(() => this.#takeEach('short', turn));
    this.#clock.soon(() => {
      try {
        this.#takeEach('long', turn);
      } finally {
        this.#end(turn);
      }
    });
  }

  /** Has everybody take one message, again and again until the time is over; at least one is taken. */
  #takeEach(length: Length, turn: Turn): void {
    const waiting = this.#waiting[length];
    if (waiting.size === 0) return;
    const startedMs = this.#clock.monotonicMs();
    let ms = 0;
    // Who is put back comes last, and is come to again.
    for (const taker of waiting) {
      waiting.delete(taker);
      if (!taker.waits(length)) continue;
      turn.took.add(taker);
      taker.take(length);
      this.#enter(taker);
      ms = this.#clock.monotonicMs() - startedMs;
      if (ms >= TURN_MS_MAX[length]) break;
    }
    turn.ms += ms;
  }

  #end({ took, ms }: Turn): void {
    this.#isPlanned = false;
    for (const taker of took) taker.endTurn();
    this.#metrics.processed(ms);
    this.#plan();
  }
}

/** Who took messages in a turn, and how long that took. */
type Turn = { readonly took: Set<TurnTaker>; ms: number };
