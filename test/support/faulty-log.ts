import type { LogErrorName, RecordBatch, RecordLog } from '../../actors/ports.ts';
import { LogError } from '../../actors/ports.ts';
import type { GroupRecord } from '../../machines/records.ts';

type Append = {
  readonly number: number;
  readonly batches: readonly RecordBatch[];
  readonly resolve: () => void;
  readonly reject: (error: LogError) => void;
};

/**
 * Another log, with faults. Appends are numbered from 1 in the order of the calls, over all shards. One that is told
 * to fail takes with it what was already called for its shard, as the port says.
 */
export class FaultyLog implements RecordLog {
  readonly #inner: RecordLog;
  readonly #faults = new Map<number, LogErrorName>();
  #queue: Append[] = [];
  #held = false;
  #draining = false;
  #called = 0;
  #refusesTarget = false;

  constructor(inner: RecordLog) {
    this.#inner = inner;
  }

  /** How often `append` was called. */
  get called(): number {
    return this.#called;
  }

  /** How many appends wait behind {@link hold}. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Lets the `nth` append, counted from the beginning, fail. */
  failAppend(nth: number, error: LogErrorName = 'NOT_ENOUGH_REPLICAS'): void {
    this.#faults.set(nth, error);
  }

  /** From now on appends wait until {@link release}. */
  hold(): void {
    this.#held = true;
  }

  /** Lets what waits, and all that follows, through. */
  release(): void {
    this.#held = false;
    void this.#drain();
  }

  /** The next batch with a target in it is refused at the door. */
  refuseNextTarget(): void {
    this.#refusesTarget = true;
  }

  admit(batch: RecordBatch): RecordBatch {
    if (this.#refusesTarget && batch.records.some(({ type }) => type === 'targetMember')) {
      this.#refusesTarget = false;
      throw new LogError('MESSAGE_TOO_LARGE', 'A batch of 9 bytes, at most 8');
    }
    return this.#inner.admit(batch);
  }

  append(batches: readonly RecordBatch[]): Promise<void> {
    this.#called++;
    const number = this.#called;
    return new Promise((resolve, reject) => {
      this.#queue.push({ number, batches, resolve, reject });
      void this.#drain();
    });
  }

  load(
    shard: number,
    onRecord: (record: GroupRecord) => void,
    onUnknown: (recordType: number) => void,
  ): Promise<void> {
    return this.#inner.load(shard, onRecord, onUnknown);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #drain(): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    // A turn's appends are all called before the first of them is judged.
    await Promise.resolve();
    while (!this.#held) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      const fault = this.#faults.get(next.number);
      if (fault === undefined)
        await this.#inner.append(next.batches).then(next.resolve, next.reject);
      else this.#fail(next, new LogError(fault, `Append ${next.number}: told to fail`));
    }
    this.#draining = false;
  }

  #fail(first: Append, error: LogError): void {
    const shard = first.batches[0]?.shard;
    const lost = this.#queue.filter((append) => append.batches[0]?.shard === shard);
    this.#queue = this.#queue.filter((append) => append.batches[0]?.shard !== shard);
    for (const append of [first, ...lost]) append.reject(error);
  }
}
