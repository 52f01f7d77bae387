import type { RecordBatch, RecordLog } from '../../actors/ports.ts';
import { LogError } from '../../actors/ports.ts';
import type { GroupRecord } from '../../machines/records.ts';

/**
 * A log that keeps whole batches as values, from the first to the last and nothing compacted: for tests and
 * simulation, where a history is to be looked at and cut. It grows for as long as it is written to.
 */
export class MemoryLog implements RecordLog {
  readonly #batches: RecordBatch[];
  #closed = false;

  constructor(batches: readonly RecordBatch[] = []) {
    this.#batches = [...batches];
  }

  /** Everything appended, of all shards, in the order of the calls. */
  get batches(): readonly RecordBatch[] {
    return this.#batches;
  }

  /** A log of its own that holds the first `count` batches: what a crash at that moment would have left. */
  prefix(count: number): MemoryLog {
    return new MemoryLog(this.#batches.slice(0, count));
  }

  /** Values are kept as they are: there is nothing that could not be. */
  admit(batch: RecordBatch): RecordBatch {
    return batch;
  }

  async append(batches: readonly RecordBatch[]): Promise<void> {
    if (this.#closed) throw new LogError('KAFKA_STORAGE_ERROR', 'Append to the log: it is closed');
    this.#batches.push(...batches);
  }

  /** Gives every record ever appended; there are no types it does not know. */
  async load(shard: number, onRecord: (record: GroupRecord) => void): Promise<void> {
    if (this.#closed) throw new LogError('KAFKA_STORAGE_ERROR', 'Load from the log: it is closed');
    for (const batch of this.#batches) {
      if (batch.shard === shard) for (const record of batch.records) onRecord(record);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}
