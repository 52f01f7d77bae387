import { expect } from 'chai';
import fc from 'fast-check';
import { LeastLoaded, type LeastLoadedScratch } from '../../workers/least-loaded.ts';
import { Rounds } from '../../workers/rounds.ts';
import { dirtyScratch } from '../support/dirty-scratch.ts';

const process = fc.record({ count: fc.nat({ max: 3 }), order: fc.nat({ max: 1 }) });

/** Asks for a process other than one, several times; the last one may not rise. */
const step = fc.record({
  other: fc.integer({ min: -1, max: 6 }),
  times: fc.integer({ min: 1, max: 12 }),
  rises: fc.boolean(),
});

describe('Rounds', () => {
  it('give what a look at everything finds, with the bin where they give nothing', () => {
    let given = 0;
    fc.assert(
      fc.property(
        fc.array(process, { minLength: 1, maxLength: 7 }),
        fc.array(step, { maxLength: 20 }),
        (processes, steps) => {
          const count = Int32Array.from(processes, (each) => each.count);
          const order = Int32Array.from(processes, (each) => each.order);
          const scratch = dirtyScratch(processes.length);
          const { bin, round } = binOf({ count, order }, scratch);
          const rounds = new Rounds(bin, round, count);
          const look = (other: number): number =>
            [...count.keys()]
              .filter((i) => i !== other)
              .sort(
                (a, b) =>
                  (count[a] ?? 0) - (count[b] ?? 0) || (order[a] ?? 0) - (order[b] ?? 0) || a - b,
              )[0] ?? -1;
          let mark = 1;
          for (const { other, times, rises } of steps) {
            for (let time = 0; time < times; time++) {
              let found = rounds.nextBut(other);
              if (found !== -1) given++;
              else {
                mark++;
                if (other !== -1 && other < scratch.marks.length) scratch.marks[other] = mark;
                found = bin.firstUnmarked(mark);
              }
              expect(found).to.equal(look(other));
              if (found === -1) continue;
              if (rises || time < times - 1) count[found] = (count[found] ?? 0) + 1;
              else rounds.breakOff();
            }
          }
        },
      ),
      { numRuns: 2_000 },
    );
    expect(given).to.be.above(10_000);
  });
});

function binOf(
  { count, order }: { readonly count: Int32Array; readonly order: Int32Array },
  scratch: LeastLoadedScratch,
) {
  const items = { count, group: undefined, groupCount: 1, capacity: undefined, tie: order, order };
  const { onlyBin, round } = new LeastLoaded(items, scratch);
  if (onlyBin === undefined) throw new Error('items of one capacity are in one bin');
  return { bin: onlyBin, round };
}
