import type { Step } from './history.ts';

/**
 * Leaves out as many steps as can be, first many at a time, then one by one, as long as the rest still shows what it
 * showed. The last step is what it shows, and stays.
 *
 * @param shows whether steps still show it.
 * @param triesMax how many times `shows` may be asked.
 * @returns the shortest steps found; `steps` themselves when nothing could go.
 */
export async function shrinkHistory(
  steps: readonly Step[],
  shows: (steps: readonly Step[]) => Promise<boolean>,
  triesMax: number,
): Promise<readonly Step[]> {
  let shortest = steps;
  let tries = 0;
  for (let size = Math.floor(shortest.length / 2); size >= 1; ) {
    let dropped = false;
    for (let from = shortest.length - 1 - size; from > -size; from -= size) {
      if (tries++ >= triesMax) return shortest;
      const start = Math.max(0, from);
      const rest = [...shortest.slice(0, start), ...shortest.slice(from + size)];
      if (rest.length === shortest.length || !(await shows(rest))) continue;
      shortest = rest;
      dropped = true;
    }
    // One by one is done again as long as it helps: a step may stand only for one that is gone by now.
    if (size > 1) size = Math.floor(size / 2);
    else if (!dropped) size = 0;
  }
  return shortest;
}
