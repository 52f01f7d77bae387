import { SeededRandom } from '../support/seeded-random.ts';

/** Choices drawn from a seed: the same seed gives the same choices in the same order. */
export class Chance {
  readonly seed: number;
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.seed = seed;
    this.#random = new SeededRandom(seed);
  }

  /** A whole number, both bounds included. */
  between(least: number, most: number): number {
    return least + this.#random.below(most - least + 1);
  }

  /** True in so many of a hundred cases. */
  percent(share: number): boolean {
    return this.#random.below(100) < share;
  }

  /** One of the items; there must be one. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.#random.below(Math.max(1, items.length))];
    if (item === undefined) throw new Error('Cannot pick: there is nothing to pick from');
    return item;
  }

  /** Each item kept in so many of a hundred cases, in their order. */
  some<T>(items: readonly T[], share: number): readonly T[] {
    return items.filter(() => this.percent(share));
  }

  /** One of the items, as often as its weight says. */
  weighted<T extends { readonly weight: number }>(items: readonly T[]): T {
    let at = this.#random.below(items.reduce((sum, { weight }) => sum + weight, 0));
    for (const item of items) {
      at -= item.weight;
      if (at < 0) return item;
    }
    throw new Error('Cannot pick: the weights add up to nothing');
  }
}
