import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { frameOf } from './frames.ts';
import { writeAnswer } from './module-frames.ts';
import { endProcessGroup } from './process-group.ts';

/** What the guard is told. */
export type GuardOrders = {
  /** The process that the module's belongs to. */
  readonly parentPid: number;
  /** The module's process may take so much. */
  readonly memoryMaxBytes: number;
  /** Where the parent listens. */
  readonly answersFd: number;
};

const LOOK_MS = 50;

/**
 * A thread beside an assignor module that ends their process, with all it has started, when it takes too much memory, or when
 * nobody is left to answer: the module's own thread may be in a loop then, and see nothing.
 */
const { parentPid, memoryMaxBytes, answersFd } = workerData as GuardOrders;

setInterval(() => {
  const taken = process.memoryUsage.rss();
  if (taken <= memoryMaxBytes && process.ppid === parentPid) return;
  try {
    const text = `It took ${taken} bytes of memory, allowed are ${memoryMaxBytes}`;
    writeSync(answersFd, frameOf(...writeAnswer({ kind: 'fault', fault: 'memory', text })));
  } catch {
    // Whoever listened is gone, or full.
  }
  endProcessGroup(process.pid);
}, LOOK_MS);
