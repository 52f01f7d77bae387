import type { Identified, Order } from './problem-view.ts';

/** Items in an order of their ids, which is found anew only when items have come or gone. */
export class Ordered<T extends Identified> {
  readonly #order: Order;
  #items: readonly T[] = [];
  #ids: readonly string[] | undefined = [];
  #added = new Set<T>();
  #gone = new Set<T>();

  constructor(order: Order) {
    this.#order = order;
  }

  add(item: T): void {
    this.#added.add(item);
  }

  remove(item: T): void {
    if (!this.#added.delete(item)) this.#gone.add(item);
  }

  /** An array that never changes. */
  get items(): readonly T[] {
    this.#settle();
    return this.#items;
  }

  /** As {@link items}, their ids. */
  get ids(): readonly string[] {
    this.#settle();
    this.#ids ??= this.#items.map(({ id }) => id);
    return this.#ids;
  }

  #settle(): void {
    if (this.#added.size + this.#gone.size === 0) return;
    this.#items = this.#order(this.#items, [...this.#added], this.#gone);
    this.#ids = undefined;
    this.#added = new Set();
    this.#gone = new Set();
  }
}
