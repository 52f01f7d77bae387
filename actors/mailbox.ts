import { Fifo } from './fifo.ts';

/**
 * What a message takes: `short` is a matter of microseconds, whatever the size of its group; `long` may take a
 * millisecond or more.
 */
export type Length = 'short' | 'long';

/** What a {@link Mailbox} has to know about what it holds. */
export type MailboxOptions<T> = {
  /** Messages from outside that may wait. */
  readonly limit: number;
  /** Messages of one line keep their order: those of a group, as a rule. */
  readonly lineOf: (item: T) => string | symbol;
  readonly lengthOf: (item: T) => Length;
};

/** The messages of one line that wait: never empty. */
type Line<T> = { readonly id: string | symbol; readonly messages: Fifo<T> };

/**
 * The messages of a shard that wait, a line for each group. Within a group they come out as they went in. The groups take
 * turns, one message at a time, among those whose next message is of the same length: so one with a thousand messages
 * holds up nobody, and a short message does not wait behind the long ones of other groups.
 *
 * It is bounded for what comes from outside. What comes from inside (a timer, a finished run) is always taken: there is
 * at most one of it per group or member, and to lose it would strand them.
 */
export class Mailbox<T> {
  readonly #options: MailboxOptions<T>;
  readonly #lines = new Map<string | symbol, Line<T>>();
  /** Each line once, by the length of its next message. */
  readonly #next: Readonly<Record<Length, Fifo<Line<T>>>> = { short: new Fifo(), long: new Fifo() };
  #size = 0;

  constructor(options: MailboxOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether {@link take} would give a message. */
  has(length: Length): boolean {
    return this.#next[length].size > 0;
  }

  /** False when the mailbox is full: the message was not taken. */
  offer(item: T): boolean {
    if (this.#size >= this.#options.limit) return false;
    this.push(item);
    return true;
  }

  /** For messages from inside; never refused. */
  push(item: T): void {
    this.#size++;
    const id = this.#options.lineOf(item);
    const known = this.#lines.get(id);
    if (known !== undefined) {
      known.messages.push(item);
      return;
    }
    const line = { id, messages: new Fifo<T>() };
    line.messages.push(item);
    this.#lines.set(id, line);
    this.#queue(line, item);
  }

  /** The next message of this length: that of the group which waits for its turn the longest. */
  take(length: Length): T | undefined {
    const line = this.#next[length].take();
    if (line === undefined) return undefined;
    this.#size--;
    const item = line.messages.take();
    const next = line.messages.first;
    if (next === undefined) this.#lines.delete(line.id);
    else this.#queue(line, next);
    return item;
  }

  /** Empties the mailbox and hands over what was in it, group by group. */
  drain(): T[] {
    const rest: T[] = [];
    for (const { messages } of this.#lines.values()) {
      for (let item = messages.take(); item !== undefined; item = messages.take()) rest.push(item);
    }
    this.#lines.clear();
    for (const lines of [this.#next.short, this.#next.long]) while (lines.size > 0) lines.take();
    this.#size = 0;
    return rest;
  }

  #queue(line: Line<T>, next: T): void {
    this.#next[this.#options.lengthOf(next)].push(line);
  }
}
