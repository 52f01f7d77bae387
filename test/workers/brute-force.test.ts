import { expect } from 'chai';
import fc from 'fast-check';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { ASSIGNORS } from '../../machines/model/assignors.ts';
import {
  assignDirectly,
  assignmentMember,
  assignmentProblem,
  tasks,
} from '../support/assignment.ts';

type Spreads = readonly [stateful: number, all: number];

/** Up to 6 tasks in two subtopologies, up to 4 members, any owners. */
const tiny = fc
  .record({
    statefulCount: fc.nat({ max: 3 }),
    statelessCount: fc.nat({ max: 3 }),
    processOf: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 4 }),
    owners: fc.array(fc.nat({ max: 4 }), { minLength: 6, maxLength: 6 }),
    numStandbyReplicas: fc.nat({ max: 1 }),
  })
  .map(({ statefulCount, statelessCount, processOf, owners, numStandbyReplicas }) =>
    assignmentProblem({
      numStandbyReplicas,
      subtopologies: [
        { subtopologyId: 'l', taskCount: statelessCount, stateful: false },
        { subtopologyId: 's', taskCount: statefulCount, stateful: true },
      ],
      members: processOf.map((process, m) =>
        assignmentMember(`m${m}`, {
          processId: `p${process}`,
          active: tasks({
            l: [0, 1, 2].filter((partition) => owners[partition] === m),
            s: [0, 1, 2].filter((partition) => owners[3 + partition] === m),
          }),
        }),
      ),
    }),
  );

const RUNS = 1000;
/** How many of the problems of one seed an assignor solves as well as can be. */
const BEST = { sticky: RUNS, balanced: 976, highly_available: RUNS };

describe('assignors among all assignments there are (P10)', () => {
  for (const assignor of ASSIGNORS) {
    it(`${assignor} is best in the spread of stateful and then of all actives, ${BEST[assignor]} times of ${RUNS}`, () => {
      let best = 0;
      for (const problem of fc.sample(tiny, { seed: 7, numRuns: RUNS })) {
        const spreads = spreadsOf(problem, assignDirectly({ ...problem, assignor }));
        const [stateful, all] = bestSpreads(problem);
        if (spreads[0] === stateful && spreads[1] === all) best++;
      }
      expect(best).to.equal(BEST[assignor]);
    });
  }
});

/** Tries every owner for every task; a standby fits beside any choice of actives, so they need no trying. */
function bestSpreads({ subtopologies, members }: AssignmentProblem): Spreads {
  const isStateful = subtopologies.flatMap((s) => Array(s.taskCount).fill(s.stateful) as boolean[]);
  let best: Spreads = [Infinity, Infinity];
  for (let choice = 0; choice < members.length ** isStateful.length; choice++) {
    const stateful = members.map(() => 0);
    const all = members.map(() => 0);
    let rest = choice;
    for (const counts of isStateful) {
      const member = rest % members.length;
      rest = Math.floor(rest / members.length);
      all[member] = (all[member] ?? 0) + 1;
      if (counts) stateful[member] = (stateful[member] ?? 0) + 1;
    }
    const [a, b] = [spread(stateful), spread(all)];
    if (a < best[0] || (a === best[0] && b < best[1])) best = [a, b];
  }
  return best;
}

function spreadsOf(problem: AssignmentProblem, result: AssignmentResult): Spreads {
  const count = (wanted: readonly string[]): number[] =>
    result.members.map(({ active }) =>
      active.reduce(
        (n, each) => n + (wanted.includes(each.subtopologyId) ? each.partitions.length : 0),
        0,
      ),
    );
  const stateful = problem.subtopologies.filter((s) => s.stateful).map((s) => s.subtopologyId);
  return [spread(count(stateful)), spread(count(['l', 's']))];
}

function spread(counts: readonly number[]): number {
  return Math.max(...counts) - Math.min(...counts);
}
