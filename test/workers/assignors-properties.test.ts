import { expect } from 'chai';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import {
  assignDirectly,
  assignmentMember,
  assignmentProblem,
  holdResult,
  tasks,
} from '../support/assignment.ts';
import {
  byMember,
  countActives,
  spread,
  statefulMoves,
  subtopologyExcess,
  withActivesOnly,
} from '../support/assignment-measures.ts';
import { forEachState } from '../support/assignment-scenario.ts';
import { referenceBalanced } from '../support/reference-balanced.ts';
import { referenceHighlyAvailable } from '../support/reference-highly-available.ts';
import { isReplay, seeds } from '../support/seeds.ts';

const SMALL = seeds(100);
const LARGE = seeds(2);

for (const assignor of ['balanced', 'highly_available'] as const) {
  describe(`${assignor} over random groups that change`, () => {
    const by = (problem: AssignmentProblem): AssignmentProblem => ({ ...problem, assignor });

    it('keeps H1 to H6, settles, whatever the order of lists (P1, P2, P4)', () => {
      for (const seed of SMALL) {
        forEachState(seed, 'small', (scenario) => {
          const problem = by(scenario.problem);
          const result = assignDirectly(problem);
          expect(byMember(by(scenario.shuffled())), 'P2').to.deep.equal(byMember(problem));
          const rounds = roundsToSettle(problem, result);
          expect(rounds, 'P4: rounds to a fixed point').to.be.at.most(ROUNDS_MAX);
          return result;
        });
      }
    });

    it('depends on the order of ids alone, and not on tags that nobody has (P3, P6)', () => {
      for (const seed of SMALL) {
        forEachState(seed, 'small', (scenario) => {
          const problem = by(scenario.problem);
          const members = problem.members.map((m) => ({
            ...m,
            memberId: `é${m.memberId}`,
            processId: `\u{1f600}${m.processId}`,
          }));
          const result = assignDirectly(problem);
          expect(assignDirectly({ ...problem, members }), 'P3').to.deep.equal(result);
          const blind = assignDirectly({ ...problem, rackAwareAssignmentTags: [] });
          const unheard = { ...problem, rackAwareAssignmentTags: ['nobody', 'has'] };
          expect(assignDirectly(unheard), 'P6').to.deep.equal(blind);
          return result;
        });
      }
    });

    it('spreads stateful and all actives as evenly as can be over fresh members (Q1, Q2)', () => {
      for (const seed of SMALL) {
        forEachState(seed, 'small', (scenario) => {
          const owned = withActivesOnly(by(scenario.problem));
          const result = assignDirectly(owned);
          const memberCount = owned.members.length;
          const stateful = countActives(owned, result, true);
          const best = (counts: readonly number[]) =>
            counts.reduce((a, b) => a + b, 0) % memberCount === 0 ? 0 : 1;
          expect(spread(stateful), 'Q1').to.equal(best(stateful));
          // Inside a process balanced evens out roles together, so that standbys may stand in for actives.
          const alone = { ...owned, numStandbyReplicas: 0 };
          const all = countActives(
            owned,
            assignor === 'balanced' ? assignDirectly(alone) : result,
            false,
          );
          expect(spread(all), 'Q2').to.equal(best(all));
          return assignDirectly(by(scenario.problem));
        });
      }
    });

    it('keeps H1 to H6 in large groups, and settles (P1, P4)', () => {
      for (const seed of LARGE) {
        forEachState(seed, 'large', (scenario) => {
          const problem = by(scenario.problem);
          const result = assignDirectly(problem);
          expect(roundsToSettle(problem, result)).to.be.below(10);
          return result;
        });
      }
    }).timeout(60_000);
  });
}

for (const [assignor, reference] of [
  ['balanced', referenceBalanced],
  ['highly_available', referenceHighlyAvailable],
] as const) {
  describe(`${assignor} and its reference`, () => {
    it('agree on every group (P9)', () => {
      for (const seed of seeds(50)) {
        forEachState(seed, 'small', (scenario) => {
          const problem = { ...scenario.problem, assignor };
          const result = assignDirectly(problem);
          expect(result, `seed ${seed}`).to.deep.equal(reference(problem));
          return result;
        });
      }
    });
  });
}

describe('highly_available beside balanced (assignors 6.3)', () => {
  it('is as even, and moves less than a tenth of the state', () => {
    const moves = { balanced: 0, highly_available: 0 };
    const excess = { balanced: 0, highly_available: 0 };
    for (const seed of SMALL) {
      forEachState(seed, 'small', ({ problem }) => {
        const owned = withActivesOnly(problem);
        const measured = (['balanced', 'highly_available'] as const).map((assignor) => {
          const result = assignDirectly({ ...owned, assignor });
          moves[assignor] += statefulMoves(owned, result);
          excess[assignor] += subtopologyExcess(owned, result);
          return {
            Q1: spread(countActives(owned, result, true)),
            Q2: spread(countActives(owned, result, false)),
          };
        });
        const [theirs = NONE, ours = NONE] = measured;
        expect(ours.Q1, 'Q1').to.be.at.most(theirs.Q1);
        expect(ours.Q2, 'Q2').to.be.at.most(theirs.Q2);
        return assignDirectly({ ...problem, assignor: 'highly_available' });
      });
    }
    if (isReplay) return;
    expect(moves.highly_available / moves.balanced, 'moves').to.be.below(0.1);
    expect(excess.highly_available, 'Q3').to.be.at.most(excess.balanced);
  });
});

describe('highly_available beside a stale member that holds nothing (assignors 2.1)', () => {
  it('leaves every task where it has put it (P4)', () => {
    const problem = assignmentProblem({
      assignor: 'highly_available',
      subtopologies: [{ subtopologyId: '0', taskCount: 9, stateful: true }],
      members: [
        assignmentMember('a'),
        assignmentMember('b', { active: tasks({ 0: [1, 3] }) }),
        assignmentMember('c', { processId: 'P2', topologyEpoch: 0 }),
      ],
    });
    const first = assignDirectly(problem);
    expect(first).to.deep.equal({
      members: [
        { active: tasks({ 0: [0, 4, 6, 7, 8] }), standby: [] },
        { active: tasks({ 0: [1, 2, 3, 5] }), standby: [] },
        { active: [], standby: [] },
      ],
      unassigned: [],
    });
    expect(assignDirectly(holdResult(problem, first))).to.deep.equal(first);
    expect(first).to.deep.equal(referenceHighlyAvailable(problem));
  });
});

const NONE = { Q1: 0, Q2: 0 };
const ROUNDS_MAX = 4;

/** Runs the assignor on what it gave until nothing changes. */
function roundsToSettle(problem: AssignmentProblem, first: AssignmentResult): number {
  let held = problem;
  let answer = first;
  for (let round = 1; ; round++) {
    held = holdResult(held, answer);
    const next = assignDirectly(held);
    if (round === 10 || JSON.stringify(next) === JSON.stringify(answer)) return round;
    answer = next;
  }
}
