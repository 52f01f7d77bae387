import { closeSync, openSync, readSync } from 'node:fs';
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
 * longer. Of that is the loop's own what its thread did not only wait for a processor, which other threads had. Beside it what
 * an idle loop shows in as long a time: so much of it is the machine's.
 */
export type LoopHolds = {
  readonly p50: number;
  readonly p95: number;
  readonly ownP95: number;
  readonly ownMax: number;
  readonly idleP50: number;
  readonly idleP95: number;
};

/** Has the same work done again and again, each time after something that is not looked at. */
export async function measureHolds(
  times: number,
  { before, work }: { readonly before: () => Promise<void>; readonly work: () => Promise<void> },
): Promise<LoopHolds> {
  const meter = new LoopDelayMeter();
  const ownMeter = new OwnDelayMeter();
  const longest = async (what: () => Promise<unknown>): Promise<{ all: number; own: number }> => {
    meter.start();
    ownMeter.start();
    // The first look has nothing to compare with.
    await sleep(LOOKS_MS);
    await what();
    await sleep(LOOKS_MS);
    return { all: meter.stop().max, own: ownMeter.stop() };
  };
  const held: number[] = [];
  const own: number[] = [];
  const idle: number[] = [];
  try {
    for (let time = 0; time < times; time++) {
      await before();
      const startedMs = performance.now();
      const hold = await longest(work);
      held.push(hold.all);
      own.push(hold.own);
      const tookMs = performance.now() - startedMs;
      idle.push((await longest(() => sleep(Math.max(1, tookMs - 2 * LOOKS_MS)))).all);
    }
  } finally {
    ownMeter.close();
  }
  return {
    p50: quantile(held, 0.5),
    p95: quantile(held, 0.95),
    ownP95: quantile(own, 0.95),
    ownMax: quantile(own, 1),
    idleP50: quantile(idle, 0.5),
    idleP95: quantile(idle, 0.95),
  };
}

/**
 * As {@link LoopDelayMeter} the longest delay of this thread's event loop, less what the thread waited for a processor
 * in that time. Only Linux tells; elsewhere nothing is taken off.
 */
class OwnDelayMeter {
  readonly #wait = new ProcessorWait();
  #timer: NodeJS.Timeout | undefined;
  #longestMs = 0;

  start(): void {
    this.#longestMs = 0;
    let lastMs = performance.now();
    let lastWaitMs = this.#wait.ms();
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      const waitMs = this.#wait.ms();
      const ownMs = nowMs - lastMs - RESOLUTION_MS - (waitMs - lastWaitMs);
      this.#longestMs = Math.max(this.#longestMs, ownMs);
      [lastMs, lastWaitMs] = [nowMs, waitMs];
    }, RESOLUTION_MS);
  }

  /** ms. */
  stop(): number {
    clearInterval(this.#timer);
    return Number(this.#longestMs.toFixed(2));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#wait.close();
  }
}

/** How long the thread that makes it was ready to run in all and had no processor, as the kernel counts it. */
class ProcessorWait {
  /** "time on a processor, time ready and without one, times it ran", the times in ns. */
  readonly #file = process.platform === 'linux' ? openSync('/proc/thread-self/schedstat', 'r') : -1;
  readonly #read = Buffer.alloc(128);

  ms(): number {
    if (this.#file === -1) return 0;
    const length = readSync(this.#file, this.#read, 0, this.#read.length, 0);
    return Number(this.#read.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  }

  close(): void {
    if (this.#file !== -1) closeSync(this.#file);
  }
}

const LOOKS_MS = 3 * RESOLUTION_MS;

function lateMs(ns: number): number {
  return Math.max(0, Number((ns / 1e6 - RESOLUTION_MS).toFixed(2)));
}
