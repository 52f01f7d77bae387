import { times } from './times.ts';

/** `TEST_SEED` replays one scenario. */
const replayed = process.env['TEST_SEED'];

/** Whether one scenario is replayed: what holds for many together says nothing then. */
export const isReplay = replayed !== undefined;

/** The seeds of so many random scenarios, or of more ({@link times}), from 1. */
export function seeds(count: number): readonly number[] {
  if (replayed !== undefined) return [Number(replayed)];
  return Array.from({ length: times(count) }, (_, at) => at + 1);
}
