import { Bin, type BinScratch } from './bin.ts';
import { sortByKey } from './counting-sort.ts';
import { at } from './dense.ts';

/** What is known of the items a {@link LeastLoaded} looks at; numbers of items are indexes into all of these. */
export type LeastLoadedItems = {
  /** Load of an item, together with its capacity. May rise at any time, never falls. */
  readonly count: Int32Array;
  /** Group of each item; -1 leaves it out. Without it all are in group 0. */
  readonly group?: Int32Array | undefined;
  readonly groupCount: number;
  /**
   * Loads are `count` by `capacity`, compared without rounding; equal ones are told apart by `tie` by `capacity`. Without it
   * all are the same.
   */
  readonly capacity?: Int32Array | undefined;
  readonly tie: Int32Array;
  /** Orders items of equal capacity and count as `tie` does, as long as this object is used; 0 and above. */
  readonly order: Int32Array;
};

/** Room to work in, dirty; whoever shares it with another {@link LeastLoaded} ends that one's use. */
export type LeastLoadedScratch = BinScratch;

/**
 * Finds the least loaded item of a group: by load, then tie, then number. The items of a group with one capacity make a
 * {@link Bin}; bins are few, and their first items are compared.
 *
 * Source: assignors 8, 9.4.
 */
export class LeastLoaded {
  readonly #count: Int32Array;
  readonly #capacity: Int32Array | undefined;
  readonly #tie: Int32Array;
  readonly #dropped: Uint8Array;
  readonly #drops = { count: 0 };
  readonly #binsOf: readonly Bin[][];
  /** See {@link nextRound}. */
  readonly round: Int32Array;
  roundFrom = 0;
  roundTo = 0;
  /** So many rounds, this one included, have the same items in the same order as long as nobody is dropped. */
  rounds = 0;

  constructor(items: LeastLoadedItems, scratch: LeastLoadedScratch) {
    const { count, group, groupCount, capacity, tie, order } = items;
    this.#count = count;
    this.#capacity = capacity;
    this.#tie = tie;
    this.#dropped = scratch.dropped;
    this.round = scratch.low;
    scratch.dropped.fill(0);
    scratch.isBehind.fill(0);
    const { item } = scratch;
    const itemCount = count.length;
    let length = 0;
    for (let i = 0; i < itemCount; i++) {
      if (group === undefined || group[i] !== -1) item[length++] = i;
    }
    const isUneven = capacity !== undefined && sortByKey(item, 0, length, capacity, scratch);
    const isGrouped = group !== undefined && sortByKey(item, 0, length, group, scratch);
    const binItems = { count, order, drops: this.#drops };
    if (!isUneven && !isGrouped && groupCount === 1) {
      this.#binsOf = [length === 0 ? [] : [new Bin(binItems, scratch, 0, length)]];
      return;
    }
    const groupOf = (i: number): number => (group === undefined ? 0 : at(group, at(item, i)));
    const capacityOf = (i: number): number =>
      capacity === undefined ? 1 : at(capacity, at(item, i));
    const binsOf: Bin[][] = Array.from({ length: groupCount }, () => []);
    for (let from = 0, to = 0; from < length; from = to) {
      to = from + 1;
      while (to < length && groupOf(to) === groupOf(from) && capacityOf(to) === capacityOf(from)) {
        to++;
      }
      binsOf[groupOf(from)]?.push(new Bin(binItems, scratch, from, to));
    }
    this.#binsOf = binsOf;
  }

  /** The bin of all items, where there is but one: it finds the same, sooner. */
  get onlyBin(): Bin | undefined {
    const [bins] = this.#binsOf;
    return this.#binsOf.length === 1 && bins?.length === 1 ? bins[0] : undefined;
  }

  /** The least loaded item of the group, or -1. */
  first(group = 0): number {
    return this.#firstBin(this.#binsOf[group] as Bin[])?.first() ?? -1;
  }

  /**
   * Asks for several least loaded items at once: `round` has them from `roundFrom` up to `roundTo`, in the order in which
   * they are to be taken. Each has to rise by one, or to be dropped, before the next round; and who asks for rounds asks
   * for nothing else.
   *
   * @returns false when nobody is left.
   */
  nextRound(group: number): boolean {
    const bins = this.#binsOf[group] as Bin[];
    const best = this.#firstBin(bins);
    if (best === undefined || !best.nextRound()) return false;
    this.roundFrom = best.head;
    this.roundTo = best.end;
    this.rounds = bins.length === 1 ? best.rounds : 1;
    const last = at(this.round, this.roundTo - 1);
    for (let i = 0; i < bins.length && bins.length > 1; i++) {
      const other = bins[i] as Bin;
      // Somebody of another bin may come in between.
      if (other !== best && !this.before(last, other.first())) this.roundTo = this.roundFrom + 1;
    }
    return true;
  }

  /** The bin with the least loaded item; undefined when nobody is left. */
  #firstBin(bins: Bin[]): Bin | undefined {
    if (bins.length < 2) return bins[0];
    let best: Bin | undefined;
    let least = -1;
    for (let i = bins.length - 1; i >= 0; i--) {
      const bin = bins[i] as Bin;
      const item = bin.first();
      if (item === -1) {
        // Nobody comes back, so who has nobody left is asked no more.
        bins.splice(i, 1);
      } else if (least === -1 || this.before(item, least)) {
        least = item;
        best = bin;
      }
    }
    return best;
  }

  /** Each item of this round has risen by so many, at most by {@link rounds}, instead of by one. */
  tookRounds(group: number, taken: number): void {
    if (taken > 1) this.#binsOf[group]?.[0]?.tookRounds(taken);
  }

  /** The least loaded item of the group that does not have the mark, or -1. Marks are set in the scratch. */
  firstUnmarked(mark: number, group = 0): number {
    const bins = this.#binsOf[group] as readonly Bin[];
    let best = -1;
    for (let i = 0; i < bins.length; i++) {
      const item = (bins[i] as Bin).firstUnmarked(mark);
      if (best === -1 || (item !== -1 && this.before(item, best))) best = item;
    }
    return best;
  }

  /** Takes the item out. */
  drop(item: number): void {
    this.#dropped[item] = 1;
    this.#drops.count++;
  }

  /** Whether `a` is to be taken before `b`. */
  before(a: number, b: number): boolean {
    const capacityA = this.#capacity === undefined ? 1 : at(this.#capacity, a);
    const capacityB = this.#capacity === undefined ? 1 : at(this.#capacity, b);
    const load = at(this.#count, a) * capacityB - at(this.#count, b) * capacityA;
    if (load !== 0) return load < 0;
    const tie = at(this.#tie, a) * capacityB - at(this.#tie, b) * capacityA;
    return tie !== 0 ? tie < 0 : a < b;
  }
}
