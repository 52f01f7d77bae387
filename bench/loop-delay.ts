import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from './quantile.ts';

/** How late an event loop came to its timers, ms: for so long at least it did something else, or had no processor. */
export type LoopDelay = { readonly p99: number; readonly max: number };

/** The finest that the platform measures, ms; every delay that it gives has this in it. */
const RESOLUTION_MS = 1;

/** Measures the event loop of this thread. An idle one shows 0.1 to 0.2 ms. */
export class LoopDelayMeter {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  /** Begins anew. */
  start(): void {
    this.#delays.reset();
    this.#delays.enable();
  }

  /** What there was since {@link start}; measures no more. */
  stop(): LoopDelay {
    this.#delays.disable();
    return {
      p99: lateMs(this.#delays.percentile(99)),
      max: lateMs(this.#delays.max),
    };
  }
}

/**
 * The longest that a piece of work held its event loop at a time, ms, of many pieces: half of them, or 95 of 100, held it no
 * longer. Beside it what an idle loop shows in as long a time: so much of it is the machine's.
 */
export type LoopHolds = {
  readonly p50: number;
  readonly p95: number;
  readonly idleP50: number;
  readonly idleP95: number;
};

/** Has the same work done again and again, each time after something that is not looked at. */
export async function measureHolds(
  times: number,
  { before, work }: { readonly before: () => Promise<void>; readonly work: () => Promise<void> },
): Promise<LoopHolds> {
  const meter = new LoopDelayMeter();
  const longest = async (what: () => Promise<unknown>): Promise<number> => {
    meter.start();
    // The first look has nothing to compare with.
    await sleep(LOOKS_MS);
    await what();
    await sleep(LOOKS_MS);
    return meter.stop().max;
  };
  const held: number[] = [];
  const idle: number[] = [];
  for (let time = 0; time < times; time++) {
    await before();
    const startedMs = performance.now();
    held.push(await longest(work));
    const tookMs = performance.now() - startedMs;
    idle.push(await longest(() => sleep(Math.max(1, tookMs - 2 * LOOKS_MS))));
  }
  return {
    p50: quantile(held, 0.5),
    p95: quantile(held, 0.95),
    idleP50: quantile(idle, 0.5),
    idleP95: quantile(idle, 0.95),
  };
}

const LOOKS_MS = 3 * RESOLUTION_MS;

function lateMs(ns: number): number {
  return Math.max(0, Number((ns / 1e6 - RESOLUTION_MS).toFixed(2)));
}
