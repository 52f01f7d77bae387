import { at } from './dense.ts';

/** The arrays a {@link LeastLoaded} works on; all belong to the buffer of the run. */
export type LeastLoadedArrays = {
  /** Groups of items; group g has its room from `start[g]` and its items in the first `size[g]` places of it. */
  readonly items: Int32Array;
  readonly start: Int32Array;
  readonly size: Int32Array;
  /** Where an item is in `items`. */
  readonly place: Int32Array;
  /** An item's load is `count` by `capacity`, compared without rounding; then `tie` by `capacity`; then its number. */
  readonly count: Int32Array;
  readonly capacity: Int32Array;
  readonly tie: Int32Array;
  /** Room for twice the number of items a search may have to pass over, and four. */
  readonly stack: Int32Array;
};

/**
 * Finds the least loaded item of a group, where loads only ever rise: a binary heap per group. As the order is total,
 * what is found does not depend on how the heap came to be.
 *
 * An item is in one group at most; who is in none has place -1, and what is said of it here is ignored.
 *
 * Source: assignors 8, 9.4.
 */
export class LeastLoaded {
  readonly #items: Int32Array;
  readonly #start: Int32Array;
  readonly #size: Int32Array;
  readonly #place: Int32Array;
  readonly #count: Int32Array;
  readonly #capacity: Int32Array;
  readonly #tie: Int32Array;
  readonly #stack: Int32Array;

  /** Takes the groups as they lie in `items` and orders them. */
  constructor(groupCount: number, arrays: LeastLoadedArrays) {
    this.#items = arrays.items;
    this.#start = arrays.start;
    this.#size = arrays.size;
    this.#place = arrays.place;
    this.#count = arrays.count;
    this.#capacity = arrays.capacity;
    this.#tie = arrays.tie;
    this.#stack = arrays.stack;
    this.#place.fill(-1);
    for (let group = 0; group < groupCount; group++) {
      const start = at(this.#start, group);
      const size = at(this.#size, group);
      for (let i = start; i < start + size; i++) this.#place[at(this.#items, i)] = i;
      for (let i = (size >> 1) - 1; i >= 0; i--) this.#sink(start, size, i);
    }
  }

  /** The least loaded item of the group, or -1. */
  first(group: number): number {
    return at(this.#size, group) === 0 ? -1 : at(this.#items, at(this.#start, group));
  }

  /** The least loaded item of the group that is not among the first `exceptCount` of `except`, or -1. */
  firstExcept(group: number, except: Int32Array, exceptCount: number): number {
    const start = at(this.#start, group);
    const size = at(this.#size, group);
    const stack = this.#stack;
    let depth = 0;
    let best = -1;
    if (size > 0) stack[depth++] = 0;
    // Nothing below a place comes before it: only below the excepted ones there is anything to look for.
    while (depth > 0) {
      const i = at(stack, --depth);
      const item = at(this.#items, start + i);
      if (best !== -1 && this.before(best, item)) continue;
      if (!includes(except, exceptCount, item)) {
        best = item;
        continue;
      }
      if (2 * i + 1 < size) stack[depth++] = 2 * i + 1;
      if (2 * i + 2 < size) stack[depth++] = 2 * i + 2;
    }
    return best;
  }

  /** Takes note that the item's load rose. */
  rose(item: number, group: number): void {
    const place = at(this.#place, item);
    if (place === -1) return;
    const start = at(this.#start, group);
    this.#sink(start, at(this.#size, group), place - start);
  }

  /** Takes the item out of its group. */
  drop(item: number, group: number): void {
    const place = at(this.#place, item);
    if (place === -1) return;
    const start = at(this.#start, group);
    const size = at(this.#size, group) - 1;
    const last = at(this.#items, start + size);
    this.#size[group] = size;
    this.#place[item] = -1;
    if (last === item) return;
    this.#items[place] = last;
    this.#place[last] = place;
    this.#sink(start, size, this.#rise(start, place - start));
  }

  /** Whether `a` is to be taken before `b`. */
  before(a: number, b: number): boolean {
    const capacityA = at(this.#capacity, a);
    const capacityB = at(this.#capacity, b);
    const load = at(this.#count, a) * capacityB - at(this.#count, b) * capacityA;
    if (load !== 0) return load < 0;
    const tie = at(this.#tie, a) * capacityB - at(this.#tie, b) * capacityA;
    return tie !== 0 ? tie < 0 : a < b;
  }

  #sink(start: number, size: number, from: number): void {
    const items = this.#items;
    const item = at(items, start + from);
    let i = from;
    for (let child = 2 * i + 1; child < size; child = 2 * i + 1) {
      let least = at(items, start + child);
      if (child + 1 < size && this.before(at(items, start + child + 1), least)) {
        child++;
        least = at(items, start + child);
      }
      if (this.before(item, least)) break;
      items[start + i] = least;
      this.#place[least] = start + i;
      i = child;
    }
    items[start + i] = item;
    this.#place[item] = start + i;
  }

  #rise(start: number, from: number): number {
    const items = this.#items;
    const item = at(items, start + from);
    let i = from;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = at(items, start + parent);
      if (this.before(above, item)) break;
      items[start + i] = above;
      this.#place[above] = start + i;
      i = parent;
    }
    items[start + i] = item;
    this.#place[item] = start + i;
    return i;
  }
}

/** Whether a value is among the first `length` of a short list. */
export function includes(list: Int32Array, length: number, value: number): boolean {
  for (let i = 0; i < length; i++) if (at(list, i) === value) return true;
  return false;
}
