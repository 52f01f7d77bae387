import type { Clock } from '../actors/ports.ts';

/** A timer of Node that is told to wait longer than 2^31 - 1 ms does not wait at all. */
const TIMER_MS_MAX = 2 ** 30;

/** What is to run at the end of the turn. One call of the event loop runs them all: every shard asks for one. */
let atTheEnd: (() => void)[] = [];

/** So long callbacks go on in one turn, ms. Those not reached come first in the next; in between sockets are read. */
const TURN_MS_MAX = 2;

function endTurn(): void {
  const callbacks = atTheEnd;
  atTheEnd = [];
  const endMs = performance.now() + TURN_MS_MAX;
  let called = 0;
  try {
    while (called < callbacks.length) {
      callbacks[called++]?.();
      if (performance.now() >= endMs) break;
    }
  } finally {
    // Also those behind one that throws.
    const left = callbacks.slice(called);
    if (left.length > 0 && atTheEnd.length === 0) setImmediate(endTurn);
    atTheEnd = [...left, ...atTheEnd];
  }
}

/** The real time. A turn ends after the sockets that were readable have been read. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after,
  soon(callback) {
    if (atTheEnd.push(callback) === 1) setImmediate(endTurn);
  },
};

function after(delayMs: number, callback: () => void): () => void {
  if (delayMs > TIMER_MS_MAX) {
    let cancel = after(TIMER_MS_MAX, () => {
      cancel = after(delayMs - TIMER_MS_MAX, callback);
    });
    return () => cancel();
  }
  // A timer of Node may fire a fraction of a millisecond early by the monotonic clock.
  const timer = setTimeout(callback, Math.ceil(delayMs) + 1);
  return () => clearTimeout(timer);
}
