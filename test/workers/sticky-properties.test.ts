import { expect } from 'chai';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { assignDirectly, assignmentMember, holdResult } from '../support/assignment.ts';
import { AssignmentScenario, type ScenarioShape } from '../support/assignment-scenario.ts';
import { referenceSticky } from '../support/reference-sticky.ts';

/** `TEST_SEED` replays one scenario. */
const replayed = process.env['TEST_SEED'];
const SMALL = replayed === undefined ? range(1, 300) : [Number(replayed)];
const LARGE = replayed === undefined ? range(1, 4) : [Number(replayed)];

describe('assignSticky() over random groups that change', () => {
  it('agrees with the reference, keeps H1 to H7, settles, whatever the order of lists (P1, P2, P4, P9)', () => {
    let rounds = 0;
    let secondMoves = 0;
    for (const seed of SMALL) {
      forEachState(seed, 'small', (scenario) => {
        // Every direct run is checked by findBreach(), as in production (P1).
        const { problem } = scenario;
        const result = assignDirectly(problem);
        expect(result, 'P9').to.deep.equal(referenceSticky(problem));
        expect(byMember(scenario.shuffled()), 'P2').to.deep.equal(byMember(problem));

        let held = problem;
        let answer = result;
        let round = 1;
        for (; round < 10; round++) {
          held = holdResult(held, answer);
          const next = assignDirectly(held);
          if (round === 1) {
            rounds++;
            if (statefulMoves(held, next) > 0) secondMoves++;
          }
          if (JSON.stringify(next) === JSON.stringify(answer)) break;
          answer = next;
        }
        expect(round, 'P4: rounds to a fixed point').to.be.at.most(3);
        return answer;
      });
    }
    if (replayed === undefined) expect(secondMoves / rounds, 'P4').to.be.at.most(0.001);
  });

  it('never moves an active because of standbys, nor for tags that nobody has (P5, P6)', () => {
    for (const seed of SMALL) {
      forEachState(seed, 'small', ({ problem }) => {
        const actives = [0, 1, 2, 3].map((numStandbyReplicas) =>
          assignDirectly({ ...problem, numStandbyReplicas }).members.map(({ active }) => active),
        );
        for (const each of actives) expect(each, 'P5').to.deep.equal(actives[0]);
        const blind = assignDirectly({ ...problem, rackAwareAssignmentTags: [] });
        const unheard = assignDirectly({ ...problem, rackAwareAssignmentTags: ['nobody', 'has'] });
        expect(unheard, 'P6').to.deep.equal(blind);
        return assignDirectly(problem);
      });
    }
  });

  it('moves no more stateful actives than evenness needs, and is as even as can be (P7, Q1, Q2)', () => {
    for (const seed of SMALL) {
      forEachState(seed, 'small', ({ problem }) => {
        const owned = withActivesOnly(problem);
        const memberCount = owned.members.length;
        const result = assignDirectly(owned);
        expect(excessStatefulMoves(owned, result), 'P7').to.equal(0);
        const [stateful, all] = [
          countActives(owned, result, true),
          countActives(owned, result, false),
        ];
        expect(spread(stateful), 'Q1').to.be.at.most(sum(stateful) % memberCount === 0 ? 0 : 1);
        expect(spread(all), 'Q2').to.be.at.most(sum(all) % memberCount === 0 ? 0 : 1);
        return assignDirectly(problem);
      });
    }
  });

  it('depends on the order of ids alone, not on the ids (P3)', () => {
    for (const seed of SMALL.slice(0, 100)) {
      forEachState(seed, 'small', ({ problem }) => {
        const members = problem.members.map((m) => ({
          ...m,
          memberId: `é${m.memberId}`,
          processId: `\u{1f600}${m.processId}`,
        }));
        expect(assignDirectly({ ...problem, members })).to.deep.equal(assignDirectly(problem));
        return assignDirectly(problem);
      });
    }
  });

  it('keeps H1 to H7 in large groups; actives settle at once, standbys in the end (P1, P4)', () => {
    for (const seed of LARGE) {
      forEachState(seed, 'large', ({ problem }) => {
        let held = problem;
        let answer = assignDirectly(problem);
        let round = 1;
        for (; round < 10; round++) {
          held = holdResult(held, answer);
          const next = assignDirectly(held);
          expect(statefulMoves(held, next), 'P4: stateful actives moved').to.equal(0);
          if (JSON.stringify(next) === JSON.stringify(answer)) break;
          answer = next;
        }
        // Where tags bind a standby to a rack without room, standbys may take more rounds than three.
        expect(round, 'P4: rounds to a fixed point').to.be.below(10);
        return answer;
      });
    }
  }).timeout(60_000);
});

/** Visits the first state of a scenario and the one after each change; `visit` answers what is held then. */
function forEachState(
  seed: number,
  shape: ScenarioShape,
  visit: (scenario: AssignmentScenario) => AssignmentResult,
): void {
  const scenario = new AssignmentScenario(seed, shape);
  try {
    scenario.settle(visit(scenario));
    for (let left = scenario.chance.between(1, 8); left > 0; left--) {
      scenario.change();
      scenario.settle(visit(scenario));
    }
  } catch (error) {
    if (error instanceof Error) error.message += ` (after ${scenario.history.join(', ')})`;
    throw error;
  }
}

/** Nothing but actives is held, each by one member, and nobody is stale. */
function withActivesOnly(problem: AssignmentProblem): AssignmentProblem {
  const taken = new Set<string>();
  return {
    ...problem,
    members: problem.members.map(({ memberId, processId, active }) => ({
      ...assignmentMember(memberId, { processId }),
      active: active
        .map(({ subtopologyId, partitions }) => ({
          subtopologyId,
          partitions: partitions.filter((partition) => {
            const task = `${subtopologyId}_${partition}`;
            return taken.has(task) ? false : taken.add(task);
          }),
        }))
        .filter(({ partitions }) => partitions.length > 0),
    })),
  };
}

function byMember(problem: AssignmentProblem): object {
  const { members, unassigned } = assignDirectly(problem);
  const named = problem.members.map(({ memberId }, i) => [memberId, members[i]] as const);
  return { unassigned, members: new Map(named.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

function statefulKeys(
  problem: AssignmentProblem,
  active: AssignmentResult['members'][number]['active'],
): string[] {
  const counts = new Map(
    problem.subtopologies.map((s) => [s.subtopologyId, s.stateful ? s.taskCount : 0]),
  );
  return active.flatMap(({ subtopologyId, partitions }) =>
    partitions
      .filter((partition) => partition < (counts.get(subtopologyId) ?? 0))
      .map((partition) => `${subtopologyId}_${partition}`),
  );
}

function statefulMoves(held: AssignmentProblem, result: AssignmentResult): number {
  return held.members.reduce((moves, member, i) => {
    const now = new Set(statefulKeys(held, result.members[i]?.active ?? []));
    return moves + statefulKeys(held, member.active).filter((task) => !now.has(task)).length;
  }, 0);
}

/** Moves above the lower bound of assignors 3. */
function excessStatefulMoves(held: AssignmentProblem, result: AssignmentResult): number {
  const before = held.members.map((m) => statefulKeys(held, m.active).length).sort((a, b) => b - a);
  const total = held.subtopologies.reduce((n, s) => n + (s.stateful ? s.taskCount : 0), 0);
  const floor = Math.floor(total / before.length);
  const extra = total % before.length;
  const keepable = before.reduce(
    (n, count, i) => n + Math.min(count, floor + (i < extra ? 1 : 0)),
    0,
  );
  return statefulMoves(held, result) - (sum(before) - keepable);
}

function countActives(
  problem: AssignmentProblem,
  result: AssignmentResult,
  statefulOnly: boolean,
): number[] {
  return result.members.map(({ active }) =>
    statefulOnly
      ? statefulKeys(problem, active).length
      : active.reduce((n, { partitions }) => n + partitions.length, 0),
  );
}

function spread(counts: readonly number[]): number {
  return Math.max(...counts) - Math.min(...counts);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
