import type { Clock } from '../actors/ports.ts';

/** A timer of Node that is told to wait longer than 2^31 - 1 ms does not wait at all. */
const TIMER_MS_MAX = 2 ** 30;

/** The real time. A turn ends after the sockets that were readable have been read. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after,
  soon(callback) {
    setImmediate(callback);
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
