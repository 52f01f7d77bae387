import type { Clock, JournalEntry, JournalPort, Log } from '../../actors/ports.ts';
import { type Change, type Entry, type KeyValues, keysUnder } from './key-values.ts';
import { keyOf, prefixes, toJson, uint16Key, uint64Key } from './layout.ts';
import { reasonOf } from './store-error.ts';

/** Bounds of a journal. */
export type JournalBounds = {
  /** `journal.retention.ms`: entries older than this go. */
  readonly retentionMs: number;
  /** `journal.max.bytes`: beyond it the oldest go; keys and values as they are stored, before compression. */
  readonly bytesMax: number;
};

/** An entry with its place in the history of all groups: ascending, each once, with gaps within a group. */
export type KeptEntry = JournalEntry & { readonly sequence: number };

/** What can be asked of a journal. */
export interface JournalReader {
  /**
   * Entries of one group, oldest first, at most `limit`: those after the sequence `after`, or, without it, the newest.
   * Sees everything written before the call. Rejects with `StoreError`.
   */
  read(
    groupId: string,
    options: { readonly limit: number; readonly after?: number },
  ): Promise<readonly KeptEntry[]>;
}

/** Entries that wait to be written; one more is dropped. */
const PENDING_MAX = 10_000;
/** Entries in one write: made before the event loop has its turn, in a fraction of a millisecond. */
const WRITE_MAX = 250;
/** Entries looked at for pruning after a write, for each that was written: pruning outruns writing. */
const PRUNE_PER_WRITTEN = 2;
const PRUNE_MIN = 50;
/** How long an entry may wait for others to be written with it. */
const FLUSH_AFTER_MS = 100;

/** What is in the store; kept with every write, so that it is always true of it. */
type Totals = {
  readonly bytes: number;
  /** The oldest entry has this sequence or a later one. */
  readonly firstSequence: number;
  readonly nextSequence: number;
};

/** An entry's place in order of age. */
type Aged = { readonly groupId: string; readonly atMs: number; readonly bytes: number };

/**
 * The history of decisions, on an engine of keys and values. Writing costs the caller a push: entries go down in the
 * background, a tenth of a second later, not synced, so that what is left behind by a loss of power is a gap at the end.
 * When more comes than can be written, entries are dropped with one warning.
 *
 * Source: records-and-configs 7.2, store layout and journal settings.
 */
export class LevelJournal implements JournalPort, JournalReader {
  readonly #keyValues: KeyValues;
  readonly #clock: Pick<Clock, 'nowMs' | 'after'>;
  readonly #log: Log;
  readonly #bounds: JournalBounds;
  #totals: Totals;
  /** When the oldest entry in the store was written, or an earlier moment: whether pruning is worth a look. */
  #oldestMs = Number.NEGATIVE_INFINITY;
  #pending: JournalEntry[] = [];
  #dropped = 0;
  #cancelTimer: (() => void) | undefined;
  #flushing: Promise<void> | undefined;
  #closed = false;

  private constructor(options: JournalOptions, totals: Totals) {
    this.#keyValues = options.keyValues;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#bounds = options.bounds;
    this.#totals = totals;
  }

  /** Goes on where the journal in the store ended; rejects with `StoreError`. */
  static async open(options: JournalOptions): Promise<LevelJournal> {
    const stored = await options.keyValues.get(keyOf(prefixes.journalTotals));
    const totals: Totals =
      stored === undefined
        ? { bytes: 0, firstSequence: 0, nextSequence: 0 }
        : JSON.parse(stored.toString('utf8'));
    return new LevelJournal(options, totals);
  }

  /** Bytes of the entries in the store. */
  get bytes(): number {
    return this.#totals.bytes;
  }

  write(entry: JournalEntry): void {
    if (this.#closed) return;
    if (this.#pending.length >= PENDING_MAX) {
      this.#drop(1, 'more than can be written');
      return;
    }
    this.#pending.push(entry);
    if (this.#flushing === undefined) this.#arm();
  }

  async read(
    groupId: string,
    { limit, after }: { readonly limit: number; readonly after?: number },
  ): Promise<readonly KeptEntry[]> {
    await this.flush();
    const prefix = groupPrefix(groupId);
    const range = keysUnder(prefix);
    const scan =
      after === undefined
        ? this.#keyValues.scan(range, { limit, backwards: true })
        : this.#keyValues.scan(
            { ...range, from: Buffer.concat([prefix, uint64Key(after + 1)]) },
            { limit },
          );
    const entries: KeptEntry[] = [];
    for await (const chunk of scan) {
      for (const [key, value] of chunk) {
        const sequence = Number(key.readBigUInt64BE(prefix.length));
        entries.push({ sequence, ...JSON.parse(value.toString('utf8')) });
      }
    }
    return after === undefined ? entries.reverse() : entries;
  }

  /** Resolves when what was written so far is in the store, or could not be kept. Never rejects. */
  async flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    // One that is under way may have begun before the last entries came.
    await this.#flushing;
    this.#flushing ??= this.#writePending().finally(() => {
      this.#flushing = undefined;
      if (this.#pending.length > 0) this.#arm();
    });
    await this.#flushing;
  }

  /** Writes what waits. The engine is closed by whoever opened it. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  #arm(): void {
    this.#cancelTimer ??= this.#clock.after(FLUSH_AFTER_MS, () => {
      void this.flush();
    });
  }

  async #writePending(): Promise<void> {
    try {
      for (let left = this.#pending.length; left > 0; left -= WRITE_MAX) {
        const count = Math.min(left, WRITE_MAX);
        await this.#writeSome(this.#pending.slice(0, count));
        this.#pending.splice(0, count);
        await this.#prune(Math.max(PRUNE_MIN, PRUNE_PER_WRITTEN * count));
      }
      if (this.#dropped > 0) this.#log.info({ dropped: this.#dropped }, 'Journal is kept again');
      this.#dropped = 0;
    } catch (thrown) {
      this.#drop(this.#pending.length, reasonOf(thrown));
      this.#pending = [];
    }
  }

  /** One warning until everything that waits was written again. */
  #drop(count: number, reason: string): void {
    if (this.#dropped === 0) this.#log.warn({ reason }, 'Journal entries are dropped');
    this.#dropped += count;
  }

  async #writeSome(entries: readonly JournalEntry[]): Promise<void> {
    const { firstSequence } = this.#totals;
    let { bytes, nextSequence } = this.#totals;
    const changes: Change[] = [];
    for (const entry of entries) {
      const sequence = uint64Key(nextSequence);
      const key = Buffer.concat([groupPrefix(entry.groupId), sequence]);
      const value = toJson(entry);
      const aged: Aged = {
        groupId: entry.groupId,
        atMs: entry.atMs,
        bytes: key.length + value.length,
      };
      changes.push({ type: 'put', key, value });
      changes.push({ type: 'put', key: orderKey(nextSequence), value: toJson(aged) });
      bytes += aged.bytes;
      nextSequence++;
    }
    await this.#keep(changes, { bytes, firstSequence, nextSequence });
  }

  /** Takes away the oldest entries, as many as the bounds ask for; looks at no more than `countMax` of them. */
  async #prune(countMax: number): Promise<void> {
    let { bytes, firstSequence } = this.#totals;
    const { nextSequence } = this.#totals;
    const goneMs = this.#clock.nowMs() - this.#bounds.retentionMs;
    const mayStay = (atMs: number) => atMs >= goneMs && bytes <= this.#bounds.bytesMax;
    if (mayStay(this.#oldestMs)) return;
    const changes: Change[] = [];
    for (const [key, value] of await this.#oldest(countMax)) {
      const aged: Aged = JSON.parse(value.toString('utf8'));
      this.#oldestMs = aged.atMs;
      if (mayStay(aged.atMs)) break;
      const sequence = key.subarray(ORDER_PREFIX_BYTES);
      const entryKey = Buffer.concat([groupPrefix(aged.groupId), sequence]);
      changes.push({ type: 'del', key }, { type: 'del', key: entryKey });
      bytes -= aged.bytes;
      firstSequence = Number(sequence.readBigUInt64BE()) + 1;
    }
    if (changes.length > 0) await this.#keep(changes, { bytes, firstSequence, nextSequence });
  }

  /** In the order of age. */
  async #oldest(limit: number): Promise<readonly Entry[]> {
    const { firstSequence, nextSequence } = this.#totals;
    const range = { from: orderKey(firstSequence), to: orderKey(nextSequence) };
    const oldest: Entry[] = [];
    for await (const entries of this.#keyValues.scan(range, { limit })) oldest.push(...entries);
    return oldest;
  }

  async #keep(changes: readonly Change[], totals: Totals): Promise<void> {
    const key = keyOf(prefixes.journalTotals);
    await this.#keyValues.write([...changes, { type: 'put', key, value: toJson(totals) }], {
      sync: false,
    });
    this.#totals = totals;
  }
}

/** What a {@link LevelJournal} stands on. */
export type JournalOptions = {
  readonly keyValues: KeyValues;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  readonly log: Log;
  readonly bounds: JournalBounds;
};

/** The length stands in front, so that no group's keys lie among those of another. */
function groupPrefix(groupId: string): Buffer {
  const id = Buffer.from(groupId, 'utf8');
  return keyOf(prefixes.journal, uint16Key(id.length), id);
}

/** Of {@link orderKey}: what stands before the sequence. */
const ORDER_PREFIX_BYTES = 1;

function orderKey(sequence: number): Buffer {
  return keyOf(prefixes.journalOrder, uint64Key(sequence));
}
