import type { Clock } from '../../actors/ports.ts';

/** Ends of turns as the process has them; for tests in which no time passes. */
export const promptly: Pick<Clock, 'soon'> = {
  soon: (callback) => {
    setImmediate(callback);
  },
};
