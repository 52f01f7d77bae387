import { expect } from 'chai';
import type { AssignmentFigures } from '../../machines/model/look-back.ts';
import { assignmentMember, assignmentProblem, eachTaskOnce, tasks } from '../support/assignment.ts';
import { forEachState } from '../support/assignment-scenario.ts';
import { assignAndLookBack } from '../support/look-back.ts';
import { type Grade, openGrader } from '../support/open-grader.ts';
import { seeds } from '../support/seeds.ts';

const SEEDS = seeds(40);

describe('takeFigures()', () => {
  it('measures a run in which a member comes back to its state on disk', () => {
    const { figures } = assignAndLookBack(
      assignmentProblem({
        subtopologies: [
          { subtopologyId: '0', taskCount: 4, stateful: true },
          { subtopologyId: '1', taskCount: 2, stateful: false },
        ],
        numStandbyReplicas: 1,
        rackAwareAssignmentTags: ['zone', 'nobody'],
        members: [
          assignmentMember('A', {
            processId: 'P1',
            clientTags: [{ key: 'zone', value: 'a' }],
            active: tasks({ 0: [0, 1, 2, 3], 1: [0, 1] }),
          }),
          assignmentMember('B', {
            processId: 'P2',
            clientTags: [{ key: 'zone', value: 'b' }],
            taskOffsets: [{ subtopologyId: '0', partition: 3, offset: 5n }],
          }),
        ],
      }),
    );
    expect(figures).to.deep.equal({
      tasks: 6,
      statefulTasks: 4,
      sharers: 2,
      unassigned: 0,
      statefulSpread: 0,
      activeSpread: 0,
      loadSpread: 0,
      held: 6,
      moved: 3,
      leastMoved: 3,
      statefulHeld: 4,
      statefulMoved: 2,
      leastStatefulMoved: 2,
      copiesBuilt: 4,
      copiesHeld: 0,
      copiesKept: 0,
      statesOnDisk: 1,
      statesReused: 1,
      tagDiversity: [
        { tag: 'zone', diversity: 1 },
        { tag: 'nobody', diversity: null },
      ],
    });
  });

  for (const assignor of ['sticky', 'balanced', 'highly_available'] as const) {
    it(`gives the numbers of the grader for ${assignor} over random groups (assignors 3)`, async () => {
      const grade = await openGrader();
      for (const seed of SEEDS) {
        forEachState(seed, 'small', (scenario) => {
          // A task that two members claim, or one in two roles, the grader counts in its own way.
          const problem = eachTaskOnce({ ...scenario.problem, assignor });
          const { result, figures } = assignAndLookBack(problem);
          expect(inGradersWords(figures)).to.deep.equal(measured(grade(problem, result)));
          expect(figures.unassigned).to.equal(
            result.unassigned.reduce((count, { partitions }) => count + partitions.length, 0),
          );
          return result;
        });
      }
    });
  }
});

function inGradersWords(figures: AssignmentFigures): Record<string, unknown> {
  const share = (part: number, whole: number) => (whole > 0 ? rounded(part / whole) : null);
  return {
    Q1: figures.statefulSpread,
    Q2: figures.activeSpread,
    Q4b: rounded(figures.loadSpread),
    moved: figures.moved,
    movedx: figures.moved - figures.leastMoved,
    Q7x: figures.statefulMoved - figures.leastStatefulMoved,
    Q5: share(figures.held - figures.moved, figures.held),
    Q8sm: share(figures.statefulHeld - figures.statefulMoved, figures.statefulHeld),
    Q8bp: share(figures.copiesKept, figures.copiesHeld),
    built: figures.copiesBuilt,
    Q9: share(figures.statesReused, figures.statesOnDisk),
    diversity: Object.fromEntries(
      figures.tagDiversity
        .filter(({ diversity }) => diversity !== null)
        .map(({ tag, diversity }) => [tag, rounded(diversity)]),
    ),
  };
}

function measured({ q, diversity }: Grade): Record<string, unknown> {
  const names = ['Q1', 'Q2', 'Q4b', 'moved', 'movedx', 'Q7x', 'Q5', 'Q8sm', 'Q8bp', 'built', 'Q9'];
  return {
    ...Object.fromEntries(names.map((name) => [name, rounded(q[name])])),
    diversity: Object.fromEntries(
      Object.entries(diversity)
        .filter(([, value]) => value !== null)
        .map(([tag, value]) => [tag, rounded(value)]),
    ),
  };
}

/** Sums in another order differ in the last digits. */
function rounded(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value.toFixed(9));
}
