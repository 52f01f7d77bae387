import { monitorEventLoopDelay } from 'node:perf_hooks';

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

function lateMs(ns: number): number {
  return Math.max(0, Number((ns / 1e6 - RESOLUTION_MS).toFixed(2)));
}
