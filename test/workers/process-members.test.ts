import { expect } from 'chai';
import fc from 'fast-check';
import type { Dense } from '../../workers/dense.ts';
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

  it('deals tasks as if the member with the fewest were asked for before each', () => {
    const member = fc.record({ process: fc.nat({ max: 2 }), count: fc.nat({ max: 6 }) });
    const deal = fc.record({ process: fc.nat({ max: 2 }), times: fc.nat({ max: 12 }) });
    const someMembers = fc.array(member, { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(someMembers, fc.array(deal, { maxLength: 8 }), (members, deals) => {
        const problem = assignmentProblem({
          members: members.map(({ process }, m) =>
            assignmentMember(`m${m}`, { processId: `p${process}` }),
          ),
        });
        const [dealt, asked] = [0, 0].map(() => {
          const { dense } = encodeProblem(problem, new SharedBuffers());
          dense.count.set(members.map(({ count }) => count));
          return { dense, members: new ProcessMembers(dense) };
        }) as [Side, Side];
        for (const { process: any, times } of deals) {
          const process = any % dealt.dense.size.processes;
          // Every second one of the tasks 0, 10, 20, …
          const list = Int32Array.from({ length: 2 * times }, (_, i) => 5 * i);
          const memberOf = new Int32Array(10 * times + 1).fill(-1);
          dealt.members.deal(process, { list, from: 0, step: 2, to: list.length }, memberOf);
          for (let i = 0; i < times; i++) {
            const least = asked.members.least(process);
            asked.dense.count[least] = (asked.dense.count[least] ?? 0) + 1;
            expect(memberOf[10 * i]).to.equal(least);
          }
          expect(memberOf.filter((each) => each !== -1)).to.have.length(times);
          expect([...dealt.dense.count]).to.deep.equal([...asked.dense.count]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

type Side = { readonly dense: Dense; readonly members: ProcessMembers };
