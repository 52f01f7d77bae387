import { expect } from 'chai';
import type { RefinerInput } from '../../machines/decide/refine/refine.ts';
import {
  handOver,
  movesOf,
  NOT_STARTED,
  refined,
  refinerInput,
  refineSoundly,
} from '../support/refiner.ts';

const WAIT = {
  processId: 'pB',
  sinceMs: 0,
  leastLag: undefined,
  restoringLag: 0n,
  from: { offset: 0n, atMs: 0 },
};

describe('refine(): versions and waits (WU-16)', () => {
  it('S20 grants at once what goes to a member that never reports its copies', () => {
    expect(handOver({ reportsCopies: 'no' })).to.deep.equal({
      slices: { A: '0:[0]|[]|[]', B: '0:[1]|[]|[]' },
      moves: ['0_1 to B, neverReports'],
    });
  });

  it('plants nothing on a member not heard of since a load, but lets it keep what its process has', () => {
    expect(handOver({ reportsCopies: 'unknown' })).to.deep.equal({
      slices: { A: '0:[0-1]|[]|[]', B: '[]|[]|[]' },
      moves: ['0_1 stays A, unheard'],
    });
    expect(handOver({ reportsCopies: 'unknown', has: '[]|[]|0:[1]' }).moves).to.deep.equal([
      '0_1 stays A, warmup',
    ]);
    const sibling = refined({
      A: { has: '0:[1]' },
      B1: { process: 'pB', target: '0:[1]', reportsCopies: 'unknown' },
      B2: { process: 'pB', has: '[]|0:[1]' },
    });
    expect(sibling.moves).to.deep.equal(['0_1 stays A, standby']);
    expect(sibling.slices).to.deep.equal({ A: '0:[1]|[]|[]', B1: '[]|[]|[]', B2: '[]|0:[1]|[]' });
  });

  /** Refines again and again, as time goes by and B says what it says of its warm-up of 0_1. */
  function history(...beats: readonly (readonly [atMs: number, says: string, has?: string])[]) {
    let waits: RefinerInput['waits'] = new Map();
    return beats.map(([nowMs, says, has = '[]|[]|0:[1]']) => {
      const input = refinerInput(
        { A: { has: '0:[1]' }, B: { has, target: '0:[1]', says } },
        { waits, nowMs, waitMaxMs: 1000 },
      );
      const refinement = refineSoundly(input);
      waits = refinement.waits;
      return [movesOf(refinement)[0]?.slice(4), refinement.untilMs];
    });
  }
  const staged = (untilMs: number) => ['stays A, warmup', untilMs];
  const waited = ['to B, waited', Number.POSITIVE_INFINITY];

  it('ends the wait for a copy of which nothing is heard', () => {
    expect(history([5, ''], [500, ''], [1004, ''], [1005, '']).slice(1)).to.deep.equal([
      staged(1005),
      staged(1005),
      waited,
    ]);
  });

  it('goes on waiting while the copy gets closer, and no longer', () => {
    expect(
      history(
        [0, '0_1:0/5000'],
        [900, '0_1:1500/5000'],
        [1800, '0_1:3000/5000'],
        [2700, '0_1:3000/5000'],
        [2800, '0_1:3100/9000'],
      ),
    ).to.deep.equal([staged(1000), staged(1900), staged(2800), staged(2800), waited]);
  });

  it('does not take for progress what only creeps, or comes back to where it was', () => {
    expect(
      history([0, '0_1:0/5000'], [300, '0_1:1/5000'], [600, '0_1:2/5000'], [1000, '0_1:3/5000']),
    ).to.deep.equal([staged(1000), staged(1000), staged(1000), waited]);
  });

  /** As history, with the time at which B last said something, if that is not now. */
  function endless(
    ...beats: readonly (readonly [atMs: number, says: string, saidAtMs?: number])[]
  ) {
    let waits: RefinerInput['waits'] = new Map();
    return beats.map(([nowMs, says, saidAtMs = nowMs]) => {
      const b = { has: '0:[7]|[]|0:[1]', target: '0:[1,7]', says, saidAtMs };
      const limits = { waits, nowMs, waitMaxMs: 0, silenceMs: 5000 };
      const refinement = refineSoundly(refinerInput({ A: { has: '0:[1]' }, B: b }, limits));
      waits = refinement.waits;
      return [movesOf(refinement)[0]?.slice(4), refinement.untilMs];
    });
  }
  const never = Number.POSITIVE_INFINITY;
  const atRest = ['to B, atRest', never];

  it('grants a task whose copy stands still without an end: one of its changelogs is empty', () => {
    const [at0, at90] = [`0_1:0/${NOT_STARTED}`, `0_1:90/${NOT_STARTED}`];
    expect(endless([5000, ''], [14_999, at0], [15_000, at0])).to.deep.equal([
      staged(never),
      staged(20_000),
      atRest,
    ]);
    expect(endless([5000, ''], [15_000, at90]).at(-1)).to.deep.equal(atRest);
    // Had it changed, the member would have said so.
    expect(
      endless([5000, ''], [6000, at90], [19_999, at90, 6000], [20_000, at90, 6000]),
    ).to.deep.equal([staged(never), staged(20_000), staged(20_000), atRest]);
  });

  it('waits for a copy without an end while it gets ahead, and measures anew from there', () => {
    const says = (offset: number) => `0_1:${offset}/${NOT_STARTED}`;
    expect(
      endless([0, ''], [20_000, says(101)], [29_999, says(202)], [40_000, says(302)]),
    ).to.deep.equal([staged(never), staged(35_000), staged(44_999), atRest]);
  });

  it('takes no copy for one at rest that has not started, or waits for active tasks', () => {
    const unknown = `0_1:${NOT_STARTED}/${NOT_STARTED}`;
    expect(endless([0, ''], [60_000, unknown]).at(-1)).to.deep.equal(staged(never));
    expect(endless([0, ''], [60_000, '0_1:0']).at(-1)).to.deep.equal(staged(never));
    const restoring = `0_1:0/${NOT_STARTED},0_7:0/5000`;
    const restored = `0_1:0/${NOT_STARTED},0_7:4990/5000`;
    expect(
      endless(
        [0, ''],
        [60_000, restoring],
        [60_001, restored],
        [70_000, restored],
        [70_001, restored],
      ).slice(1),
    ).to.deep.equal([staged(never), staged(75_001), staged(75_001), atRest]);
  });

  it('goes on waiting while the owner restores its own active tasks first', () => {
    const restoring = '0:[7]|[]|0:[1]';
    const owner = (says: string, nowMs: number, waits: RefinerInput['waits']) => {
      const sketches = { A: { has: '0:[1]' }, B: { has: restoring, target: '0:[1,7]', says } };
      return refineSoundly(refinerInput(sketches, { waits, nowMs, waitMaxMs: 1000 }));
    };
    const first = owner('0_1:0/5000,0_7:0/90000', 0, new Map());
    const second = owner('0_1:0/5000,0_7:5000/90000', 900, first.waits);
    expect(movesOf(owner('0_1:0/5000,0_7:9000/90000', 1800, second.waits))).to.deep.equal([
      '0_1 stays A, warmup',
    ]);
    const stuck = owner('0_1:0/5000,0_7:5000/90000', 1800, second.waits);
    expect(movesOf(owner('0_1:0/5000,0_7:5000/90000', 1900, stuck.waits))).to.deep.equal([
      '0_1 to B, waited',
    ]);
  });

  it('begins to wait when the copy is there, not while the task waits for its turn', () => {
    expect(history([0, '', '[]'], [5000, '', '[]'], [6000, ''], [7000, ''])).to.deep.equal([
      staged(Number.POSITIVE_INFINITY),
      staged(Number.POSITIVE_INFINITY),
      staged(7000),
      waited,
    ]);
  });

  it('begins anew for another process, and when the clock went back', () => {
    expect(history([5000, ''], [100, ''], [1099, '']).at(-1)).to.deep.equal(staged(1100));
    const waits = new Map([['0', [undefined, { ...WAIT, processId: 'pX', leastLag: 5n }]]]);
    expect(
      handOver({ has: '[]|[]|0:[1]' }, { waits, nowMs: 5000, waitMaxMs: 1000 }).moves,
    ).to.deep.equal(['0_1 stays A, warmup']);
  });

  it('waits without bound where none is set', () => {
    const waits = new Map([['0', [undefined, WAIT]]]);
    expect(
      handOver({ has: '[]|[]|0:[1]' }, { waits, nowMs: 1e12, waitMaxMs: 0 }).moves,
    ).to.deep.equal(['0_1 stays A, warmup']);
  });
});
