import { setTimeout } from 'node:timers/promises';

const LOOK_MS = 20;
const PATIENCE_MS = 15_000;

/** Looks again and again until it finds something; fails when it takes longer than 15 s. */
export async function found<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const startedMs = performance.now(); performance.now() - startedMs < PATIENCE_MS; ) {
    const value = await look();
    if (value !== undefined) return value;
    await setTimeout(LOOK_MS);
  }
  throw new Error(`Waited ${PATIENCE_MS} ms for ${what}`);
}

/** Resolves when there is no such process any more; fails when that takes longer than 15 s. */
export function gone(pid: number): Promise<true> {
  return found(`process ${pid} to be gone`, async () => {
    try {
      process.kill(pid, 0);
      return undefined;
    } catch {
      return true as const;
    }
  });
}
