import { expect } from 'chai';
import fc from 'fast-check';
import { type Fired, Timers } from '../../actors/timers.ts';
import { ManualClock } from '../support/manual-clock.ts';

function timersOn(clock: ManualClock) {
  const fired: { key: string; atMs: number }[] = [];
  const timers: Timers<string> = new Timers<string>(clock, (each: Fired<string>) => {
    if (timers.claim(each)) fired.push({ key: each.what, atMs: clock.nowMs() });
  });
  return { timers, fired };
}

describe('Timers', () => {
  it('fires no sooner than its deadline and at most a bucket later', async () => {
    const clock = new ManualClock(0);
    const { timers, fired } = timersOn(clock);
    timers.arm('a', 1234, 'a');
    await clock.pass(1233);
    expect(fired).to.deep.equal([]);
    await clock.pass(20);
    expect(fired).to.deep.equal([{ key: 'a', atMs: 1240 }]);
  });

  it('arm() replaces the timer of a key, to a later and to an earlier time (TMR-1)', async () => {
    const clock = new ManualClock(0);
    const { timers, fired } = timersOn(clock);
    timers.arm('later', 100, 'later');
    timers.arm('later', 500, 'later');
    timers.arm('sooner', 500, 'sooner');
    timers.arm('sooner', 100, 'sooner');
    await clock.pass(1000);
    expect(fired).to.deep.equal([
      { key: 'sooner', atMs: 100 },
      { key: 'later', atMs: 500 },
    ]);
    expect(timers.size).to.equal(0);
  });

  it('a timer that was armed anew while its firing waited in the mailbox does not count', async () => {
    const clock = new ManualClock(0);
    const waiting: Fired<string>[] = [];
    const timers = new Timers<string>(clock, (each) => waiting.push(each));
    timers.arm('a', 100, 'a');
    await clock.pass(100);
    timers.arm('a', 100, 'a');
    expect(waiting.map((each) => timers.claim(each))).to.deep.equal([false]);
    await clock.pass(110);
    expect(waiting.slice(1).map((each) => timers.claim(each))).to.deep.equal([true]);
  });

  it('forgets what was cancelled within a minute, however far its deadline was', async () => {
    const clock = new ManualClock(0);
    const { timers, fired } = timersOn(clock);
    for (let n = 0; n < 100; n++) timers.arm(`${n}`, 2 ** 31 - 1, `${n}`);
    for (let n = 0; n < 100; n++) timers.cancel(`${n}`);
    await clock.pass(61_000);
    expect([timers.held, timers.size, fired]).to.deep.equal([0, 0, []]);
  });

  it('a deadline further than a minute away is kept', async () => {
    const clock = new ManualClock(0);
    const { timers, fired } = timersOn(clock);
    timers.arm('a', 3_600_000, 'a');
    await clock.pass(3_599_999);
    expect(fired).to.deep.equal([]);
    await clock.pass(20);
    expect(fired).to.deep.equal([{ key: 'a', atMs: 3_600_000 }]);
  });

  it('fires exactly what a plain list of deadlines would, in any history', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('arm' as const),
        key: fc.nat({ max: 4 }),
        ms: fc.nat({ max: 300 }),
      }),
      fc.record({ do: fc.constant('cancel' as const), key: fc.nat({ max: 4 }) }),
      fc.record({ do: fc.constant('pass' as const), ms: fc.nat({ max: 200 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const clock = new ManualClock(0);
        const { timers, fired } = timersOn(clock);
        const deadlines = new Map<string, number>();
        const due: string[] = [];
        for (const each of steps) {
          if (each.do === 'arm') {
            timers.arm(`${each.key}`, each.ms, `${each.key}`);
            deadlines.set(`${each.key}`, clock.nowMs() + each.ms);
          } else if (each.do === 'cancel') {
            timers.cancel(`${each.key}`);
            deadlines.delete(`${each.key}`);
          } else {
            // Up to a bucket's end, so that the coarse clock and the list agree on what is due.
            const endMs = Math.ceil((clock.nowMs() + each.ms) / 10) * 10;
            await clock.pass(endMs - clock.nowMs());
            for (const [key, atMs] of [...deadlines].sort((a, b) => a[1] - b[1])) {
              if (atMs > endMs) continue;
              deadlines.delete(key);
              due.push(key);
            }
          }
        }
        expect(fired.map((each) => each.key).sort()).to.deep.equal(due.sort());
        expect(timers.size).to.equal(deadlines.size);
      }),
      { numRuns: 60 },
    );
  });
});
