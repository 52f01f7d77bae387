import { expect } from 'chai';
import fc from 'fast-check';
import { KeyedLocks } from '../../src/upstream/keyed-locks.ts';
import { rejectionOf } from '../support/rejection-of.ts';

describe('KeyedLocks', () => {
  it('never runs two pieces of work on one key at a time, and runs them in order', async () => {
    const keys = fc.subarray(['a', 'b', 'c'], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(keys, { maxLength: 12 }), async (wanted) => {
        const locks = new KeyedLocks();
        const running = new Set<string>();
        const order = new Map<string, number[]>();
        await Promise.all(
          wanted.map((taken, at) =>
            locks.run('g', taken, async () => {
              for (const key of taken) {
                expect(running.has(key)).to.equal(false);
                running.add(key);
                order.set(key, [...(order.get(key) ?? []), at]);
              }
              await new Promise((resolve) => setImmediate(resolve));
              for (const key of taken) running.delete(key);
            }),
          ),
        );
        for (const [, seen] of order) expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
        expect(locks.heldIn('g')).to.deep.equal(new Set());
      }),
      { numRuns: 50 },
    );
  });

  it('lets the next one in after work that failed', async () => {
    const locks = new KeyedLocks();
    const failed = rejectionOf(locks.run('g', ['a'], async () => Promise.reject(new Error('no'))));
    const next = locks.run('g', ['a'], async () => 'done');
    expect(await failed).to.be.instanceOf(Error);
    expect(await next).to.equal('done');
  });

  it('tells what is held in a group, and keeps groups apart', async () => {
    const locks = new KeyedLocks();
    let release = (): void => undefined;
    const held = locks.run('g', ['a', 'b'], () => new Promise<void>((done) => (release = done)));
    const waits = locks.run('g', ['b', 'c'], async () => 'waited');
    expect(await locks.run('h', ['a'], async () => 'at once')).to.equal('at once');
    expect(await locks.run('g', [], async () => 'at once')).to.equal('at once');
    expect(locks.heldIn('g')).to.deep.equal(new Set(['a', 'b', 'c']));
    expect(locks.heldIn('h')).to.deep.equal(new Set());
    release();
    expect([await held, await waits]).to.deep.equal([undefined, 'waited']);
    expect(locks.heldIn('g')).to.deep.equal(new Set());
  });
});
