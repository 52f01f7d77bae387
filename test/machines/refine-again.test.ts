import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Refined,
  type RefinerInput,
  refineAgain,
} from '../../machines/decide/refine/refine.ts';
import { makesDifference } from '../../machines/decide/refine/watched.ts';
import type { RefinerMember } from '../../machines/model/survey.ts';
import { plain, refinedSoundly } from '../support/refiner.ts';
import { inputOf, LAG, PROCESSES, start } from '../support/refiner-states.ts';
import { times } from '../support/times.ts';

const NOT_STARTED = 2n ** 63n - 1n;

const saying = (...offsets: readonly bigint[]) =>
  fc.uniqueArray(
    fc.record({
      subtopologyId: fc.constantFrom('0', '0', '0', '1'),
      partition: fc.nat({ max: 2 }),
      offset: fc.constantFrom(...offsets),
    }),
    {
      selector: ({ subtopologyId, partition }) => `${subtopologyId}_${partition}`,
      maxLength: 4,
    },
  );
const offsets = saying(0n, 50n, 5_000n, 9_950n, 10_000n, NOT_STARTED);
const ends = saying(10_000n, NOT_STARTED, NOT_STARTED);

/** A member says something, and sometimes the refinement is asked for then. */
const event = fc.record({
  member: fc.nat({ max: PROCESSES.length - 1 }),
  taskOffsets: offsets,
  taskEndOffsets: ends,
  reportsCopies: fc.constantFrom<RefinerMember['reportsCopies']>('yes', 'yes', 'no'),
  afterMs: fc.constantFrom(0, 1_000, 10_000, 80_000, 600_000),
  isAskedFor: fc.constantFrom(true, true, false),
});
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** What a coordinator keeps between two refinements. */
type Kept = {
  readonly input: RefinerInput;
  readonly refined: Refined;
  /** Who said something that counts since. */
  readonly reporters: ReadonlyMap<string, RefinerMember>;
};

function hear(kept: Kept, { member, afterMs, ...said }: Event): Kept {
  const { input, refined } = kept;
  const nowMs = input.nowMs + afterMs;
  const before = input.members[member];
  if (before === undefined) throw new Error('There are as many members as processes');
  const { taskOffsets, taskEndOffsets, reportsCopies } = said;
  const after = { ...before, taskOffsets, taskEndOffsets, reportsCopies, reportedAtMs: nowMs };
  const { basis } = refined;
  const isCounted = basis !== undefined && makesDifference(basis.survey, before, after, LAG);
  const reporters = new Map(kept.reporters);
  if (isCounted || reporters.has(before.memberId)) reporters.set(before.memberId, after);
  return {
    input: { ...input, nowMs, members: input.members.with(member, after) },
    refined,
    reporters,
  };
}

function ask({ input, refined, reporters }: Kept): Kept {
  const { basis, refinement } = refined;
  const anew = refinedSoundly({ ...input, waits: refinement.waits });
  const isWaitOver = input.nowMs >= refinement.untilMs;
  if (basis === undefined || (reporters.size === 0 && !isWaitOver)) {
    expect(plain(anew.refinement)).to.deep.equal(plain(refinement));
    return { input, refined, reporters };
  }
  const again = refineAgain({ refinement, basis }, [...reporters.values()], input);
  expect(again && plain(again.refinement)).to.deep.equal(plain(anew.refinement));
  return { input, refined: again ?? anew, reporters: new Map() };
}

describe('refineAgain()', () => {
  it('gives what refine() gives of all members, after any reports and at any time (WU-2)', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(start, fc.array(event, { minLength: 1, maxLength: 12 }), (given, events) => {
        // Without tasks that nobody has nor is to have.
        const subtopologies = [
          { subtopologyId: '0', taskCount: given.tasks.length, stateful: true },
        ];
        const input = { ...inputOf(given), subtopologies };
        let kept: Kept = { input, refined: refinedSoundly(input), reporters: new Map() };
        for (const each of events) {
          kept = hear(kept, each);
          if (each.isAskedFor) kept = ask(kept);
          for (const move of kept.refined.refinement.moves) {
            seen.add(move.kind === 'staged' ? move.warming : move.because);
          }
        }
      }),
      { numRuns: times(700) },
    );
    expect(seen).to.include.keys('warmup', 'standby', 'noRoom', 'unheard');
    expect(seen).to.include.keys('caughtUp', 'atRest', 'waited', 'neverReports', 'onDisk', 'cold');
  });
});
