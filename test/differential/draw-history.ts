import { Chance } from './chance.ts';
import { ADMIN_KINDS } from './draw-admin.ts';
import { drawHead } from './draw-head.ts';
import { HEARTBEAT_KINDS, type StepKind } from './draw-heartbeats.ts';
import type { HistoryHead, Step } from './history.ts';
import { Picture } from './picture.ts';

/** How often a kind that makes no sense is drawn again before the rest of the kinds is given up on. */
const TRIES_MAX = 200;

const JOINS = HEARTBEAT_KINDS.filter(({ name }) => name === 'join');

/**
 * A history of requests, drawn step by step from a seed and from what was answered so far: the same seed, the same
 * answers and the same APIs give the same history.
 */
export class HistoryDrawer {
  /** The names of all kinds of steps there are. */
  static readonly kinds: readonly string[] = [...HEARTBEAT_KINDS, ...ADMIN_KINDS].map(
    ({ name }) => name,
  );

  readonly head: HistoryHead;
  readonly #chance: Chance;
  readonly #picture: Picture;
  readonly #kinds: readonly StepKind[];

  /** @param serves whether the server under test has an API, by Kafka's name of it (`OFFSET_COMMIT`). */
  constructor(seed: number, serves: (api: string) => boolean) {
    this.#chance = new Chance(seed);
    this.head = drawHead(this.#chance);
    this.#picture = new Picture(this.head);
    this.#kinds = [...HEARTBEAT_KINDS, ...ADMIN_KINDS.filter(({ api }) => serves(api))];
  }

  /** The next step, and the name of its kind. */
  next(): { readonly kind: string; readonly step: Step } {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      // A group without members has little to tell.
      const isLonely = this.#picture.joined.length < 2 && this.#chance.percent(40);
      const kind = this.#chance.weighted(isLonely ? JOINS : this.#kinds);
      const step = kind.draw(this.#chance, this.#picture);
      if (step !== undefined) return { kind: kind.name, step };
    }
    throw new Error(`Cannot draw a step: none of ${TRIES_MAX} kinds fits`);
  }

  /** Takes in what the last step was answered. */
  learn(step: Step, answer: unknown): void {
    this.#picture.learn(step, answer);
  }
}
