import { expect } from 'chai';
import type { AssignmentProblem } from '../../machines/model/assignment.ts';
import { ASSIGNORS } from '../../machines/model/assignors.ts';
import { encodeProblem, listResult, readResult } from '../../workers/problem.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import runAssignment from '../../workers/thread.ts';
import { assignDirectly } from '../support/assignment.ts';
import { forEachState } from '../support/assignment-scenario.ts';
import { seeds } from '../support/seeds.ts';

/** Assigns in a buffer of which every byte had this value before the problem was written into it. */
function assignIn(problem: AssignmentProblem, byte: number) {
  const buffers = new SharedBuffers();
  const { buffer } = encodeProblem(problem, buffers).dense;
  new Uint8Array(buffer).fill(byte);
  buffers.give(buffer);
  const encoded = encodeProblem(problem, buffers);
  expect(encoded.dense.buffer).to.equal(buffer);
  expect(runAssignment({ buffer }).status).to.equal('assigned');
  return listResult(problem, readResult(encoded));
}

describe('a buffer with anything in it', () => {
  for (const assignor of ASSIGNORS) {
    for (const placeAsKafka of assignor === 'sticky' ? [false, true] : [false]) {
      it(`does not matter to ${assignor}${placeAsKafka ? ' as Kafka places' : ''} (P8)`, () => {
        for (const seed of seeds(15)) {
          forEachState(seed, 'small', (scenario) => {
            const { members, topologyEpoch } = scenario.problem;
            const problem = {
              ...scenario.problem,
              assignor,
              placeAsKafka,
              // Kafka's own placement knows no stale members.
              members: placeAsKafka ? members.map((m) => ({ ...m, topologyEpoch })) : members,
            };
            const result = assignDirectly(problem);
            for (const byte of [0, 1, 255]) {
              expect(assignIn(problem, byte), `seed ${seed}`).to.deep.equal(result);
            }
            return result;
          });
        }
      });
    }
  }
});
