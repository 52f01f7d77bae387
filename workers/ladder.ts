import { at } from './dense.ts';
import type { LeastLoadedItems } from './least-loaded.ts';

/**
 * A few items in the order of their loads; who rises steps past those that are less loaded now. Finds the same as
 * `LeastLoaded` and is faster where loads are uneven, but a step costs more the more items there are. The order lies in a
 * ring, so that a step past all others, which is the rule where loads are even, moves nobody else.
 *
 * Loads are compared as quotients. Counts and capacities are far below 2^26, so that different quotients differ by more
 * than the rounding of a division, and equal ones are rounded alike: the order is exact.
 *
 * Source: assignors 8.
 */
export class Ladder {
  readonly #item: Int32Array;
  readonly #load: Float64Array;
  /** By item: its place among all of the same load. */
  readonly #rank: Int32Array;
  readonly #capacity: Int32Array;
  readonly #marks: Int32Array;
  readonly #length: number;
  /** Where the order begins in the ring. */
  #start = 0;
  /** The place in the order of the item last found. */
  #last = 0;

  /**
   * All items that are in a group, whichever it is.
   *
   * @param marks by item; who is marked with the mark asked for is passed over.
   */
  constructor(
    { count, capacity, tie, group }: Omit<LeastLoadedItems, 'groupCount' | 'order'>,
    marks: Int32Array,
  ) {
    this.#marks = marks;
    const items = Array.from(count.keys()).filter(
      (item) => group === undefined || at(group, item) !== -1,
    );
    const share = (of: Int32Array, item: number): number => at(of, item) / at(capacity, item);
    items.sort((a, b) => share(tie, a) - share(tie, b) || a - b);
    this.#rank = new Int32Array(count.length);
    items.forEach((item, rank) => {
      this.#rank[item] = rank;
    });
    items.sort((a, b) => share(count, a) - share(count, b));
    this.#length = items.length;
    const ringSize = 2 ** Math.ceil(Math.log2(Math.max(items.length, 1)));
    this.#item = new Int32Array(ringSize);
    this.#item.set(items);
    this.#load = new Float64Array(ringSize);
    this.#load.set(items.map((item) => share(count, item)));
    this.#capacity = capacity;
  }

  /** The least loaded that does not have the mark, or -1. */
  firstUnmarked(mark: number): number {
    const ring = this.#item;
    const mask = ring.length - 1;
    for (let i = 0; i < this.#length; i++) {
      const item = at(ring, (this.#start + i) & mask);
      if (at(this.#marks, item) === mark) continue;
      this.#last = i;
      return item;
    }
    return -1;
  }

  /** The item last found has come to this count. */
  rose(count: number): void {
    const ring = this.#item;
    const loads = this.#load;
    const mask = ring.length - 1;
    const from = this.#last;
    const end = this.#length - 1;
    const item = at(ring, (this.#start + from) & mask);
    const load = count / at(this.#capacity, item);
    let i = from;
    if (from < end && this.#isPast(item, load, (this.#start + end) & mask)) {
      // Those before it move up by one, and the order begins one later.
      for (; i > 0; i--) this.#move((this.#start + i - 1) & mask, (this.#start + i) & mask);
      this.#start = (this.#start + 1) & mask;
      i = end;
    }
    for (; i < end && this.#isPast(item, load, (this.#start + i + 1) & mask); i++) {
      this.#move((this.#start + i + 1) & mask, (this.#start + i) & mask);
    }
    ring[(this.#start + i) & mask] = item;
    loads[(this.#start + i) & mask] = load;
  }

  #isPast(item: number, load: number, slot: number): boolean {
    const other = this.#load[slot] as number;
    return (
      other < load ||
      (other === load && at(this.#rank, at(this.#item, slot)) < at(this.#rank, item))
    );
  }

  #move(from: number, to: number): void {
    this.#item[to] = at(this.#item, from);
    this.#load[to] = this.#load[from] as number;
  }
}
