import { expect } from 'chai';
import fc from 'fast-check';
import { MODULE_FAULTS } from '../../machines/model/assignors.ts';
import { findBreach } from '../../workers/check.ts';
import { type ModuleAnswer, readAnswer, writeAnswer } from '../../workers/module-frames.ts';
import { takePlacement } from '../../workers/placement.ts';
import { encodeProblem } from '../../workers/problem.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import { assignmentMember, assignmentProblem } from '../support/assignment.ts';

const buffers = new SharedBuffers();

/** Two tasks with state and one without, on three members of two processes; one standby each. */
const PROBLEM = assignmentProblem({
  numStandbyReplicas: 1,
  subtopologies: [
    { subtopologyId: '0', taskCount: 2, stateful: true },
    { subtopologyId: '1', taskCount: 1, stateful: false },
  ],
  members: ['a', 'b', 'c'].map((memberId) =>
    assignmentMember(memberId, { processId: memberId === 'c' ? 'P2' : 'P1' }),
  ),
});
const TASKS = 3;

describe('takePlacement()', () => {
  it('with the checker behind it takes what is sound, and nothing else (H1 to H5)', () => {
    const { dense } = encodeProblem(PROBLEM, buffers);
    const process = (member: number | undefined) => (member === 2 ? 1 : 0);
    const isMember = (member: number | undefined) => member === 0 || member === 1 || member === 2;
    // The obvious way: everybody is somebody, no process has a task twice, and what has no state has no copy.
    const isSound = (active: readonly number[], standby: readonly number[]) =>
      active.every(isMember) &&
      [0, 1].every((t) => isMember(standby[t]) && process(active[t]) !== process(standby[t])) &&
      standby[2] === -1;
    const three = (number: fc.Arbitrary<number>) =>
      fc.array(number, { minLength: TASKS, maxLength: TASKS });
    const wild = three(fc.constantFrom(-1, 0, 1, 2, 3, -2, 2 ** 31 - 1));
    const members = fc.constantFrom(0, 1, 2);
    const likely = fc.tuple(members, members, fc.constant(-1));
    let sound = 0;
    fc.assert(
      fc.property(
        fc.oneof(fc.tuple(wild, wild), fc.tuple(three(members), likely)),
        ([active, standby]) => {
          const placement = { active: Int32Array.from(active), standby: Int32Array.from(standby) };
          const breach =
            takePlacement(dense, placement) ?? findBreach(dense, { promisesQuotas: false });
          expect(breach === undefined, breach).to.equal(isSound(active, standby));
          if (breach === undefined) sound++;
        },
      ),
      { numRuns: 500 },
    );
    expect(sound).to.be.greaterThan(0);
  });
});

describe('readAnswer()', () => {
  it('reads what was written', () => {
    const ints = fc.int32Array({ minLength: TASKS, maxLength: TASKS });
    const answers: fc.Arbitrary<ModuleAnswer> = fc.oneof(
      fc.constant({ kind: 'ready' as const }),
      fc.record({
        kind: fc.constant('placed' as const),
        placement: fc.record({ active: ints, standby: ints }),
      }),
      fc.record({
        kind: fc.constant('fault' as const),
        fault: fc.constantFrom(...MODULE_FAULTS),
        text: fc.stringMatching(/^[!-~é]{0,20}$/),
      }),
    );
    fc.assert(
      fc.property(answers, (answer) => {
        expect(readAnswer(Buffer.concat(writeAnswer(answer)), TASKS)).to.deep.equal(answer);
      }),
    );
  });

  it('takes any bytes without harm', () => {
    const frames = fc.tuple(fc.nat({ max: 3 }), fc.uint8Array({ maxLength: 40 }));
    fc.assert(
      fc.property(frames, fc.nat({ max: 9 }), ([kind, bytes], tasks) => {
        const answer = readAnswer(Buffer.from([kind, ...bytes]), tasks);
        const kinds = [undefined, 'ready', 'placed', 'fault'];
        expect(kinds).to.include(answer?.kind);
        if (answer?.kind === 'placed') expect(answer.placement.active).to.have.length(tasks);
      }),
      { numRuns: 1_000 },
    );
    expect(readAnswer(Buffer.alloc(0), 0)).to.equal(undefined);
  });
});
