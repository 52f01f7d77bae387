import { expect } from 'chai';
import { benchAssign } from '../../bench/assign.ts';
import { referenceSticky } from '../support/reference-sticky.ts';

describe('benchAssign()', () => {
  it('measures the small cells and always comes to the same results', async () => {
    const figures = await benchAssign({ small: true, runs: 3, reference: referenceSticky });
    expect(figures.map(({ cell, checkValue }) => [cell, checkValue])).to.deep.equal([
      ['m12-k2-s4-p12-r0-full', '03ddbceb'],
      ['m12-k2-s4-p12-r1-full', '3ac1b505'],
      ['m12-k2-s4-p12-r0-incremental', '87b89d61'],
      ['m12-k2-s4-p12-r1-incremental', '74f50fad'],
    ]);
    for (const each of figures) expect(each.referenceTimes).to.be.a('number');
  });
});
