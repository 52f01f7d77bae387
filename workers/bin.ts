import { type SortScratch, sortByKey } from './counting-sort.ts';
import { at, isSet } from './dense.ts';

/** The arrays that the bins of one user share; each bin lies in the same part of `item`, `low` and `high`. */
export type BinArrays = SortScratch & {
  /** Items by bin, each bin by number. */
  readonly item: Int32Array;
  /** By item. May rise at any time, and never falls. */
  readonly count: Int32Array;
  /** By item: which goes first of equal counts; equal ones go by number. */
  readonly order: Int32Array;
  /** By item. Who is dropped stays so. */
  readonly dropped: Uint8Array;
  /** How many items were dropped so far. */
  readonly drops: { count: number };
  readonly low: Int32Array;
  readonly high: Int32Array;
  /** By item: who is marked with the mark asked for is passed over. */
  readonly marks: Int32Array;
  /** By item: the last low window that it was put into; 0 at first. */
  readonly stamp: Int32Array;
};

/**
 * Items that compare by their count alone; equal counts are told apart by an order that never changes.
 *
 * Water fills the bin level by level. The low window holds the items that were at the lowest count when it was made, in
 * their order, and is read from its head on. Who has risen meanwhile is passed over, so nobody needs to say that an item
 * rose. All in the window at the end of a level are the window of the next one, until those outside are reached. Where
 * whoever is lowest is not wanted, those outside are asked through a window of their own, the high one.
 *
 * Source: assignors 9.4.
 */
export class Bin {
  readonly #arrays: BinArrays;
  readonly #count: Int32Array;
  readonly #dropped: Uint8Array;
  readonly #marks: Int32Array;
  readonly #low: Int32Array;
  /** Where the bin begins in the arrays. */
  readonly from: number;
  readonly #to: number;
  #lowHead: number;
  #lowEnd: number;
  /** Nobody is below it. */
  #level = -1;
  /** Nobody outside the low window is below it. */
  #outside = 0;
  #window = 0;
  /** How many drops the low window has been told of. */
  #dropsSeen = 0;
  /** Items outside the low window that were at the high level when the high window was made. */
  #highHead: number;
  #highEnd: number;
  #highLevel = 0;

  /** The bin that lies from `from` to `to` in the arrays. */
  constructor(arrays: BinArrays, from: number, to: number) {
    this.#arrays = arrays;
    this.#count = arrays.count;
    this.#dropped = arrays.dropped;
    this.#marks = arrays.marks;
    this.#low = arrays.low;
    this.from = from;
    this.#to = to;
    this.#lowHead = from;
    this.#lowEnd = from;
    this.#highHead = from;
    this.#highEnd = from;
  }

  /**
   * Everybody at the lowest level: the places from `from` up to the one returned, in {@link BinArrays.low}. Each of them has
   * to rise by one, or to be dropped, before the next round is asked for. Who is asked for rounds is asked nothing else.
   *
   * @returns `from` when nobody is left.
   */
  nextRound(): number {
    return this.#rise() ? this.#lowEnd : this.from;
  }

  /** The first of the lowest, or -1 when all are dropped. */
  first(): number {
    return this.firstUnmarked(NEVER_A_MARK);
  }

  /** The first of the lowest that do not have the mark, or -1. */
  firstUnmarked(mark: number): number {
    const low = this.#low;
    const count = this.#count;
    const dropped = this.#dropped;
    do {
      const end = this.#lowEnd;
      const level = this.#level;
      let head = this.#lowHead;
      for (let i = head; i < end; i++) {
        const item = at(low, i);
        if (at(count, item) !== level || isSet(dropped, item)) {
          if (i === head) head++;
        } else if (at(this.#marks, item) !== mark) {
          this.#lowHead = head;
          return item;
        }
      }
      this.#lowHead = head;
      if (head < end) return this.#firstAbove(mark);
    } while (this.#rise());
    return -1;
  }

  /** All in the low window are above the level: goes on to the next one; false if nobody is left. */
  #rise(): boolean {
    this.#lowHead = this.from;
    this.#level++;
    if (this.#level < this.#outside) {
      if (this.#dropsSeen !== this.#arrays.drops.count) this.#forgetDropped();
      if (this.#lowEnd > this.from) return true;
    }
    return this.#lookOver();
  }

  #forgetDropped(): void {
    let end = this.from;
    for (let i = this.from; i < this.#lowEnd; i++) {
      const item = at(this.#low, i);
      if (!isSet(this.#dropped, item)) this.#low[end++] = item;
    }
    this.#lowEnd = end;
    this.#dropsSeen = this.#arrays.drops.count;
  }

  /** Makes the low window of everybody; false if nobody is left. */
  #lookOver(): boolean {
    const { item: items, order, stamp } = this.#arrays;
    const low = this.#low;
    const count = this.#count;
    let level = NOBODY;
    let above = NOBODY;
    let end = this.from;
    for (let i = this.from; i < this.#to; i++) {
      const item = at(items, i);
      const its = at(count, item);
      if (its >= above || isSet(this.#dropped, item)) continue;
      if (its > level) {
        above = its;
        continue;
      }
      if (its < level) {
        above = level;
        level = its;
        end = this.from;
      }
      low[end++] = item;
    }
    sortByKey(low, this.from, end, order, this.#arrays);
    this.#window++;
    for (let i = this.from; i < end; i++) stamp[at(low, i)] = this.#window;
    this.#dropsSeen = this.#arrays.drops.count;
    this.#lowHead = this.from;
    this.#lowEnd = end;
    this.#level = level;
    this.#outside = above;
    this.#highHead = this.from;
    this.#highEnd = this.from;
    return end > this.from;
  }

  /** Only those marked are left at the level. */
  #firstAbove(mark: number): number {
    const risen = this.#firstRisen(mark);
    if (risen !== -1 && at(this.#count, risen) < this.#outside) return risen;
    const outside = this.#firstOutside(mark);
    if (risen === -1 || outside === -1) return Math.max(risen, outside);
    return this.#isBefore(risen, outside) ? risen : outside;
  }

  /** In the low window, above the level. */
  #firstRisen(mark: number): number {
    const next = this.#level + 1;
    let best = -1;
    let bestCount = NOBODY;
    for (let i = this.from; i < this.#lowEnd; i++) {
      const item = at(this.#low, i);
      const its = at(this.#count, item);
      if (its >= bestCount || its < next || isSet(this.#dropped, item)) continue;
      if (at(this.#marks, item) === mark) continue;
      if (its === next) return item;
      best = item;
      bestCount = its;
    }
    return best;
  }

  #firstOutside(mark: number): number {
    const { high } = this.#arrays;
    do {
      for (let i = this.#highHead; i < this.#highEnd; i++) {
        const item = at(high, i);
        if (at(this.#count, item) !== this.#highLevel || isSet(this.#dropped, item)) {
          if (i === this.#highHead) this.#highHead++;
        } else if (at(this.#marks, item) !== mark) {
          return item;
        }
      }
      // Only those marked are left at the high level.
      if (this.#highHead < this.#highEnd) return this.#searchOutside(mark);
    } while (this.#lookOutside());
    return -1;
  }

  /** Makes the high window; false if nobody is outside. */
  #lookOutside(): boolean {
    const { item: items, high, order, stamp } = this.#arrays;
    let level = NOBODY;
    let end = this.from;
    for (let i = this.from; i < this.#to; i++) {
      const item = at(items, i);
      const its = at(this.#count, item);
      if (its > level || at(stamp, item) === this.#window || isSet(this.#dropped, item)) continue;
      if (its < level) {
        level = its;
        end = this.from;
      }
      high[end++] = item;
    }
    sortByKey(high, this.from, end, order, this.#arrays);
    this.#highHead = this.from;
    this.#highEnd = end;
    this.#highLevel = level;
    return end > this.from;
  }

  #searchOutside(mark: number): number {
    const { item: items, stamp } = this.#arrays;
    let best = -1;
    for (let i = this.from; i < this.#to; i++) {
      const item = at(items, i);
      if (at(stamp, item) === this.#window || isSet(this.#dropped, item)) continue;
      if (best !== -1 && !this.#isBefore(item, best)) continue;
      if (at(this.#marks, item) !== mark) best = item;
    }
    return best;
  }

  #isBefore(a: number, b: number): boolean {
    const { order } = this.#arrays;
    const lead = at(this.#count, a) - at(this.#count, b) || at(order, a) - at(order, b);
    return lead === 0 ? a < b : lead < 0;
  }
}

/** What nobody is marked with, and the mark of whoever has none. */
const NEVER_A_MARK = -2;
export const UNMARKED = -1;

/** Above every count. */
const NOBODY = 2 ** 31 - 1;
