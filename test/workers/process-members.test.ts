import { expect } from 'chai';
import fc from 'fast-check';
import { encodeProblem } from '../../workers/problem.ts';
import { ProcessMembers } from '../../workers/process-members.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import { assignmentMember, assignmentProblem } from '../support/assignment.ts';

describe('ProcessMembers', () => {
  it('finds what a look at all members finds, whoever gets tasks meanwhile', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ process: fc.nat({ max: 2 }), count: fc.nat({ max: 6 }) }), {
          minLength: 1,
          maxLength: 9,
        }),
        fc.array(fc.record({ process: fc.nat({ max: 2 }), other: fc.nat({ max: 8 }) }), {
          maxLength: 40,
        }),
        (members, steps) => {
          const problem = assignmentProblem({
            members: members.map(({ process }, m) =>
              assignmentMember(`m${m}`, { processId: `p${process}` }),
            ),
          });
          const { dense } = encodeProblem(problem, new SharedBuffers());
          dense.count.set(members.map(({ count }) => count));
          const processMembers = new ProcessMembers(dense);
          for (const { process, other } of steps) {
            const own = [...dense.procOf.keys()].filter(
              (m) => dense.procOf[m] === process % dense.size.processes,
            );
            const [least = -1] = own.toSorted(
              (a, b) => (dense.count[a] ?? 0) - (dense.count[b] ?? 0) || a - b,
            );
            const found = processMembers.least(process % dense.size.processes);
            expect(found).to.equal(least);
            dense.count[found] = (dense.count[found] ?? 0) + 1;
            // Others get tasks as well, past this.
            const lucky = other % members.length;
            dense.count[lucky] = (dense.count[lucky] ?? 0) + 1;
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
