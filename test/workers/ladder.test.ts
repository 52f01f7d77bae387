import { expect } from 'chai';
import fc from 'fast-check';
import { Ladder } from '../../workers/ladder.ts';

const item = fc.record({
  group: fc.constantFrom(-1, 0),
  capacity: fc.integer({ min: 1, max: 3 }),
  count: fc.nat({ max: 6 }),
  tie: fc.nat({ max: 2 }),
});

describe('Ladder', () => {
  it('finds what a look at everything finds, as long as it is told who rose', () => {
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 9 }),
        fc.array(fc.array(fc.nat({ max: 8 }), { maxLength: 3 }), { maxLength: 40 }),
        (items, steps) => {
          const column = (field: keyof (typeof items)[number]) =>
            Int32Array.from(items, (each) => each[field]);
          const [group, capacity, count, tie] = [
            column('group'),
            column('capacity'),
            column('count'),
            column('tie'),
          ];
          const marks = new Int32Array(9).fill(-1);
          const ladder = new Ladder({ group, capacity, count, tie }, marks);
          const load = (i: number) => (count[i] ?? 0) / (capacity[i] ?? 1);
          const tieLoad = (i: number) => (tie[i] ?? 0) / (capacity[i] ?? 1);
          steps.forEach((except, mark) => {
            for (const i of except) marks[i] = mark;
            const expected =
              [...items.keys()]
                .filter((i) => group[i] !== -1 && !except.includes(i))
                .sort((a, b) => load(a) - load(b) || tieLoad(a) - tieLoad(b) || a - b)[0] ?? -1;
            const found = ladder.firstUnmarked(mark);
            expect(found).to.equal(expected);
            if (found === -1) return;
            const has = (count[found] ?? 0) + 1;
            count[found] = has;
            ladder.rose(has);
          });
        },
      ),
      { numRuns: 500 },
    );
  });
});
