import type { Clock } from './ports.ts';

/** Does work that stops now and then; others have the event loop at each stop. */
export async function inSlices<T>(
  work: Generator<void, T>,
  clock: Pick<Clock, 'soon'>,
): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await new Promise<void>((resolve) => clock.soon(resolve));
  }
}
