import type { Clock } from '../actors/ports.ts';

/** The real time. A turn ends after the sockets that were readable have been read. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    // A timer of Node may fire a fraction of a millisecond early by the monotonic clock.
    const timer = setTimeout(callback, Math.ceil(delayMs) + 1);
    return () => clearTimeout(timer);
  },
  soon(callback) {
    setImmediate(callback);
  },
};
