import { expect } from 'chai';
import { benchHeartbeats } from '../../bench/heartbeats.ts';

describe('benchHeartbeats()', () => {
  it('measures a small load, in which every heartbeat finds nothing to do', async () => {
    const figures = await benchHeartbeats({ members: 30, groupSize: 10, beats: 300 });
    expect(figures.check).to.equal(300);
    expect(figures.beatsPerSecond).to.be.above(0);
  });
});
