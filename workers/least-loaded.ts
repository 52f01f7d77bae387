import { at, isSet } from './dense.ts';

/** What is known of the items a {@link LeastLoaded} looks at; numbers of items are indexes into all of these. */
export type LeastLoadedItems = {
  /** Load of an item, together with its capacity. May rise at any time, never falls. */
  readonly count: Int32Array;
  /** Group of each item; -1 leaves it out. */
  readonly group: Int32Array;
  readonly groupCount: number;
  /** Left out, all have capacity 1, and equal loads are taken by number. */
  readonly shares?: {
    /** Loads are `count` by `capacity`, compared without rounding; equal ones are told apart by `tie` by `capacity`. */
    readonly capacity: Int32Array;
    readonly tie: Int32Array;
    /** Orders items of equal capacity and count as `tie` does, as long as this object is used; read once, 0 and above. */
    readonly order: Int32Array;
  };
};

/**
 * Finds the least loaded item of a group: by load, then tie, then number.
 *
 * The items of a group with one capacity make a bin. Water fills a bin level by level: a window holds the items at the
 * lowest count in their order, and is read from its head on. Who has risen meanwhile is passed over, so nobody needs to
 * say that an item rose; when the window is used up, one look over the bin makes the next. As nobody is below the
 * level, all those looks together cost no more than there are tasks. Bins are few, their heads are compared.
 *
 * Source: assignors 8, 9.4.
 */
export class LeastLoaded {
  readonly #count: Int32Array;
  readonly #capacity: Int32Array | undefined;
  readonly #tie: Int32Array | undefined;
  /** Items by bin, each bin in order. */
  readonly #item: Int32Array;
  readonly #binStart: Int32Array;
  /** Bins by group. */
  readonly #groupStart: Int32Array;
  /** The window of a bin lies where the bin lies in `#item`, or in a part of it. */
  readonly #window: Int32Array;
  readonly #head: Int32Array;
  readonly #end: Int32Array;
  readonly #level: Int32Array;
  readonly #dropped: Uint8Array;

  constructor({ count, group, groupCount, shares }: LeastLoadedItems) {
    this.#count = count;
    this.#capacity = shares?.capacity;
    this.#tie = shares?.tie;
    let items = itemsInGroups(group);
    if (shares !== undefined) items = sortBy(sortBy(items, shares.order), shares.capacity);
    items = sortBy(items, group);
    this.#item = items;
    this.#binStart = new Int32Array(items.length + 1);
    this.#groupStart = new Int32Array(groupCount + 1);
    const bins = this.#markBins(group);
    this.#window = new Int32Array(items.length);
    this.#head = new Int32Array(bins);
    this.#end = new Int32Array(bins);
    this.#level = new Int32Array(bins);
    this.#dropped = new Uint8Array(group.length);
  }

  /** The least loaded item of the group, or -1. */
  first(group: number): number {
    let best = -1;
    for (let bin = at(this.#groupStart, group); bin < at(this.#groupStart, group + 1); bin++) {
      const item = this.#firstOfBin(bin);
      if (item !== -1 && (best === -1 || this.before(item, best))) best = item;
    }
    return best;
  }

  /** The least loaded item of the group that is not among the first `exceptCount` of `except`, or -1. */
  firstExcept(group: number, except: Int32Array, exceptCount: number): number {
    let best = -1;
    for (let bin = at(this.#groupStart, group); bin < at(this.#groupStart, group + 1); bin++) {
      const item = this.#firstOfBinExcept(bin, except, exceptCount);
      if (item !== -1 && (best === -1 || this.before(item, best))) best = item;
    }
    return best;
  }

  /** Takes the item out. */
  drop(item: number): void {
    this.#dropped[item] = 1;
  }

  /** Whether `a` is to be taken before `b`. */
  before(a: number, b: number): boolean {
    const capacityA = this.#capacity === undefined ? 1 : at(this.#capacity, a);
    const capacityB = this.#capacity === undefined ? 1 : at(this.#capacity, b);
    const load = at(this.#count, a) * capacityB - at(this.#count, b) * capacityA;
    if (load !== 0) return load < 0;
    if (this.#tie === undefined) return a < b;
    const tie = at(this.#tie, a) * capacityB - at(this.#tie, b) * capacityA;
    return tie !== 0 ? tie < 0 : a < b;
  }

  #firstOfBin(bin: number): number {
    do {
      const end = at(this.#end, bin);
      const level = at(this.#level, bin);
      for (let i = at(this.#head, bin); i < end; i++) {
        const item = at(this.#window, i);
        if (at(this.#count, item) !== level || isSet(this.#dropped, item)) continue;
        this.#head[bin] = i;
        return item;
      }
    } while (this.#nextWindow(bin));
    return -1;
  }

  #firstOfBinExcept(bin: number, except: Int32Array, exceptCount: number): number {
    const first = this.#firstOfBin(bin);
    if (first === -1 || !includes(except, exceptCount, first)) return first;
    const level = at(this.#level, bin);
    for (let i = at(this.#head, bin) + 1; i < at(this.#end, bin); i++) {
      const item = at(this.#window, i);
      if (at(this.#count, item) !== level || isSet(this.#dropped, item)) continue;
      if (!includes(except, exceptCount, item)) return item;
    }
    // All at the level are excepted, so they are few; the window stays for the next who asks.
    let best = -1;
    for (let i = at(this.#binStart, bin); i < at(this.#binStart, bin + 1); i++) {
      const item = at(this.#item, i);
      if (best !== -1 && at(this.#count, item) >= at(this.#count, best)) continue;
      if (!isSet(this.#dropped, item) && !includes(except, exceptCount, item)) best = item;
    }
    return best;
  }

  /** Gathers those at the lowest count, in order; false if there are none left. */
  #nextWindow(bin: number): boolean {
    const start = at(this.#binStart, bin);
    let level = Infinity;
    let end = start;
    for (let i = start; i < at(this.#binStart, bin + 1); i++) {
      const item = at(this.#item, i);
      const count = at(this.#count, item);
      if (count > level || isSet(this.#dropped, item)) continue;
      if (count < level) {
        level = count;
        end = start;
      }
      this.#window[end++] = item;
    }
    this.#head[bin] = start;
    this.#end[bin] = end;
    this.#level[bin] = level;
    return end > start;
  }

  /** Sets where bins and groups begin; returns how many bins there are. */
  #markBins(group: Int32Array): number {
    const items = this.#item;
    let bins = 0;
    let open = -1;
    for (let i = 0; i < items.length; i++) {
      const item = at(items, i);
      const previous = i === 0 ? item : at(items, i - 1);
      const isNew =
        at(group, item) !== open ||
        (this.#capacity !== undefined && at(this.#capacity, item) !== at(this.#capacity, previous));
      while (open < at(group, item)) this.#groupStart[++open] = bins;
      if (isNew) this.#binStart[bins++] = i;
    }
    this.#binStart[bins] = items.length;
    while (++open < this.#groupStart.length) this.#groupStart[open] = bins;
    return bins;
  }
}

/** Whether a value is among the first `length` of a short list. */
export function includes(list: Int32Array, length: number, value: number): boolean {
  for (let i = 0; i < length; i++) if (at(list, i) === value) return true;
  return false;
}

function itemsInGroups(group: Int32Array): Int32Array {
  const items = new Int32Array(group.length);
  let filled = 0;
  for (let item = 0; item < group.length; item++)
    if (at(group, item) !== -1) items[filled++] = item;
  return items.subarray(0, filled);
}

/** Counting sort, stable; keys are 0 and above. */
function sortBy(items: Int32Array, key: Int32Array): Int32Array {
  let most = 0;
  for (let i = 0; i < items.length; i++) most = Math.max(most, at(key, at(items, i)));
  if (most === 0) return items;
  const next = new Int32Array(most + 2);
  for (let i = 0; i < items.length; i++) {
    const above = at(key, at(items, i)) + 1;
    next[above] = at(next, above) + 1;
  }
  for (let k = 1; k < next.length; k++) next[k] = at(next, k) + at(next, k - 1);
  const sorted = new Int32Array(items.length);
  for (let i = 0; i < items.length; i++) {
    const item = at(items, i);
    const to = at(next, at(key, item));
    sorted[to] = item;
    next[at(key, item)] = to + 1;
  }
  return sorted;
}
