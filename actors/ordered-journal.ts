import type { JournalEntry, JournalPort, Log } from './ports.ts';

/** An entry that takes a while to be made. Settles in bounded time. */
export type LaterEntry = { readonly groupId: string; readonly made: Promise<JournalEntry> };

/** Entries of one group that wait for an earlier one; more are told at once, out of order. */
const WAITING_MAX = 1_000;

/** Tells the journal in the order of decisions: what follows an entry that is not made yet waits for it, in its group. */
export class OrderedJournal {
  readonly #journal: JournalPort;
  readonly #log: Pick<Log, 'error'>;
  /** By group that has an entry in the making: what is to follow it. */
  readonly #waiting = new Map<string, (JournalEntry | LaterEntry)[]>();

  constructor({ journal, log }: { journal: JournalPort; log: Pick<Log, 'error'> }) {
    this.#journal = journal;
    this.#log = log;
  }

  tell(entry: JournalEntry | LaterEntry): void {
    const waiting = this.#waiting.get(entry.groupId);
    if (waiting !== undefined && waiting.length < WAITING_MAX) waiting.push(entry);
    else if ('made' in entry) this.#await(entry);
    else this.#journal.write(entry);
  }

  #await({ groupId, made }: LaterEntry): void {
    const isFirst = !this.#waiting.has(groupId);
    if (isFirst) this.#waiting.set(groupId, []);
    made
      .then(
        (entry) => this.#journal.write(entry),
        (cause: unknown) => this.#log.error({ err: cause, groupId }, 'Cannot tell why tasks move'),
      )
      .finally(() => {
        if (isFirst) this.#goOn(groupId);
      });
  }

  #goOn(groupId: string): void {
    const waiting = this.#waiting.get(groupId) ?? [];
    this.#waiting.delete(groupId);
    for (const entry of waiting) this.tell(entry);
  }
}
