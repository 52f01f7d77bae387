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
});
