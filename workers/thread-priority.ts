import { constants, getPriority, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

const MOST_NICE = constants.priority.PRIORITY_LOW;

/** By how much a thread is nicer: where all are busy, it gets a third of what the event loop gets. */
export const THREAD_NICENESS = 5;

/**
 * Has the calling thread stand back where processors are short, so that the event loop goes on answering while
 * assignments are computed. On the main thread it does nothing. Only Linux has a priority for each thread; elsewhere the
 * call would lower the whole process, so it is left out there, as it is where the system refuses.
 */
export function lowerThreadPriority(): void {
  if (!isMainThread && process.platform === 'linux') lowerPriority();
}

/** As {@link lowerThreadPriority}, for a whole process: to be called on its main thread before it makes others. */
export function lowerPriority(): void {
  try {
    // Process 0 stands for the caller, which on Linux is a thread.
    setPriority(0, Math.min(MOST_NICE, getPriority(0) + THREAD_NICENESS));
  } catch {
    // It goes without.
  }
}
