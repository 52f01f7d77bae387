import type { ManualClock } from './manual-clock.ts';

/** Lets time pass in steps until the condition holds, for work that waits for sockets and timers in turn. */
export async function passUntil(
  clock: ManualClock,
  condition: () => boolean,
  stepMs: number,
): Promise<void> {
  while (!condition()) await clock.pass(stepMs);
}
