import { expect } from 'chai';
import { gatherFacts } from '../../machines/decide/refine/facts.ts';
import { keepsActiveTasks, type RefinerInput } from '../../machines/decide/refine/refine.ts';
import { movesOf, refinerInput, refineSoundly, type Sketch, slicesOf } from '../support/refiner.ts';

const NOT_STARTED = 2n ** 63n - 1n;
const WAIT = {
  processId: 'pB',
  sinceMs: 0,
  leastLag: undefined,
  restoringLag: 0n,
  from: { offset: 0n, atMs: 0 },
};

/** Refines and gives slices and moves as text. */
function refined(sketches: Readonly<Record<string, Sketch>>, options?: Partial<RefinerInput>) {
  const input = refinerInput(sketches, options);
  const refinement = refineSoundly(input);
  return { slices: slicesOf(input, refinement), moves: movesOf(refinement) };
}

/** A runs 0_0 and 0_1; 0_1 is to go to B, of whom this much is known. */
function handOver(b: Sketch, options?: Partial<RefinerInput>, a: Sketch = {}) {
  return refined(
    {
      A: { has: '0:[0-1]', target: '0:[0]', ...a },
      B: { target: '0:[1]', ...b },
    },
    options,
  );
}

describe('refine(): which tasks move (WU-8, WU-9)', () => {
  it('gives the target where every stateful task is with its owner, and stateless ones at once (WU-8, H17)', () => {
    const { slices, moves } = refined({
      A: { has: '0:[0];1:[0-1]', target: '0:[0];1:[0]' },
      B: { has: '0:[1]|[]|0:[5]', target: '0:[1];1:[1]|0:[0]', says: '0_5:0/900' },
    });
    expect(slices).to.deep.equal({ A: '0:[0];1:[0]|[]|[]', B: '0:[1];1:[1]|0:[0]|[]' });
    expect(moves).to.deep.equal([]);
  });

  it('keeps a task with its holder and plants a warm-up on its owner (WU-9.4, WU-11)', () => {
    expect(handOver({})).to.deep.equal({
      slices: { A: '0:[0-1]|[]|[]', B: '[]|[]|0:[1]' },
      moves: ['0_1 stays A, warmup'],
    });
  });

  it('grants a task whose copy on the process of its owner is caught up, the bound included (WU-9.3, X13)', () => {
    const granted = {
      slices: { A: '0:[0]|[]|[]', B: '0:[1]|[]|[]' },
      moves: ['0_1 to B, caughtUp'],
    };
    expect(handOver({ has: '[]|[]|0:[1]', says: '0_1:900/1000' })).to.deep.equal(granted);
    expect(handOver({ has: '[]|0:[1]', says: '0_1:1001/1000' })).to.deep.equal(granted);
    expect(handOver({ has: '[]|[]|0:[1]', says: '0_1:899/1000' }).moves).to.deep.equal([
      '0_1 stays A, warmup',
    ]);
    const sibling = refined({
      A: { has: '0:[1]' },
      B1: { process: 'pB', target: '0:[1]' },
      B2: { process: 'pB', has: '[]|0:[1]', says: '0_1:1000/1000' },
    });
    expect(sibling.moves).to.deep.equal(['0_1 to B1, caughtUp']);
  });

  it('takes an offset without an end, or of a restoration not started, for unknown (WU-6, OFS-3)', () => {
    const staged = ['0_1 stays A, warmup'];
    for (const says of ['0_1:1000', `0_1:${NOT_STARTED}/${NOT_STARTED}`, `0_1:5/${NOT_STARTED}`]) {
      expect(handOver({ has: '[]|[]|0:[1]', says }).moves, says).to.deep.equal(staged);
    }
  });

  it('compares offsets digit by digit (S17)', () => {
    const moveAt = (says: string) => handOver({ has: '[]|[]|0:[1]', says }).moves;
    expect(moveAt('0_1:9007199254740892/9007199254740993')).to.deep.equal(['0_1 stays A, warmup']);
    expect(moveAt('0_1:9007199254740893/9007199254740993')).to.deep.equal(['0_1 to B, caughtUp']);
    expect(moveAt('0_1:9223372036854775000/9223372036854775806')).to.deep.equal([
      '0_1 stays A, warmup',
    ]);
  });

  it('moves a task inside a process at once, whatever is reported (WU-9.3)', () => {
    const { moves, slices } = refined({
      A1: { process: 'pA', has: '0:[0]' },
      A2: { process: 'pA', target: '0:[0]' },
    });
    expect(moves).to.deep.equal(['0_0 to A2, sameProcess']);
    expect(slices).to.deep.equal({ A1: '[]|[]|[]', A2: '0:[0]|[]|[]' });
  });

  it('leaves a task whose owner is gone where it is, or with a caught-up copy, and warms nothing (WU-9.2)', () => {
    expect(refined({ A: { has: '0:[0]' } })).to.deep.equal({
      slices: { A: '0:[0]|[]|[]' },
      moves: ['0_0 stays A, ownerGone'],
    });
    const copies = {
      A: { has: '[]|0:[0]', target: '[]|0:[0]', says: '0_0:800/1000' },
      B: { has: '[]|0:[0]', target: '[]|0:[0]', says: '0_0:950/1000' },
    };
    expect(refined(copies)).to.deep.equal({
      slices: { A: '[]|0:[0]|[]', B: '0:[0]|[]|[]' },
      moves: ['0_0 runs on B, ownerGone'],
    });
    expect(refined({ A: copies.A })).to.deep.equal({ slices: { A: '[]|0:[0]|[]' }, moves: [] });
  });

  it('gives a task that nobody holds to the process that has it on disk (WU-9.5)', () => {
    const { moves } = refined({
      A: { has: '[]|0:[0]', target: '[]|0:[0]', says: '0_0:1000/1000' },
      B: { target: '0:[0]', says: '0_0:10' },
    });
    expect(moves).to.deep.equal(['0_0 to B, onDisk']);
  });

  it('has the best caught-up copy run what nobody runs: no standby of the target, then least load, then id (WU-9.6, WU-10)', () => {
    const crowd = {
      A: { has: '[]|0:[0]', target: '[]|0:[0]', says: '0_0:1000/1000' },
      B: { has: '[]|0:[0,3-4]', target: '[]|0:[3-4]', says: '0_0:1000/1000' },
      C: { has: '[]|0:[0]', says: '0_0:1000/1000' },
      D: { has: '[]|0:[0]', says: '0_0:1000/1000' },
      E: { has: '[]|0:[0]', says: '0_0:10/1000' },
      O: { target: '0:[0]' },
    };
    const { moves, slices } = refined(crowd);
    expect(moves).to.deep.equal(['0_0 runs on C, warmup']);
    expect(slices['C']).to.equal('0:[0]|[]|[]');
    expect(slices['O']).to.equal('[]|[]|0:[0]');
    const { C, D, ...fewer } = crowd;
    expect(refined({ ...fewer, D: { ...D, has: '[]|0:[0,1-3]' } }).moves).to.deep.equal([
      '0_0 runs on B, warmup',
    ]);
    expect(refined({ A: crowd.A, O: crowd.O }).moves).to.deep.equal(['0_0 runs on A, warmup']);
    expect(C.says).to.equal(D.says);
  });

  it('grants cold what nobody runs and nobody has a copy of (WU-9.6)', () => {
    expect(refined({ A: {}, B: { target: '0:[0]' } }).moves).to.deep.equal(['0_0 to B, cold']);
  });

  it('takes a holder that restores for one that does not run the task, unless it is caught up (WU-6, WU-9.6, X18)', () => {
    const from = (says: string) => handOver({}, {}, { has: '0:[0-1]', says }).moves;
    expect(from('0_1:10/1000')).to.deep.equal(['0_1 to B, cold']);
    expect(from('0_1:950/1000')).to.deep.equal(['0_1 stays A, warmup']);
    expect(from('0_1:1000/1000')).to.deep.equal(['0_1 stays A, warmup']);
  });

  it('takes an offset without an end for one that a running task left behind', () => {
    expect(handOver({}, {}, { has: '0:[0-1]', says: '0_1:10' }).moves).to.deep.equal([
      '0_1 stays A, warmup',
    ]);
  });

  it('of two members that hold a task sees the one with the lower id', () => {
    const { moves } = refined({
      A: { has: '0:[0]' },
      B: { has: '0:[0]' },
      C: { target: '0:[0]' },
    });
    expect(moves).to.deep.equal(['0_0 stays A, warmup']);
  });

  it('ignores tasks that the topology does not have', () => {
    const { moves } = refined({
      A: { has: '0:[9];7:[0]|0:[12]', target: '7:[0]', says: '0_9:1/2,7_0:1/9' },
    });
    expect(moves).to.deep.equal([]);
  });
});

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
      endless([0, ''], [60_000, restoring], [60_001, restored], [70_000, restored]).slice(1),
    ).to.deep.equal([staged(75_000), staged(75_000), atRest]);
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
    const waits = new Map([['0_1', { ...WAIT, processId: 'pX', leastLag: 5n }]]);
    expect(
      handOver({ has: '[]|[]|0:[1]' }, { waits, nowMs: 5000, waitMaxMs: 1000 }).moves,
    ).to.deep.equal(['0_1 stays A, warmup']);
  });

  it('waits without bound where none is set', () => {
    const waits = new Map([['0_1', WAIT]]);
    expect(
      handOver({ has: '[]|[]|0:[1]' }, { waits, nowMs: 1e12, waitMaxMs: 0 }).moves,
    ).to.deep.equal(['0_1 stays A, warmup']);
  });
});

describe('refine(): what warms a staged task (WU-11, WU-12)', () => {
  it('takes warm-ups up to the budget; the rest waits for a place', () => {
    expect(
      refined({ A: { has: '0:[0-4]', target: '0:[0]' }, B: { target: '0:[1-4]' } }),
    ).to.deep.equal({
      slices: { A: '0:[0-4]|[]|[]', B: '[]|[]|0:[1-2]' },
      moves: [
        '0_1 stays A, warmup',
        '0_2 stays A, warmup',
        '0_3 stays A, noRoom',
        '0_4 stays A, noRoom',
      ],
    });
  });

  it('keeps a warm-up under way before it plants a new one', () => {
    const { slices } = refined(
      {
        A: { has: '0:[0-4]', target: '0:[0]' },
        B: { has: '[]|[]|0:[3]', target: '0:[1-4]', says: '0_3:1/1000' },
      },
      { warmupsMax: 1 },
    );
    expect(slices['B']).to.equal('[]|[]|0:[3]');
  });

  it('revokes what has no place any more when the budget shrinks', () => {
    const { slices } = refined(
      {
        A: { has: '0:[0-2]', target: '0:[0]' },
        B: { has: '[]|[]|0:[1-2]', target: '0:[1-2]', says: '0_1:1/1000,0_2:1/1000' },
      },
      { warmupsMax: 1 },
    );
    expect(slices['B']).to.equal('[]|[]|0:[1]');
  });

  it('lets a standby of the owner warm it, free of charge (BORROW)', () => {
    const { slices, moves } = refined(
      {
        A: { has: '0:[0-2]', target: '0:[0]|0:[1]' },
        B: { has: '[]|0:[1]', target: '0:[1-2]' },
      },
      { warmupsMax: 1 },
    );
    expect(moves).to.deep.equal(['0_1 stays A, standby', '0_2 stays A, warmup']);
    expect(slices).to.deep.equal({ A: '0:[0-2]|[]|[]', B: '[]|0:[1]|0:[2]' });
  });

  it('moves a sibling’s standby over while there is a place, else leaves it where it is (SIBLING_MOVE)', () => {
    const threads = {
      A: { has: '0:[1]' },
      B1: { process: 'pB', target: '0:[1]' },
      B2: { process: 'pB', has: '[]|0:[1]' },
    };
    expect(refined(threads)).to.deep.equal({
      slices: { A: '0:[1]|[]|[]', B1: '[]|[]|0:[1]', B2: '[]|[]|[]' },
      moves: ['0_1 stays A, warmup'],
    });
    const busy = {
      A: { has: '0:[0-1]' },
      B1: { ...threads.B1, target: '0:[0-1]' },
      B2: threads.B2,
    };
    expect(refined(busy, { warmupsMax: 1 })).to.deep.equal({
      slices: { A: '0:[0-1]|[]|[]', B1: '[]|[]|0:[0]', B2: '[]|0:[1]|[]' },
      moves: ['0_0 stays A, warmup', '0_1 stays A, standby'],
    });
  });

  it('moves a warm-up to the owner when it is on another member of its process (KEEP, H11)', () => {
    const { slices } = refined({
      A: { has: '0:[1]' },
      B1: { process: 'pB', target: '0:[1]' },
      B2: { process: 'pB', has: '[]|[]|0:[1]' },
    });
    expect(slices).to.deep.equal({ A: '0:[1]|[]|[]', B1: '[]|[]|0:[1]', B2: '[]|[]|[]' });
  });

  it('prefers owners that can progress to those that restore an active task (tiers)', () => {
    const { slices } = refined(
      {
        A: { has: '0:[0-3]', target: '0:[2-3]' },
        B: { has: '0:[5]', target: '0:[0,5]', says: '0_5:0/5000' },
        C: { has: '0:[6-7]', target: '0:[1,6-7]' },
      },
      { warmupsMax: 1 },
    );
    expect(slices['B']).to.equal('0:[5]|[]|[]');
    expect(slices['C']).to.equal('0:[6-7]|[]|0:[1]');
  });

  it('drops a warm-up that has not begun, on an owner that must restore, for one that can progress', () => {
    const crowd = (has: string, says: string) =>
      refined(
        {
          A: { has: '0:[0-3]', target: '0:[2-3]' },
          B: { has, target: '0:[0,5]', says: `0_5:0/5000${says}` },
          C: { target: '0:[1]' },
        },
        { warmupsMax: 1 },
      ).slices;
    // The place is free when the warm-up is gone.
    expect(crowd('0:[5]|[]|0:[0]', '')).to.include({ B: '0:[5]|[]|[]', C: '[]|[]|[]' });
    expect(crowd('0:[5]', '')).to.include({ B: '0:[5]|[]|[]', C: '[]|[]|0:[1]' });
    expect(crowd('0:[5]|[]|0:[0]', ',0_0:1/5000')).to.include({
      B: '0:[5]|[]|0:[0]',
      C: '[]|[]|[]',
    });
  });

  it('plants nothing in the place of a warm-up that waits for its promotion, or is to go', () => {
    const waits = {
      A: { has: '0:[0-2]', target: '0:[0]' },
      B: { has: '[]|[]|0:[1]', target: '0:[1-2]', says: '0_1:1000/1000' },
    };
    expect(refined(waits, { warmupsMax: 1 })).to.deep.equal({
      slices: { A: '0:[0,2]|[]|[]', B: '0:[1]|[]|[]' },
      moves: ['0_1 to B, caughtUp', '0_2 stays A, noRoom'],
    });
    const goes = { ...waits, B: { ...waits.B, has: '[]|[]|0:[7]', target: '0:[1-2]' } };
    expect(refined(goes, { warmupsMax: 1 }).slices['B']).to.equal('[]|[]|[]');
    expect(refined(goes, { warmupsMax: 2 }).slices['B']).to.equal('[]|[]|0:[1]');
    const owes = { ...waits, B: { target: '0:[1-2]', owes: '[]|[]|0:[7]' } };
    expect(refined(owes, { warmupsMax: 1 }).slices['B']).to.equal('[]|[]|[]');
  });

  it('counts a task granted now that must be restored against its owner', () => {
    const { slices } = refined(
      {
        A: { has: '0:[0-3]', target: '0:[2-3]' },
        B: { target: '0:[0,5]' },
        C: { has: '0:[6-7]', target: '0:[1,6-7]' },
      },
      { warmupsMax: 1 },
    );
    expect(slices['B']).to.equal('0:[5]|[]|[]');
    expect(slices['C']).to.equal('0:[6-7]|[]|0:[1]');
  });

  it('prefers the lighter process to move to, then the heavier one to move from, then the order of tasks', () => {
    const lighter = refined(
      {
        A: { has: '0:[0-3]', target: '0:[2-3]' },
        B: { has: '0:[5]', target: '0:[0,5]' },
        C: { target: '0:[1]' },
      },
      { warmupsMax: 1 },
    );
    expect(lighter.slices['C']).to.equal('[]|[]|0:[1]');
    const heavier = refined(
      {
        A: { has: '0:[0]' },
        B: { has: '0:[1-3]', target: '0:[2-3]' },
        C: { target: '0:[0-1]' },
      },
      { warmupsMax: 1 },
    );
    expect(heavier.slices['C']).to.equal('[]|[]|0:[1]');
  });

  it('spreads what it plants: each plant makes its process heavier', () => {
    const { slices } = refined({
      A: { has: '0:[0-3]' },
      B: { target: '0:[0-1]' },
      C: { target: '0:[2-3]' },
    });
    expect(slices).to.include({ B: '[]|[]|0:[0]', C: '[]|[]|0:[2]' });
  });
});

describe('refine(): standbys that wait (WU-13)', () => {
  it('withholds the standby of the process that still runs the task', () => {
    const { slices } = refined({
      A1: { process: 'pA', has: '0:[0]' },
      A2: { process: 'pA', target: '[]|0:[0]' },
      B: { target: '0:[0]' },
    });
    expect(slices).to.deep.equal({ A1: '0:[0]|[]|[]', A2: '[]|[]|[]', B: '[]|[]|0:[0]' });
  });

  it('withholds one relocated standby of a task whose own is borrowed, the first by member id', () => {
    const { slices } = refined({
      A: { has: '0:[0]' },
      B: { has: '[]|0:[0]', target: '0:[0]' },
      C: { target: '[]|0:[0]' },
      D: { target: '[]|0:[0]' },
    });
    expect(slices).to.deep.equal({
      A: '0:[0]|[]|[]',
      B: '[]|0:[0]|[]',
      C: '[]|[]|[]',
      D: '[]|0:[0]|[]',
    });
  });

  it('withholds none that is in its place already', () => {
    const { slices } = refined({
      A: { has: '0:[0]' },
      B: { has: '[]|0:[0]', target: '0:[0]' },
      C: { has: '[]|0:[0]', target: '[]|0:[0]' },
    });
    expect(slices['C']).to.equal('[]|0:[0]|[]');
  });
});

describe('keepsActiveTasks() (WU-15)', () => {
  it('sees a task that was lost, and one that was doubled', () => {
    const { members } = refinerInput({ A: { target: '0:[0-1]' }, B: {} });
    const slice = (active: readonly number[]) =>
      new Map([
        ['A', { active: [{ subtopologyId: '0', partitions: active }], standby: [], warmup: [] }],
      ]);
    expect(keepsActiveTasks(members, slice([0, 1]), [])).to.equal(true);
    expect(keepsActiveTasks(members, slice([0]), [])).to.equal(false);
    expect(keepsActiveTasks(members, slice([0, 1, 2]), [])).to.equal(false);
  });
});

describe('gatherFacts()', () => {
  it('counts the load of a process per member, stateful tasks in all roles (WU-7)', () => {
    const { loads } = gatherFacts(
      refinerInput({
        A1: { process: 'pA', has: '0:[0-2];1:[0-7]|0:[3]|0:[4]' },
        A2: { process: 'pA' },
      }),
    );
    expect(loads.process('pA').load).to.equal(2.5);
  });
});
