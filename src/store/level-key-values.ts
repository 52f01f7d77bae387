import { ClassicLevel } from 'classic-level';
import type { Clock } from '../../actors/ports.ts';
import {
  type Change,
  type Entry,
  type KeyRange,
  type KeyValues,
  type ScanOptions,
  sizeOf,
} from './key-values.ts';
import { FORMAT_VERSION, keyOf, prefixes, toJson } from './layout.ts';
import { makeFolder } from './make-folder.ts';
import { Portion } from './portion.ts';
import { Serial } from './serial.ts';
import { reasonOf, StoreError } from './store-error.ts';

type Level = ClassicLevel<Buffer, Buffer>;

/** Whoever scans works on a chunk before others have the event loop: a hundred records are made in well under 1 ms. */
const CHUNK_ENTRIES = 100;
const CHUNK_BYTES = 1024 * 1024;

/** Handed to LevelDB, which copies it, before the event loop has its turn: a fraction of a millisecond. */
const HANDED_OVER_AT_ONCE = { countMax: 500, bytesMax: 512 * 1024 };

/** A file system that does not answer must not keep a start, or the end of it, waiting for ever. */
const OPEN_TIMEOUT_MS = 30_000;

const HEADER_KEY = keyOf(prefixes.header);

const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const;

/** Where a store lies and what it must be for. */
export type LevelOptions = {
  /** Made when it is not there. */
  readonly folder: string;
  /** Must be what the folder was made with: another number would route groups elsewhere (LG-2). */
  readonly shardCount: number;
  /** Bounds how long the opening takes, and parts long writes. Left out, either takes as long as it does. */
  readonly clock?: Pick<Clock, 'after' | 'soon'>;
};

/**
 * A LevelDB folder of our own, held by this process alone. Writes land in the order of the calls.
 *
 * LevelDB may leave half a record behind when a write fails, and would then lose what comes after it at the next
 * start; and a record it called failed may still come back. So after a failed write the folder is opened anew and
 * what the write touched is put back as it was, before anything else is written, or at the close. Reads fail meanwhile.
 */
export class LevelKeyValues implements KeyValues {
  readonly #folder: string;
  readonly #clock: Pick<Clock, 'soon'> | undefined;
  readonly #writes = new Serial();
  #level: Level;
  #closed = false;
  /** A failed write; undefined when there is nothing to repair. */
  #failedWrite: readonly Change[] | undefined;
  /** What it touched, as it was before; undefined until it could be read. */
  #undo: Change[] | undefined;

  private constructor(level: Level, { folder, clock }: Pick<LevelOptions, 'folder' | 'clock'>) {
    this.#level = level;
    this.#folder = folder;
    this.#clock = clock;
  }

  /**
   * Opens the folder, or makes it. Rejects with {@link StoreError}: `locked` (another process holds it),
   * `wrongShardCount`, `newerFormat`, `foreign` (a database that is not ours), `unreadable` (or, with a clock, not open within 30 s).
   *
   * Source: records-and-configs 7.2, store layout.
   */
  static async open({ clock, ...options }: LevelOptions): Promise<LevelKeyValues> {
    const { folder } = options;
    const opening = openChecked(options);
    if (clock === undefined) return new LevelKeyValues(await opening, { folder });
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(OPEN_TIMEOUT_MS, () => {
        const reason = `it was not open within ${OPEN_TIMEOUT_MS} ms`;
        reject(new StoreError('unreadable', `Open the store in ${folder}: ${reason}`));
        // What comes after all is nobody's: let go of the folder.
        opening.then((level) => level.close()).catch(() => undefined);
      });
    });
    try {
      return new LevelKeyValues(await Promise.race([opening, late]), { folder, clock });
    } finally {
      cancel();
    }
  }

  async get(key: Buffer): Promise<Buffer | undefined> {
    this.#refuseIfClosed();
    return await this.#level.get(key, encodings).catch(this.#failed('Read'));
  }

  async *scan(range: KeyRange, options: ScanOptions = {}): AsyncGenerator<readonly Entry[]> {
    this.#refuseIfClosed();
    const iterator = this.#iterator(range, options);
    try {
      for (;;) {
        const chunk = await iterator.nextv(CHUNK_ENTRIES).catch(this.#failed('Read'));
        if (chunk.length === 0) return;
        yield chunk;
      }
    } finally {
      await iterator.close();
    }
  }

  #iterator(range: KeyRange, options: ScanOptions) {
    try {
      return this.#level.iterator({
        ...encodings,
        gte: range.from,
        lt: range.to,
        reverse: options.backwards ?? false,
        limit: options.limit ?? -1,
        highWaterMarkBytes: CHUNK_BYTES,
      });
    } catch (thrown) {
      // While a failed write is undone the folder is not open.
      return this.#failed('Read')(thrown);
    }
  }

  async write(changes: readonly Change[], options: { readonly sync: boolean }): Promise<void> {
    this.#refuseIfClosed();
    await this.#writes.run(async () => {
      await this.#repair();
      await this.#writeAll(this.#level, changes, options).catch((thrown) => {
        this.#failedWrite = changes;
        return this.#failed('Write')(thrown);
      });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#writes.run(async () => {
      // What cannot be repaired now cannot be told to anybody either.
      await this.#repair().catch(() => undefined);
      await this.#level.close();
    });
  }

  /** Undoes a failed write, if there is one; what failed of it is tried again the next time. */
  async #repair(): Promise<void> {
    if (this.#failedWrite === undefined) return;
    try {
      this.#undo ??= await asItWas(this.#level, this.#failedWrite);
      await this.#level.close();
      this.#level = await this.#openUndone(this.#undo);
      this.#failedWrite = undefined;
      this.#undo = undefined;
    } catch (thrown) {
      this.#failed('Repair')(thrown);
    }
  }

  /** The folder anew; nobody reads from it before everything is as it was. */
  async #openUndone(undo: readonly Change[]): Promise<Level> {
    // A folder that was taken away is not made anew: what was answered from it would be missing without a word.
    const level = await openLevel(this.#folder, { createIfMissing: false });
    try {
      await this.#writeAll(level, undo, { sync: true });
      return level;
    } catch (thrown) {
      await level.close();
      throw thrown;
    }
  }

  /**
   * Makes all changes or none. They are handed over one by one, which costs the event loop much less than an array of
   * them would, and others have their turn after every so many.
   */
  async #writeAll(
    level: Level,
    changes: readonly Change[],
    options: { readonly sync: boolean },
  ): Promise<void> {
    const batch = level.batch();
    try {
      const handedOver = new Portion(HANDED_OVER_AT_ONCE);
      for (const change of changes) {
        if (handedOver.isFull) {
          await this.#nextTurn();
          handedOver.empty();
        }
        if (change.type === 'put') batch.put(change.key, change.value);
        else batch.del(change.key);
        handedOver.add(sizeOf(change));
      }
      await batch.write(options);
    } finally {
      await batch.close();
    }
  }

  #nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#clock === undefined) resolve();
      else this.#clock.soon(resolve);
    });
  }

  #failed(action: string): (thrown: unknown) => never {
    return (thrown) => {
      const text = `${action} the store in ${this.#folder}: ${reasonOf(thrown)}`;
      throw new StoreError('failed', text, { cause: thrown });
    };
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new StoreError('closed', 'Use the store: it is closed');
  }
}

/** A failed write never reached the engine's memory, so that still answers with the values before it. */
async function asItWas(level: Level, changes: readonly Change[]): Promise<Change[]> {
  const keys = changes.map((change) => change.key);
  const values = await level.getMany(keys, encodings);
  return keys.map((key, at) => {
    const value = values[at];
    return value === undefined ? { type: 'del', key } : { type: 'put', key, value };
  });
}

type CheckedOptions = Pick<LevelOptions, 'folder' | 'shardCount'>;

/** A folder that is ours and for this number of shards. */
async function openChecked({ folder, shardCount }: CheckedOptions): Promise<Level> {
  await makeFolder(folder).catch((cause) => {
    throw new StoreError('unreadable', `Open the store in ${folder}: ${reasonOf(cause)}`, {
      cause,
    });
  });
  const level = await openLevel(folder, { createIfMissing: true });
  try {
    await checkHeader(level, { folder, shardCount });
    return level;
  } catch (thrown) {
    await level.close();
    throw thrown;
  }
}

async function openLevel(
  folder: string,
  options: { readonly createIfMissing: boolean },
): Promise<Level> {
  const level: Level = new ClassicLevel(folder, encodings);
  try {
    await level.open(options);
    return level;
  } catch (thrown) {
    const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
    if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
      throw new StoreError(
        'locked',
        `Open the store in ${folder}: it is in use by another process (--data-dir)`,
        { cause },
      );
    }
    throw new StoreError('unreadable', `Open the store in ${folder}: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/** Writes the header of a new folder, holds that of an old one against what is wanted. */
async function checkHeader(level: Level, { folder, shardCount }: CheckedOptions): Promise<void> {
  const stored = await level.get(HEADER_KEY, encodings);
  if (stored === undefined) {
    for await (const _ of level.keys({ ...encodings, limit: 1 })) {
      throw new StoreError('foreign', `Open the store in ${folder}: it holds other data`);
    }
    const header = toJson({ format: FORMAT_VERSION, shards: shardCount });
    await level.put(HEADER_KEY, header, { ...encodings, sync: true });
    return;
  }
  const header = parseHeader(stored);
  if (header === undefined) {
    throw new StoreError('foreign', `Open the store in ${folder}: it holds other data`);
  }
  if (header.format > FORMAT_VERSION) {
    throw new StoreError(
      'newerFormat',
      `Open the store in ${folder}: its format is ${header.format}, this build knows up to ${FORMAT_VERSION}`,
    );
  }
  if (header.shards !== shardCount) {
    throw new StoreError(
      'wrongShardCount',
      `Open the store in ${folder}: it was made with offsets.topic.num.partitions=${header.shards}, not ${shardCount}`,
    );
  }
}

function parseHeader(stored: Buffer): { format: number; shards: number } | undefined {
  try {
    const { format, shards } = JSON.parse(stored.toString('utf8'));
    return Number.isInteger(format) && Number.isInteger(shards) ? { format, shards } : undefined;
  } catch {
    return undefined;
  }
}
