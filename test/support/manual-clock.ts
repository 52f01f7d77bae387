import type { Clock } from '../../actors/ports.ts';

type Waiting = { readonly atMs: number; readonly order: number; readonly callback: () => void };

/** A clock that moves when told. What is due runs in order of time, then of arming. */
export class ManualClock implements Clock {
  #nowMs: number;
  #order = 0;
  #waiting: Waiting[] = [];
  #soon: (() => void)[] = [];

  constructor(startMs = 1_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const waiting = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, callback };
    this.#waiting.push(waiting);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
    };
  }

  soon(callback: () => void): void {
    this.#soon.push(callback);
  }

  /** Ends the turn, and the turns that this starts, until nothing is at hand and no promise is pending. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      const callbacks = this.#soon.splice(0);
      quiet = callbacks.length === 0 ? quiet + 1 : 0;
      for (const callback of callbacks) callback();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Lets time pass, stopping at everything that falls due on the way. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await this.settle();
    for (;;) {
      const next = this.#waiting
        .filter((each) => each.atMs <= endMs)
        .sort((a, b) => a.atMs - b.atMs || a.order - b.order)[0];
      if (next === undefined) break;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
      await this.settle();
    }
    this.#nowMs = endMs;
    await this.settle();
  }
}
