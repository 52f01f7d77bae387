/**
 * Lets work that touches the same key run one after the other, in the order of the calls.
 *
 * One call may take several keys; it waits for all that came before it on any of them. Keys are taken together, so
 * that two calls cannot wait for each other. Memory goes with the last holder.
 */
export class KeyedLocks {
  private readonly tails = new Map<string, Promise<void>>();

  /** The keys with this beginning that anyone holds or waits for. */
  heldUnder(prefix: string): ReadonlySet<string> {
    const held = new Set<string>();
    for (const key of this.tails.keys()) if (key.startsWith(prefix)) held.add(key);
    return held;
  }

  /** Runs `work` when all earlier work on these keys is done, whatever came of it. */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = keys.flatMap((key) => this.tails.get(key) ?? []);
    const { promise: done, resolve: release } = withResolvers();
    for (const key of keys) this.tails.set(key, done);
    try {
      if (before.length > 0) await Promise.all(before);
      return await work();
    } finally {
      for (const key of keys) if (this.tails.get(key) === done) this.tails.delete(key);
      release();
    }
  }
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}
