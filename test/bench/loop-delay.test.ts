import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { measureHolds } from '../../bench/loop-delay.ts';

describe('measureHolds()', () => {
  it("says how long work held the event loop at a time, which is the loop's own", async () => {
    const { p50, ownP95, ownMax, idleP50 } = await measureHolds(5, {
      before: async () => {},
      work: async () => work(10),
    });

    expect(p50).to.be.at.least(2);
    expect(ownP95).to.be.within(2, ownMax);
    expect(idleP50).to.be.below(p50);
  });

  it('does not count as its own what the loop only waited for a processor', async function () {
    if (process.platform !== 'linux') this.skip();
    const others = busyThreads(3 * availableParallelism());
    try {
      await others.started;
      const { p95, ownP95 } = await measureHolds(4, {
        before: async () => {},
        work: async () => work(10),
      });
      expect(ownP95).to.be.below(0.8 * p95);
    } finally {
      await others.end();
    }
  });
});

/** Takes about so many ms of processor time, or half or twice as many, whoever else has processors. */
function work(ms: number): void {
  for (let i = 0, x = 1; i < ms * 1e6 || x === 0; i++) x = (Math.imul(x, 1_664_525) + i) | 1;
}

/** Threads that leave no processor idle. */
function busyThreads(count: number) {
  const isOver = new Int32Array(new SharedArrayBuffer(4));
  const source =
    "const { workerData } = require('node:worker_threads'); while (Atomics.load(workerData, 0) === 0);";
  const threads = Array.from(
    { length: count },
    () => new Worker(source, { eval: true, workerData: isOver }),
  );
  const event = (name: string) =>
    Promise.all(threads.map((thread) => new Promise((done) => thread.once(name, done))));
  const ended = event('exit');
  return {
    started: event('online'),
    end: () => {
      Atomics.store(isOver, 0, 1);
      return ended;
    },
  };
}
