import { expect } from 'chai';
import fc from 'fast-check';
import { Quota } from '../../workers/quota.ts';

describe('Quota', () => {
  it('lets as many members as need be reach the ceiling and the rest the floor, whoever is served first', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.nat({ max: 20 }),
        fc.infiniteStream(fc.nat()),
        (memberCount, taskCount, turns) => {
          const quota = new Quota(taskCount, memberCount);
          const counts: number[] = Array(memberCount).fill(0);
          for (let left = taskCount; left > 0; left--) {
            const open = [...counts.keys()].filter((m) => (counts[m] ?? 0) < quota.limit);
            const member = open[turns.next().value % open.length] as number;
            const count = (counts[member] ?? 0) + 1;
            counts[member] = count;
            quota.reached(count);
          }
          const ceilings = taskCount % memberCount;
          const floor = Math.floor(taskCount / memberCount);
          const even = [...counts.keys()].map((m) => floor + (m < ceilings ? 1 : 0));
          expect(counts.toSorted((a, b) => b - a)).to.deep.equal(even);
        },
      ),
    );
  });

  it('is 0 when there is no member, and falls when a task goes elsewhere', () => {
    expect(new Quota(5, 0).limit).to.equal(0);
    const quota = new Quota(5, 2);
    quota.taskGone();
    expect(quota.limit).to.equal(2);
  });
});
