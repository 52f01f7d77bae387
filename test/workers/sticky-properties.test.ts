import { expect } from 'chai';
import { COSTS } from '../../workers/task-order.ts';
import { assignDirectly, holdResult } from '../support/assignment.ts';
import {
  byMember,
  countActives,
  excessStatefulMoves,
  spread,
  statefulMoves,
  sum,
  withActivesOnly,
} from '../support/assignment-measures.ts';
import { forEachState } from '../support/assignment-scenario.ts';
import { referenceSticky } from '../support/reference-sticky.ts';
import { isReplay, seeds } from '../support/seeds.ts';

/** In the last two somebody has come back with tasks on disk of which nobody has a copy. */
const SMALL = isReplay ? seeds(1) : [...seeds(100), 1045, 1291];
const LARGE = seeds(2);

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
    if (!isReplay) expect(secondMoves / rounds, 'P4').to.be.at.most(0.001);
  });

  it('gives the same whether few are found by lists, or all are looked through', () => {
    const usual = { ...COSTS };
    const ways = [usual, { sorted: 0, listed: 0 }, { sorted: Infinity, listed: Infinity }];
    const seeds = [
      ...SMALL.map((seed) => ['small', seed] as const),
      ...LARGE.map((seed) => ['large', seed] as const),
    ];
    try {
      for (const [size, seed] of seeds) {
        forEachState(seed, size, ({ problem }) => {
          const [result, ...others] = ways.map((way) => {
            Object.assign(COSTS, way);
            return assignDirectly(problem);
          });
          for (const other of others) expect(other, `${size} ${seed}`).to.deep.equal(result);
          return assignDirectly(problem);
        });
      }
    } finally {
      Object.assign(COSTS, usual);
    }
  }).timeout(60_000);

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
    for (const seed of SMALL) {
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
