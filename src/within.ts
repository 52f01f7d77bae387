import type { Clock } from '../actors/ports.ts';

/** What the work comes to, or undefined when it takes too long; then nobody minds what becomes of it. */
export async function within<T>(
  clock: Pick<Clock, 'after'>,
  timeoutMs: number,
  work: Promise<T>,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = clock.after(timeoutMs, () => resolve(undefined));
    work.then(resolve, reject).finally(stop);
  });
}
