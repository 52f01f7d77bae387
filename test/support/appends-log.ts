import type { RecordBatch, RecordLog } from '../../actors/ports.ts';
import { MemoryLog } from '../../src/store/memory.ts';

/** A log that remembers which batches went down together, and takes nothing more once its process is dead. */
export class AppendsLog implements RecordLog {
  readonly appends: (readonly RecordBatch[])[] = [];
  readonly #memory: MemoryLog;
  #isDead = false;

  constructor(before: readonly RecordBatch[]) {
    this.#memory = new MemoryLog(before);
  }

  get batches(): readonly RecordBatch[] {
    return this.#memory.batches;
  }

  admit(batch: RecordBatch): RecordBatch {
    return this.#memory.admit(batch);
  }

  async append(batches: readonly RecordBatch[]): Promise<void> {
    if (this.#isDead) return new Promise(() => {});
    this.appends.push(batches);
    return this.#memory.append(batches);
  }

  load(shard: number, onRecord: Parameters<RecordLog['load']>[1]): Promise<void> {
    return this.#memory.load(shard, onRecord);
  }

  async close(): Promise<void> {
    this.#isDead = true;
  }
}
