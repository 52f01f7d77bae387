import { expect } from 'chai';
import fc from 'fast-check';
import { surplusOf } from '../../machines/decide/refine/assemble.ts';
import { type RefinerInput, refine } from '../../machines/decide/refine/refine.ts';
import { makesDifference } from '../../machines/decide/refine/watched.ts';
import type { Refinement } from '../../machines/model/refinement.ts';
import type { RefinerMember } from '../../machines/model/survey.ts';
import {
  countTasks,
  forEachTask,
  sameTasksByRole,
  taskKey,
} from '../../machines/model/task-list.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import { plain, refinedSoundly, refineSoundly } from '../support/refiner.ts';
import { checkRefinement } from '../support/refiner-laws.ts';
import { inputOf, LAG, PROCESSES, STATEFUL, start } from '../support/refiner-states.ts';
import { times } from '../support/times.ts';

/** The members when all of them have reconciled to a refinement, with the lag each copy then has. */
function reconciled(
  { members }: RefinerInput,
  { slices }: Refinement,
  lagOf: (member: RefinerMember, key: string) => bigint | undefined,
): readonly RefinerMember[] {
  return members.map((member) => {
    const assigned = slices.get(member.memberId) ?? member.target;
    const taskOffsets: TaskOffset[] = [];
    const taskEndOffsets: TaskOffset[] = [];
    for (const role of ['standby', 'warmup'] as const) {
      forEachTask(assigned[role], (subtopologyId, partition) => {
        const lag = lagOf(member, taskKey(subtopologyId, partition));
        if (lag === undefined) return;
        taskOffsets.push({ subtopologyId, partition, offset: 10_000n - lag });
        taskEndOffsets.push({ subtopologyId, partition, offset: 10_000n });
      });
    }
    return { ...member, assigned, taskOffsets, taskEndOffsets, reportsCopies: 'yes' };
  });
}

/** Refines and reconciles until nothing changes; every step is held to the laws. @returns how many steps that took. */
function run(
  from: RefinerInput,
  lagOf: (round: number, key: string) => bigint | undefined,
  stepMs: number,
): number {
  const holders = new Map<string, string[]>();
  let input = from;
  for (let round = 1; round <= 100; round++) {
    const refinement = refineSoundly(input);
    checkRefinement(input, refinement);
    const members = reconciled(input, refinement, (_, key) => lagOf(round, key));
    noteHolders(holders, members);
    const isHome = members.every(({ assigned, target }) => sameTasksByRole(assigned, target));
    if (isHome) {
      for (const [key, past] of holders) {
        expect(new Set(past).size, `${key} never goes back: ${past}`).to.equal(past.length);
        expect(past.length, `${key} moves twice at most: ${past}`).to.be.at.most(3);
      }
      return round;
    }
    input = { ...input, members, waits: refinement.waits, nowMs: input.nowMs + stepMs };
  }
  throw new Error('The target is not reached in 100 steps');
}

function noteHolders(holders: Map<string, string[]>, members: readonly RefinerMember[]): void {
  for (const { memberId, assigned } of members) {
    forEachTask(assigned.active, (subtopologyId, partition) => {
      const key = taskKey(subtopologyId, partition);
      const past = holders.get(key) ?? [];
      if (past.at(-1) !== memberId) past.push(memberId);
      holders.set(key, past);
    });
  }
}

describe('refine(): laws', () => {
  it('holds H9 to H19 in any sound state', () => {
    fc.assert(
      fc.property(start, (given) => {
        const input = inputOf(given);
        checkRefinement(input, refineSoundly(input));
      }),
      { numRuns: 500 },
    );
  });

  it('gives the same whatever the order of members and reports, and twice', () => {
    fc.assert(
      fc.property(start, (given) => {
        const input = inputOf(given);
        const members = input.members.map((member) => ({
          ...member,
          taskOffsets: member.taskOffsets.toReversed(),
          taskEndOffsets: member.taskEndOffsets.toReversed(),
        }));
        const refinement = refineSoundly(input);
        expect(plain(refineSoundly(input))).to.deep.equal(plain(refinement));
        expect(plain(refineSoundly({ ...input, members }))).to.deep.equal(plain(refinement));
        const backwards = input.members.toReversed();
        expect(plain(refineSoundly({ ...input, members: backwards }))).to.deep.equal(
          plain(refinement),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('gives the same from what is known of an earlier survey', () => {
    fc.assert(
      fc.property(
        start,
        start,
        fc.array(fc.boolean(), { minLength: PROCESSES.length, maxLength: PROCESSES.length }),
        fc.nat({ max: PROCESSES.length }),
        (first, second, changes, shift) => {
          const before = inputOf(first);
          const other = inputOf(second);
          const { subtopologies } = before;
          // Some members are as they were, some have and are to have something else, and they come in another order.
          const mixed = before.members.map((member, at) =>
            changes[at] === true ? (other.members[at] ?? member) : member,
          );
          const members = [...mixed.slice(shift), ...mixed.slice(0, shift)].slice(
            0,
            1 + (shift % PROCESSES.length) + 3,
          );
          const { basis } = refinedSoundly(before);
          const input = { ...other, members, subtopologies };
          const anew = refine(input);
          const fromKnown = refine({ ...input, known: basis?.survey });
          expect(fromKnown && plain(fromKnown.refinement)).to.deep.equal(
            anew && plain(anew.refinement),
          );
        },
      ),
      { numRuns: times(500) },
    );
  });

  it('knows who has a slice, and how many tasks more or less it has, without making it (WU-15)', () => {
    fc.assert(
      fc.property(start, (given) => {
        const { basis, refinement } = refinedSoundly(inputOf(given));
        basis?.survey.members.forEach(({ memberId, target }, member) => {
          const isThere = refinement.slices.has(memberId);
          const slice = refinement.slices.get(memberId);
          expect(isThere).to.equal(slice !== undefined);
          expect(surplusOf(basis, member)).to.equal(
            countTasks(slice?.active ?? target.active) - countTasks(target.active),
          );
        });
      }),
      { numRuns: times(300) },
    );
  });

  it('gives the same whatever a member reports that makes no difference (WU-2)', () => {
    let unwatched = 0;
    const reports = fc.uniqueArray(
      fc.record({
        subtopologyId: fc.constant('0'),
        partition: fc.nat({ max: STATEFUL - 1 }),
        offset: fc.constantFrom(0n, 9_950n, 10_000n, 2n ** 63n - 1n),
      }),
      { selector: ({ partition }) => partition, maxLength: 3 },
    );
    const which = fc.nat({ max: PROCESSES.length - 1 });
    fc.assert(
      fc.property(start, which, reports, reports, (given, at, taskOffsets, taskEndOffsets) => {
        // Without tasks that nobody has nor is to have, which are watched too.
        const taskCount = given.tasks.length;
        const subtopologies = [{ subtopologyId: '0', taskCount, stateful: true }];
        const input = { ...inputOf(given), subtopologies };
        const before = input.members[at];
        if (before === undefined) throw new Error('There are as many members as processes');
        const after = { ...before, taskOffsets, taskEndOffsets, reportedAtMs: 5_000 };
        const { refinement, basis } = refinedSoundly(input);
        if (basis !== undefined && makesDifference(basis.survey, before, after, LAG)) return;
        unwatched++;
        const again = refineSoundly({ ...input, members: input.members.with(at, after) });
        expect(plain(again)).to.deep.equal(plain(refinement));
      }),
      { numRuns: 1_000 },
    );
    expect(unwatched).to.be.greaterThan(100);
  });

  it('reaches the target in as many steps as the budget asks for when copies catch up, and no task goes back', () => {
    fc.assert(
      fc.property(start, (given) => {
        const input = inputOf(given);
        const steps = run(input, () => 0n, 1000);
        // Per round of warm-ups one step to plant and one to grant; one more for what was unheard of.
        const rounds = Math.ceil(given.tasks.length / given.warmupsMax);
        expect(steps).to.be.at.most(2 * rounds + 3);
      }),
      { numRuns: 300 },
    );
  });

  it('reaches the target whatever lags are reported, and no task goes back', () => {
    const lags = fc.array(fc.option(fc.bigInt({ min: -1n, max: 300n }), { nil: undefined }), {
      minLength: 20,
      maxLength: 20,
    });
    fc.assert(
      fc.property(start, lags, (given, some) => {
        const lagOf = (round: number, key: string) =>
          some[(round * 7 + key.charCodeAt(key.length - 1)) % some.length];
        run(inputOf(given), lagOf, 200_000);
      }),
      { numRuns: 300 },
    );
  });

  it('reaches the target when nothing is ever reported, because waits end', () => {
    fc.assert(
      fc.property(start, (given) => {
        run(inputOf(given), () => undefined, 200_000);
      }),
      { numRuns: 150 },
    );
  });
});
