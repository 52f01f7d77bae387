import { expect } from 'chai';
import { benchChurn } from '../../bench/churn.ts';

describe('benchChurn()', () => {
  it('measures a small load, in which every group gets a new assignment at every event', async () => {
    const load = { groups: 2, members: 4, tasks: 20, bystanders: 10, beatsPerSecond: 50 };
    const figures = await benchChurn({ ...load, seconds: 1, rounds: 1 });
    expect(figures.assignments).to.be.within(2, 4);
    expect(figures.assignments).to.equal(figures.events * load.groups);
    expect(figures.churnP99Ms).to.be.above(0);
  });
});
