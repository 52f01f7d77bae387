import { expect } from 'chai';
import { systemClock } from '../src/clock.ts';

const INT_MAX = 2 ** 31 - 1;

describe('systemClock', () => {
  for (const delayMs of [INT_MAX, 10 * INT_MAX, Number.POSITIVE_INFINITY]) {
    it(`after() does not take ${delayMs} ms, more than a timer of Node holds, for none`, async () => {
      let isCalled = false;
      const cancel = systemClock.after(delayMs, () => {
        isCalled = true;
      });
      await new Promise<void>((resolve) => systemClock.after(5, resolve));
      cancel();
      expect(isCalled).to.equal(false);
    });
  }

  it('after() calls back no sooner than it was told, and not once it is cancelled', async () => {
    const startMs = systemClock.monotonicMs();
    let isCalled = false;
    systemClock.after(1, () => {
      isCalled = true;
    })();
    await new Promise<void>((resolve) => systemClock.after(5, resolve));
    expect(systemClock.monotonicMs() - startMs).to.be.at.least(5);
    expect(isCalled).to.equal(false);
  });

  it('soon() calls back in order, and lets sockets be read before what a callback asks for', async () => {
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    systemClock.soon(() => {
      order.push('a');
      systemClock.soon(note('after a'));
      setImmediate(note('others'));
    });
    systemClock.soon(note('b'));
    await new Promise<void>((resolve) => systemClock.after(20, resolve));
    expect(order).to.deep.equal(['a', 'b', 'after a', 'others']);
  });

  it('soon() goes on behind a callback that throws', async () => {
    const seen: string[] = [];
    const uncaught = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => seen.push(error.message));
    systemClock.soon(() => {
      throw new Error('thrown');
    });
    systemClock.soon(() => seen.push('next'));
    await new Promise<void>((resolve) => systemClock.after(20, resolve));
    for (const listener of uncaught) process.on('uncaughtException', listener);
    expect(seen).to.deep.equal(['thrown', 'next']);
  });
});
