/**
 * A bounded queue, first in, first out. What comes from inside (a timer, a finished run) is always taken: there is
 * at most one of it per group or member, and to lose it would strand them.
 */
export class Mailbox<T> {
  readonly #limit: number;
  #items: (T | undefined)[] = [];
  #head = 0;

  /** @param limit messages from outside that may wait. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** False when the queue is full: the message was not taken. */
  offer(item: T): boolean {
    if (this.size >= this.#limit) return false;
    this.#items.push(item);
    return true;
  }

  /** For messages from inside; never refused. */
  push(item: T): void {
    this.#items.push(item);
  }

  take(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (this.#head >= 4096 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Empties the queue and hands over what was in it. */
  drain(): T[] {
    const rest = this.#items.slice(this.#head) as T[];
    this.#items = [];
    this.#head = 0;
    return rest;
  }
}
