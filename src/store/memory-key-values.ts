import type { Change, Entry, KeyRange, KeyValues, ScanOptions } from './key-values.ts';
import { StoreError } from './store-error.ts';

const CHUNK_ENTRIES = 1000;

/** Everything in memory, gone with the process: for tests, simulation and `store=memory`. */
export class MemoryKeyValues implements KeyValues {
  /** By the key's bytes read as latin1, whose code-unit order is the order of the bytes. */
  readonly #values = new Map<string, Buffer>();
  #closed = false;

  async get(key: Buffer): Promise<Buffer | undefined> {
    this.#refuseIfClosed();
    return this.#values.get(key.toString('latin1'));
  }

  async *scan(range: KeyRange, options: ScanOptions = {}): AsyncGenerator<readonly Entry[]> {
    this.#refuseIfClosed();
    const from = range.from.toString('latin1');
    const to = range.to.toString('latin1');
    const keys = [...this.#values.keys()].filter((key) => key >= from && key < to).sort();
    if (options.backwards === true) keys.reverse();
    const entries = keys
      .slice(0, options.limit ?? keys.length)
      .map((key): Entry => [Buffer.from(key, 'latin1'), this.#values.get(key) ?? Buffer.alloc(0)]);
    for (let at = 0; at < entries.length; at += CHUNK_ENTRIES) {
      yield entries.slice(at, at + CHUNK_ENTRIES);
    }
  }

  async write(changes: readonly Change[]): Promise<void> {
    this.#refuseIfClosed();
    for (const change of changes) {
      const key = change.key.toString('latin1');
      if (change.type === 'put') this.#values.set(key, change.value);
      else this.#values.delete(key);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new StoreError('closed', 'Use the store: it is closed');
  }
}
