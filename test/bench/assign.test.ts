import { expect } from 'chai';
import { benchAssign } from '../../bench/assign.ts';
import { referenceSticky } from '../support/reference-sticky.ts';

describe('benchAssign()', () => {
  it('measures the small cells and always comes to the same results', async () => {
    const figures = await benchAssign({ small: true, runs: 3, reference: referenceSticky });
    expect(figures.map(({ cell, checkValue }) => [cell, checkValue])).to.deep.equal([
      ['m12-k2-s4-p12-r0-full', 'da7db97f'],
      ['m12-k2-s4-p12-r1-full', '5b9f0e5b'],
      ['m12-k2-s4-p12-r0-incremental', '87b89d61'],
      ['m12-k2-s4-p12-r1-incremental', '836357d4'],
    ]);
    for (const each of figures) expect(each.referenceTimes).to.be.a('number');
  });
});
