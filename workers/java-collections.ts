/**
 * The order of things in Java's collections, as far as Kafka's assignor depends on it: of two processes that are as good
 * as each other it takes the one that its collections give first.
 *
 * Source: the contract of Java's String.hashCode and what HashMap and PriorityQueue of Java 17 do; shown against
 * Kafka itself by the differential histories.
 */

const DEFAULT_CAPACITY = 16;
const LOAD_FACTOR = 0.75;

/**
 * The keys of a HashMap in the order in which it gives them, after `put` of each, one after the other; a key that is
 * there already changes nothing. Bins of eight and more, which become trees, are taken as lists.
 */
export function hashMapOrder(keys: readonly string[]): string[] {
  const table = new HashTable(DEFAULT_CAPACITY);
  for (const key of keys) {
    if (table.has(key)) continue;
    table.append(key);
    if (table.isOverfull()) table.double();
  }
  return table.keys();
}

/**
 * The same for `computeIfAbsent` of each on a HashMap that was made for as many entries as there are `keys`. It looks
 * whether to grow before it adds, and adds at the head of a bin.
 */
export function computeIfAbsentOrder(keys: readonly string[]): string[] {
  const table = new HashTable(powerOfTwoFrom(keys.length));
  for (const key of keys) {
    if (table.isOverfull()) table.double();
    if (!table.has(key)) table.prepend(key);
  }
  return table.keys();
}

class HashTable {
  #bins: string[][];
  readonly #keys = new Set<string>();

  constructor(capacity: number) {
    this.#bins = emptyBins(capacity);
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  append(key: string): void {
    this.#keys.add(key);
    this.#binOf(key).push(key);
  }

  prepend(key: string): void {
    this.#keys.add(key);
    this.#binOf(key).unshift(key);
  }

  isOverfull(): boolean {
    return this.#keys.size > Math.floor(this.#bins.length * LOAD_FACTOR);
  }

  /** Keys that stay together keep their order. */
  double(): void {
    const keys = this.keys();
    this.#bins = emptyBins(2 * this.#bins.length);
    for (const key of keys) this.#binOf(key).push(key);
  }

  keys(): string[] {
    return this.#bins.flat();
  }

  #binOf(key: string): string[] {
    const hash = stringHash(key);
    // Capacities are powers of two: the mask picks a bin.
    return this.#bins[(hash ^ (hash >>> 16)) & (this.#bins.length - 1)] as string[];
  }
}

function emptyBins(count: number): string[][] {
  return Array.from({ length: count }, () => []);
}

function powerOfTwoFrom(least: number): number {
  let capacity = 1;
  while (capacity < least) capacity *= 2;
  return capacity;
}

function stringHash(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(31, hash) + text.charCodeAt(at)) | 0;
  return hash;
}

/** A PriorityQueue of numbers: which of equals comes first follows from its binary heap. */
export class PriorityHeap {
  readonly #weight: (item: number) => number;
  readonly #items: number[] = [];

  /** @param weight what items are compared by; may change only for an item that is not in the heap. */
  constructor(weight: (item: number) => number) {
    this.#weight = weight;
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: number): void {
    const items = this.#items;
    let hole = items.length;
    while (hole > 0) {
      const parent = (hole - 1) >>> 1;
      const above = items[parent] as number;
      if (this.#weight(item) >= this.#weight(above)) break;
      items[hole] = above;
      hole = parent;
    }
    items[hole] = item;
  }

  /** Takes the least item out; undefined when there is none. */
  poll(): number | undefined {
    const items = this.#items;
    const least = items[0];
    const moved = items.pop();
    if (moved === undefined || items.length === 0) return least;
    let hole = 0;
    for (let child = 1; child < items.length; child = 2 * hole + 1) {
      const right = child + 1;
      const rightIsLess =
        right < items.length &&
        this.#weight(items[child] as number) > this.#weight(items[right] as number);
      const lesser = rightIsLess ? right : child;
      if (this.#weight(moved) <= this.#weight(items[lesser] as number)) break;
      items[hole] = items[lesser] as number;
      hole = lesser;
    }
    items[hole] = moved;
    return least;
  }
}
