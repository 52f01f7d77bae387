import type {
  Change,
  Entry,
  KeyRange,
  KeyValues,
  ScanOptions,
} from '../../src/store/key-values.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { StoreError } from '../../src/store/store-error.ts';

/** An engine in memory that counts its writes, holds them back and fails when told. */
export class ScriptedKeyValues implements KeyValues {
  readonly #inner = new MemoryKeyValues();
  readonly writes: { readonly changes: readonly Change[]; readonly sync: boolean }[] = [];
  #failures = 0;
  #gate: Promise<void> = Promise.resolve();
  #open: () => void = () => undefined;

  /** Lets the next `count` writes fail. */
  failNext(count = 1): void {
    this.#failures = count;
  }

  /** Writes from now on wait until {@link release}. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  release(): void {
    this.#open();
  }

  get(key: Buffer): Promise<Buffer | undefined> {
    return this.#inner.get(key);
  }

  scan(range: KeyRange, options?: ScanOptions): AsyncIterable<readonly Entry[]> {
    return this.#inner.scan(range, options);
  }

  async write(changes: readonly Change[], { sync }: { readonly sync: boolean }): Promise<void> {
    this.writes.push({ changes, sync });
    await this.#gate;
    if (this.#failures > 0) {
      this.#failures--;
      throw new StoreError('failed', 'Write the store: told to fail');
    }
    await this.#inner.write(changes);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
