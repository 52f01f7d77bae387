import { expect } from 'chai';
import fc from 'fast-check';
import { sumRestoringLags } from '../../machines/decide/refine/reports.ts';
import type { RefinerMember } from '../../machines/model/survey.ts';
import { hasTask } from '../../machines/model/task-list.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import { refinerInput } from '../support/refiner.ts';

const NOT_STARTED = 2n ** 63n - 1n;
const LAG = 100n;

const offset = fc.constantFrom(-1n, 0n, 7n, 899n, 900n, 1000n, NOT_STARTED);
const reports = fc.uniqueArray(
  fc.record({
    subtopologyId: fc.constantFrom('0', '1'),
    partition: fc.nat({ max: 4 }),
    offset,
  }),
  { selector: ({ subtopologyId, partition }) => `${subtopologyId}_${partition}` },
);

function memberOf(
  taskOffsets: readonly TaskOffset[],
  taskEndOffsets: readonly TaskOffset[],
): RefinerMember {
  const [member] = refinerInput({ A: { has: '0:[0-3];1:[0]|0:[4]' } }).members;
  if (member === undefined) throw new Error('There is one member');
  return { ...member, taskOffsets, taskEndOffsets };
}

describe('sumRestoringLags()', () => {
  it('is the sum over active tasks that are reported with an end, of those that lag too much', () => {
    fc.assert(
      fc.property(reports, reports, (offsets, ends) => {
        const member = memberOf(offsets, ends);
        let expected = 0n;
        for (const at of offsets) {
          for (const end of ends) {
            if (at.subtopologyId !== end.subtopologyId || at.partition !== end.partition) continue;
            if (!hasTask(member.assigned.active, at.subtopologyId, at.partition)) continue;
            const isUnknown = end.offset === NOT_STARTED;
            const left = at.offset === NOT_STARTED ? end.offset : end.offset - at.offset;
            if (!isUnknown && left > LAG) expected += left;
          }
        }
        expect(sumRestoringLags(member, LAG)).to.equal(expected);
      }),
    );
  });

  it('reads each report once, however many there are', () => {
    let reads = 0;
    const many = (from: bigint) =>
      Array.from({ length: 2_000 }, (_, at) => ({
        subtopologyId: '0',
        get partition() {
          reads++;
          return at;
        },
        offset: from,
      }));
    const { assigned, ...member } = memberOf(many(0n), many(1_000n));
    const partitions = Array.from({ length: 2_000 }, (_, at) => at);
    const active = [{ subtopologyId: '0', partitions }];
    const left = sumRestoringLags({ ...member, assigned: { ...assigned, active } }, LAG);
    expect([left, reads]).to.deep.equal([2_000_000n, 4_000]);
  });
});
