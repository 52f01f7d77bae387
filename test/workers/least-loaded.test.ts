import { expect } from 'chai';
import fc from 'fast-check';
import { LeastLoaded } from '../../workers/least-loaded.ts';
import { dirtyScratch } from '../support/dirty-scratch.ts';

const item = fc.record({
  group: fc.integer({ min: -1, max: 2 }),
  capacity: fc.integer({ min: 1, max: 3 }),
  count: fc.nat({ max: 4 }),
  tie: fc.nat({ max: 2 }),
});

/** Take the least loaded, let somebody rise, drop somebody. */
const step = fc.record({
  kind: fc.constantFrom('first' as const, 'except' as const, 'rise' as const, 'drop' as const),
  item: fc.nat({ max: 7 }),
  other: fc.nat({ max: 7 }),
  group: fc.nat({ max: 2 }),
});

describe('LeastLoaded', () => {
  it('finds what a look at everything finds, whoever rises or is dropped meanwhile', () => {
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 8, maxLength: 8 }),
        fc.array(step, { maxLength: 40 }),
        (items, steps) => {
          const [group, capacity, count, tie] = (
            ['group', 'capacity', 'count', 'tie'] as const
          ).map((field) => Int32Array.from(items, (each) => each[field])) as [
            Int32Array,
            Int32Array,
            Int32Array,
            Int32Array,
          ];
          const scratch = dirtyScratch(8);
          const leastLoaded = new LeastLoaded(
            { count, group, groupCount: 3, capacity, tie, order: tie },
            scratch,
          );
          let mark = 1;
          const dropped = new Set<number>();
          const load = (i: number) => (count[i] ?? 0) / (capacity[i] ?? 1);
          const tieLoad = (i: number) => (tie[i] ?? 0) / (capacity[i] ?? 1);
          const look = (wanted: number, except: readonly number[]): number =>
            [...items.keys()]
              .filter((i) => group[i] === wanted && !dropped.has(i) && !except.includes(i))
              .sort((a, b) => load(a) - load(b) || tieLoad(a) - tieLoad(b) || a - b)[0] ?? -1;
          for (const each of steps) {
            const except = [each.item, each.other];
            if (each.kind === 'rise') count[each.item] = (count[each.item] ?? 0) + 1;
            if (each.kind === 'drop') dropped.add(each.item);
            if (each.kind === 'drop') leastLoaded.drop(each.item);
            if (each.kind === 'first') {
              expect(leastLoaded.first(each.group)).to.equal(look(each.group, []));
            }
            if (each.kind === 'except') {
              mark += 1;
              for (const i of except) scratch.marks[i] = mark;
              const found = leastLoaded.firstUnmarked(mark, each.group);
              expect(found).to.equal(look(each.group, except));
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('comes to an end when somebody is dropped who was left behind', () => {
    const count = Int32Array.of(0, 0, 5);
    const none = new Int32Array(3);
    const scratch = dirtyScratch(3);
    const leastLoaded = new LeastLoaded(
      {
        count,
        group: none,
        groupCount: 1,
        capacity: Int32Array.of(1, 1, 1),
        tie: none,
        order: none,
      },
      scratch,
    );
    scratch.marks[0] = 11;
    expect(leastLoaded.firstUnmarked(11, 0)).to.equal(1);
    count[1] = 2;
    expect(leastLoaded.firstUnmarked(11, 0)).to.equal(1);
    count[0] = 3;
    leastLoaded.drop(0);
    leastLoaded.drop(2);
    count[1] = 9;
    for (let i = 0; i < 3; i++) scratch.marks[i] = 12;
    expect(leastLoaded.firstUnmarked(12, 0)).to.equal(-1);
    expect(leastLoaded.firstUnmarked(13, 0)).to.equal(1);
  });

  it('compares loads whose products do not fit 32 bits', () => {
    const big = 2 ** 24 - 1;
    const leastLoaded = new LeastLoaded(
      {
        count: Int32Array.of(big, big - 1),
        group: Int32Array.of(0, 0),
        groupCount: 1,
        capacity: Int32Array.of(big - 1, big - 2),
        tie: new Int32Array(2),
        order: new Int32Array(2),
      },
      dirtyScratch(2),
    );
    expect(leastLoaded.first(0)).to.equal(0);
  });
});
