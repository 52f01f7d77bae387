/**
 * Lets work that touches the same key of the same group run one after the other, in the order of the calls.
 *
 * One call may take several keys of a group; it waits for all that came before it on any of them. Keys are taken together,
 * so that two calls cannot wait for each other. Memory goes with the last holder.
 */
export class KeyedLocks {
  /** By group, then key. */
  private readonly tails = new Map<string, Map<string, Promise<void>>>();

  /** The keys of this group that anyone holds or waits for. */
  heldIn(groupId: string): ReadonlySet<string> {
    return new Set(this.tails.get(groupId)?.keys());
  }

  /** Runs `work` when all earlier work on these keys is done, whatever came of it. */
  async run<T>(groupId: string, keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const tails = this.tails.get(groupId) ?? new Map<string, Promise<void>>();
    this.tails.set(groupId, tails);
    const before = keys.flatMap((key) => tails.get(key) ?? []);
    const { promise: done, resolve: release } = withResolvers();
    for (const key of keys) tails.set(key, done);
    try {
      if (before.length > 0) await Promise.all(before);
      return await work();
    } finally {
      for (const key of keys) if (tails.get(key) === done) tails.delete(key);
      if (tails.size === 0 && this.tails.get(groupId) === tails) this.tails.delete(groupId);
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
