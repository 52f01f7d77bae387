import type { LeastLoadedScratch } from '../../workers/least-loaded.ts';

/** Room for so many items, with something in it that nobody may trust; 1 is no mark that a test may use. */
export function dirtyScratch(length: number): LeastLoadedScratch {
  const dirty = () => new Int32Array(length).fill(1);
  return {
    item: dirty(),
    low: dirty(),
    behind: dirty(),
    marks: dirty(),
    spare: dirty(),
    dropped: new Uint8Array(length).fill(1),
    isBehind: new Uint8Array(length).fill(1),
    buckets: new Int32Array(64).fill(1),
  };
}
