import { expect } from 'chai';
import { refined } from '../support/refiner.ts';

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
