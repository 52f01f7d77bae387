import { type SortScratch, sortByKey } from './counting-sort.ts';
import { at, isSet } from './dense.ts';

/** Room to work in, dirty. Bins of one user share it: each lies in the same part of `item`, `low` and `behind`. */
export type BinScratch = SortScratch & {
  /** Items by bin, each bin by number. */
  readonly item: Int32Array;
  readonly low: Int32Array;
  readonly behind: Int32Array;
  /** By item: who is marked with the mark asked for is passed over. */
  readonly marks: Int32Array;
  /** By item: 1 = was left behind. */
  readonly isBehind: Uint8Array;
  /** By item: 1 = dropped, and stays so. */
  readonly dropped: Uint8Array;
};

/** What the bins of one user know of their items. */
export type BinItems = {
  /** By item. May rise at any time, and never falls. */
  readonly count: Int32Array;
  /** By item: which goes first of equal counts; equal ones go by number. */
  readonly order: Int32Array;
  /** How many items were dropped so far. */
  readonly drops: { count: number };
};

/**
 * Items that compare by their count alone; equal counts are told apart by an order that never changes.
 *
 * Water fills the bin level by level. The low window holds the items that were at the lowest count when it was made, in
 * their order, and is read from its head on. Who has risen meanwhile is passed over, so nobody needs to say that an item
 * rose. All in the window at the end of a level are the window of the next one, until those outside are reached. Who is
 * not wanted when all others have risen is left behind, and joins the window again when it has caught up; such are few.
 *
 * Source: assignors 9.4.
 */
export class Bin {
  readonly #items: BinItems;
  readonly #scratch: BinScratch;
  readonly #count: Int32Array;
  readonly #dropped: Uint8Array;
  readonly #marks: Int32Array;
  readonly #low: Int32Array;
  /** Where the bin begins in the arrays. */
  readonly from: number;
  readonly #to: number;
  /** The low window; before its head everybody has risen. */
  head: number;
  end: number;
  /** Nobody is below it but those left behind. */
  #level = -1;
  /** Nobody is below it but those in the low window and those left behind. */
  #outside = 0;
  #behindEnd: number;
  /** How many drops the low window has been told of. */
  #dropsSeen = 0;

  /** The bin that lies from `from` to `to` in the arrays. */
  constructor(items: BinItems, scratch: BinScratch, from: number, to: number) {
    this.#items = items;
    this.#scratch = scratch;
    this.#count = items.count;
    this.#dropped = scratch.dropped;
    this.#marks = scratch.marks;
    this.#low = scratch.low;
    this.from = from;
    this.#to = to;
    this.head = from;
    this.end = from;
    this.#behindEnd = from;
  }

  /**
   * Everybody at the lowest level, in {@link BinScratch.low} from {@link head} up to {@link end}. Each of them has to rise by
   * one, or to be dropped, before the next round is asked for. Who asks for rounds asks for nothing with a mark.
   *
   * @returns false when nobody is left.
   */
  nextRound(): boolean {
    return this.#firstLow(NEVER_A_MARK) !== -1 || this.#rise();
  }

  /**
   * As {@link nextRound}, for who also asks with marks: a round from its beginning, of which nobody has risen yet and for
   * which nobody left behind may be wanted instead.
   *
   * @returns false when there is none at present.
   */
  nextWholeRound(): boolean {
    if (this.#behindEnd > this.from || !this.nextRound() || this.head > this.from) return false;
    const low = this.#low;
    const count = this.#count;
    const end = this.end;
    const level = this.#level;
    for (let i = this.from; i < end; i++) {
      const item = low[i] as number;
      if (count[item] !== level || this.#dropped[item] === 1) return false;
    }
    return true;
  }

  /** After rounds that were not told of: nobody in them is below this count any more. */
  goOn(level: number): void {
    // Those outside are looked for when it rises.
    this.#level = Math.min(level, this.#outside - 1);
    this.head = this.from;
  }

  /** How many rounds, the last one asked for included, have the same items in the same order if none is dropped. */
  get rounds(): number {
    return this.head === this.from ? this.#outside - this.#level : 1;
  }

  /** Everybody of the round has risen by so many, at most by {@link rounds}. */
  tookRounds(taken: number): void {
    this.#level += taken - 1;
  }

  /** The first of the lowest, or -1 when all are dropped. */
  first(): number {
    return this.firstUnmarked(NEVER_A_MARK);
  }

  /** The first of the lowest that do not have the mark, or -1. */
  firstUnmarked(mark: number): number {
    if (this.#behindEnd === this.from) {
      const found = this.#firstLow(mark);
      if (found !== -1) return found;
    }
    return this.#searchUnmarked(mark);
  }

  #firstLow(mark: number): number {
    const low = this.#low;
    const count = this.#count;
    const marks = this.#marks;
    const dropped = this.#dropped;
    const end = this.end;
    const level = this.#level;
    for (let i = this.head; i < end; i++) {
      const item = low[i] as number;
      if (count[item] !== level || dropped[item] === 1) {
        if (i === this.head) this.head++;
      } else if (marks[item] !== mark) {
        return item;
      }
    }
    return -1;
  }

  #searchUnmarked(mark: number): number {
    const count = this.#count;
    const behind = this.#firstBehind(mark);
    if (behind !== -1 && at(count, behind) < this.#level) return behind;
    for (;;) {
      const found = this.#firstLow(mark);
      if (found !== -1) {
        return behind === -1 || isBefore(this.#items, found, behind) ? found : behind;
      }
      if (behind !== -1 && at(count, behind) === this.#level) return behind;
      // Those who are still at the level have the mark.
      if (this.head < this.end) this.#leaveBehind();
      if (!this.#rise()) return behind;
    }
  }

  #firstBehind(mark: number): number {
    const { behind } = this.#scratch;
    let best = -1;
    for (let i = this.from; i < this.#behindEnd; i++) {
      const item = at(behind, i);
      if (at(this.#marks, item) === mark || isSet(this.#dropped, item)) continue;
      if (best === -1 || isBefore(this.#items, item, best)) best = item;
    }
    return best;
  }

  /** Takes those out of the low window that are still at the level. */
  #leaveBehind(): void {
    const { behind, isBehind } = this.#scratch;
    let end = this.head;
    for (let i = this.head; i < this.end; i++) {
      const item = at(this.#low, i);
      if (at(this.#count, item) !== this.#level || isSet(this.#dropped, item)) {
        this.#low[end++] = item;
      } else {
        behind[this.#behindEnd++] = item;
        isBehind[item] = 1;
      }
    }
    this.end = end;
  }

  /** All in the low window are above the level: goes on to the next one; false if nobody is left but those behind. */
  #rise(): boolean {
    this.head = this.from;
    this.#level++;
    if (this.#level >= this.#outside) return this.#lookOver();
    if (this.#dropsSeen !== this.#items.drops.count) this.#forgetDropped();
    if (this.#behindEnd > this.from) this.#joinAgain();
    return this.end > this.from || this.#lookOver();
  }

  #forgetDropped(): void {
    let end = this.from;
    for (let i = this.from; i < this.end; i++) {
      const item = at(this.#low, i);
      if (!isSet(this.#dropped, item)) this.#low[end++] = item;
    }
    this.end = end;
    this.#dropsSeen = this.#items.drops.count;
  }

  /** Those behind who are at the level now get their places in the low window. */
  #joinAgain(): void {
    const { behind, isBehind } = this.#scratch;
    let staying = this.from;
    for (let i = this.from; i < this.#behindEnd; i++) {
      const item = at(behind, i);
      if (at(this.#count, item) !== this.#level) {
        behind[staying++] = item;
        continue;
      }
      isBehind[item] = 0;
      // Nobody would ever take it out of the window again.
      if (isSet(this.#dropped, item)) continue;
      let place = this.end++;
      for (; place > this.from; place--) {
        const other = at(this.#low, place - 1);
        if (comesBefore(this.#items, other, item)) break;
        this.#low[place] = other;
      }
      this.#low[place] = item;
    }
    this.#behindEnd = staying;
  }

  /** Makes the low window of everybody who is not behind; false if nobody is left. */
  #lookOver(): boolean {
    const { item: items, isBehind } = this.#scratch;
    const low = this.#low;
    const count = this.#count;
    const dropped = this.#dropped;
    let level = NOBODY;
    let above = NOBODY;
    let end = this.from;
    for (let i = this.from; i < this.#to; i++) {
      const item = items[i] as number;
      const its = count[item] as number;
      if (its >= above || dropped[item] === 1 || isBehind[item] === 1) continue;
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
    sortByKey(low, this.from, end, this.#items.order, this.#scratch);
    this.#dropsSeen = this.#items.drops.count;
    this.head = this.from;
    this.end = end;
    this.#outside = above;
    if (end === this.from) return false;
    this.#level = level;
    if (this.#behindEnd > this.from) this.#joinAgain();
    return true;
  }
}

/** By count, then by {@link comesBefore}. */
function isBefore(items: BinItems, a: number, b: number): boolean {
  const lead = at(items.count, a) - at(items.count, b);
  return lead === 0 ? comesBefore(items, a, b) : lead < 0;
}

/** The order of items of one count. */
function comesBefore({ order }: BinItems, a: number, b: number): boolean {
  const lead = at(order, a) - at(order, b);
  return lead === 0 ? a < b : lead < 0;
}

/** What nobody is marked with, and the mark of whoever has none. */
const NEVER_A_MARK = -2;
export const UNMARKED = -1;

/** Above every count. */
const NOBODY = 2 ** 31 - 1;
