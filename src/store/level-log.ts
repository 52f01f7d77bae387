import type { Clock, RecordBatch, RecordLog } from '../../actors/ports.ts';
import { LogError } from '../../actors/ports.ts';
import type { GroupRecord, TargetMemberRecord } from '../../machines/records.ts';
import { decodeRecord, encodeRecord, type ForeignRecord } from '../wire/records/group-record.ts';
import { targetBytesMax } from '../wire/records/target-bytes.ts';
import { type Change, type KeyValues, keysUnder, sizeOf } from './key-values.ts';
import { keyOf, prefixes, uint16Key } from './layout.ts';
import { Portion } from './portion.ts';
import { reasonOf } from './store-error.ts';

/** Bounds of a {@link LevelLog}, in bytes of keys and values. */
export type LevelLogBounds = {
  /** One batch above this is refused with MESSAGE_TOO_LARGE. */
  readonly batchBytesMax: number;
  /** Appends that went down together; a larger one goes down alone. */
  readonly writeBytesMax: number;
  /** Appends that wait; one more is refused with NOT_ENOUGH_REPLICAS, which clients retry. */
  readonly queuedBytesMax: number;
};

/** Room for a group of ten thousand members in one batch, and for some hundred such groups at once. */
export const defaultLevelLogBounds: LevelLogBounds = {
  batchBytesMax: 32 * 1024 * 1024,
  writeBytesMax: 4 * 1024 * 1024,
  queuedBytesMax: 256 * 1024 * 1024,
};

/**
 * Targets made into keys and values in one go, before the event loop has its turn: a fraction of a millisecond. Only targets
 * wait for that: a decision writes few of all other records, but of these as many as its group has members.
 */
const TARGETS_AT_ONCE = { countMax: 100, bytesMax: 256 * 1024 };

/** A batch on its way to keys and values of the store. */
class AdmittedBatch implements RecordBatch {
  readonly shard: number;
  readonly timestampMs: number;
  readonly records: readonly GroupRecord[];
  /** As far as they are made, each in the place of its record. */
  readonly changes: (Change | undefined)[] = [];
  /** How many are not. */
  left = 0;
  /** Of targets that are not made yet, the most that they can be. */
  readonly bytes: number;

  /** Makes all but long rows of targets. Throws {@link LogError} when a record has no form on disk. */
  constructor({ shard, timestampMs, records }: RecordBatch) {
    this.shard = shard;
    this.timestampMs = timestampMs;
    this.records = records;
    const targets = new Portion(TARGETS_AT_ONCE);
    let bytes = 0;
    for (const record of records) {
      if (isTarget(record) && targets.isFull) {
        this.changes.push(undefined);
        this.left++;
        bytes += targetBytesMax(record);
        continue;
      }
      const change = toChange(shard, record);
      const size = sizeOf(change);
      if (isTarget(record)) targets.add(size);
      this.changes.push(change);
      bytes += size;
    }
    this.bytes = bytes;
  }
}

type Append = {
  readonly shard: number;
  readonly batches: readonly AdmittedBatch[];
  readonly bytes: number;
  /** Refused at the door; told in its turn, so that what is behind it falls with it. */
  readonly refusal: LogError | undefined;
  readonly resolve: () => void;
  readonly reject: (error: LogError) => void;
};

/**
 * The log of all shards on an engine of keys and values. Key and value are Kafka's own bytes, so that the store is
 * the compacted log: a later record of a key replaces the one before, a tombstone removes it.
 *
 * Group commit: what is appended while a write is under way, by whatever shard, goes down in the next one, synced.
 * The first append of a turn waits for the rest of that turn. There is no deadline here: a write that is under way
 * cannot be taken back, so giving up on it would leave the caller not knowing what is kept.
 *
 * Source: records-and-configs LG-3 to LG-9, BA-1 to BA-3; design 4, embedded store.
 */
export class LevelLog implements RecordLog {
  readonly #keyValues: KeyValues;
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #bounds: LevelLogBounds;
  #queue: Append[] = [];
  #queuedBytes = 0;
  #draining = false;
  #closed = false;
  #idle: Promise<void> = Promise.resolve();

  constructor(
    keyValues: KeyValues,
    clock: Pick<Clock, 'soon'>,
    bounds: LevelLogBounds = defaultLevelLogBounds,
  ) {
    this.#keyValues = keyValues;
    this.#clock = clock;
    this.#bounds = bounds;
  }

  admit(batch: RecordBatch): RecordBatch {
    return this.#admitted(batch);
  }

  append(batches: readonly RecordBatch[]): Promise<void> {
    const shard = batches[0]?.shard;
    if (shard === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const { batches: admitted, bytes, refusal } = this.#admitAll(shard, batches);
      this.#queuedBytes += bytes;
      this.#queue.push({ shard, batches: admitted, bytes, refusal, resolve, reject });
      if (!this.#draining) this.#startDraining();
    });
  }

  async load(
    shard: number,
    onRecord: (record: GroupRecord) => void,
    onUnknown: (recordType: number) => void,
  ): Promise<void> {
    const prefix = prefixOf(shard);
    try {
      for await (const entries of this.#keyValues.scan(keysUnder(prefix))) {
        for (const [key, value] of entries) {
          const record = decodeRecord(key.subarray(prefix.length), value);
          if (record.type === 'unknown') onUnknown(record.recordType);
          else if (record.type === 'foreign') throw new Error(foreignText(record));
          else onRecord(record);
        }
      }
    } catch (thrown) {
      throw storageError(`Load shard ${shard}`, thrown);
    }
  }

  /** Waits for the appends already called. The engine is closed by whoever opened it. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#idle;
  }

  #admitAll(
    shard: number,
    batches: readonly RecordBatch[],
  ): Pick<Append, 'batches' | 'bytes' | 'refusal'> {
    const refuse = (refusal: LogError) => ({ batches: [], bytes: 0, refusal });
    if (this.#closed) {
      return refuse(new LogError('KAFKA_STORAGE_ERROR', `Append to shard ${shard}: log is closed`));
    }
    const admitted: AdmittedBatch[] = [];
    let bytes = 0;
    try {
      for (const batch of batches) {
        const each = this.#admitted(batch);
        admitted.push(each);
        bytes += each.bytes;
      }
    } catch (thrown) {
      return refuse(thrown instanceof LogError ? thrown : storageError('Encode records', thrown));
    }
    const { queuedBytesMax } = this.#bounds;
    if (this.#queuedBytes + bytes > queuedBytesMax) {
      const text = `Append to shard ${shard}: ${this.#queuedBytes} bytes are waiting, at most ${queuedBytesMax}`;
      return refuse(new LogError('NOT_ENOUGH_REPLICAS', text));
    }
    return { batches: admitted, bytes, refusal: undefined };
  }

  #admitted(batch: RecordBatch): AdmittedBatch {
    if (batch instanceof AdmittedBatch) return batch;
    const admitted = new AdmittedBatch(batch);
    const { batchBytesMax } = this.#bounds;
    if (admitted.bytes > batchBytesMax) {
      const text = `Append to shard ${batch.shard}: a batch of ${admitted.bytes} bytes, at most ${batchBytesMax}`;
      throw new LogError('MESSAGE_TOO_LARGE', text);
    }
    return admitted;
  }

  #startDraining(): void {
    this.#draining = true;
    this.#idle = new Promise((resolve) => {
      this.#clock.soon(() => {
        void this.#drain().finally(resolve);
      });
    });
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const appends = await this.#encodeRest(this.#takeForOneWrite());
      if (appends.length > 0) await this.#write(appends);
      const refused = this.#queue[0]?.refusal;
      if (refused !== undefined) this.#fail(this.#queue.splice(0, 1), refused);
    }
    this.#draining = false;
  }

  /** From the front, up to the bound or the first refused one; at least one that is not refused. */
  #takeForOneWrite(): readonly Append[] {
    let bytes = 0;
    let count = 0;
    for (const append of this.#queue) {
      if (append.refusal !== undefined) break;
      bytes += append.bytes;
      if (count > 0 && bytes > this.#bounds.writeBytesMax) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  /**
   * Makes the targets that were left, some at a time. What cannot be made fails, and what was decided on top of it.
   *
   * @returns the appends that can be written.
   */
  async #encodeRest(appends: readonly Append[]): Promise<readonly Append[]> {
    let sound = appends;
    for (const append of appends) {
      const { shard, batches } = append;
      if (batches.every(({ left }) => left === 0) || !sound.includes(append)) continue;
      try {
        for (const batch of batches) await this.#encodeTargets(batch);
      } catch (thrown) {
        const lost = sound.slice(sound.indexOf(append)).filter((each) => each.shard === shard);
        sound = sound.filter((each) => !lost.includes(each));
        this.#fail(lost, thrown instanceof LogError ? thrown : storageError('Encode', thrown));
      }
    }
    return sound;
  }

  async #encodeTargets(batch: AdmittedBatch): Promise<void> {
    const { shard, records, changes } = batch;
    if (batch.left === 0) return;
    await this.#nextTurn();
    const made = new Portion(TARGETS_AT_ONCE);
    for (const [at, record] of records.entries()) {
      if (changes[at] !== undefined) continue;
      if (made.isFull) {
        await this.#nextTurn();
        made.empty();
      }
      const change = toChange(shard, record);
      changes[at] = change;
      batch.left--;
      made.add(sizeOf(change));
    }
  }

  #nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#clock.soon(resolve));
  }

  async #write(appends: readonly Append[]): Promise<void> {
    const changes: Change[] = [];
    for (const { batches } of appends) {
      for (const batch of batches) {
        for (const change of batch.changes as readonly Change[]) changes.push(change);
      }
    }
    try {
      await this.#keyValues.write(changes, { sync: true });
    } catch (thrown) {
      this.#fail(appends, storageError('Append to the log', thrown));
      return;
    }
    for (const append of appends) this.#leave(append).resolve();
  }

  /** What stands behind a lost append of the same shard was decided on top of it, and falls with it. */
  #fail(lost: readonly Append[], error: LogError): void {
    const shards = new Set(lost.map((append) => append.shard));
    const behind = this.#queue.filter((append) => shards.has(append.shard));
    this.#queue = this.#queue.filter((append) => !shards.has(append.shard));
    for (const append of [...lost, ...behind]) this.#leave(append).reject(error);
  }

  #leave(append: Append): Append {
    this.#queuedBytes -= append.bytes;
    return append;
  }
}

function isTarget(record: GroupRecord): record is TargetMemberRecord {
  return record.type === 'targetMember';
}

/** What the keys of a shard's records begin with, made once: one for each shard is all that there can be. */
const shardPrefixes: Buffer[] = [];

function prefixOf(shard: number): Buffer {
  const made = shardPrefixes[shard] ?? keyOf(prefixes.records, uint16Key(shard));
  shardPrefixes[shard] = made;
  return made;
}

/** @throws LogError when the record has no form on disk. */
function toChange(shard: number, record: GroupRecord): Change {
  try {
    const { key, value } = encodeRecord(record, prefixOf(shard));
    return value === null ? { type: 'del', key } : { type: 'put', key, value };
  } catch (thrown) {
    const text = `Encode records of shard ${shard}: ${reasonOf(thrown)}`;
    throw new LogError('UNKNOWN_SERVER_ERROR', text, { cause: thrown });
  }
}

/** Nothing here writes such records, and the id cannot be two kinds of group at once (LOG-1). */
function foreignText({ groupId, groupType }: ForeignRecord): string {
  return `group "${groupId}" has records of a ${groupType} group, wanted streams`;
}

function storageError(action: string, thrown: unknown): LogError {
  return new LogError('KAFKA_STORAGE_ERROR', `${action}: ${reasonOf(thrown)}`, { cause: thrown });
}
