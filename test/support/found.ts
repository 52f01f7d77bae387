import { readFile } from 'node:fs/promises';
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
  return found(`process ${pid} to be gone`, async () => ((await hasEnded(pid)) ? true : undefined));
}

/** One that has ended keeps its number until its parent asks: with the system's first process that can take seconds. */
async function hasEnded(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /^.*\) [ZX] /.test(status);
}
