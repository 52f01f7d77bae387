import { expect } from 'chai';
import { benchRefine } from '../../bench/refine.ts';

describe('benchRefine()', () => {
  it('measures small groups, in which as many tasks wait as are to move', async () => {
    const limits = { warmSeconds: 0, measureSeconds: 0 };
    const found = [];
    for (const oneMovesIn of [0, 10, 1]) {
      const cell = { members: 20, tasks: 100, oneMovesIn };
      const { moving, check, anewUs, reportUs } = await benchRefine(cell, limits);
      expect(Math.min(anewUs, reportUs)).to.be.above(0);
      found.push([moving, check]);
    }
    expect(found).to.deep.equal([
      [0, 0],
      [10, 10],
      [100, 100],
    ]);
  });
});
