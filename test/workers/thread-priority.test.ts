import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect } from 'chai';
import { gatherProblem } from '../../machines/model/assignment.ts';
import { AssignorPool } from '../../workers/pool.ts';
import { THREAD_NICENESS } from '../../workers/thread-priority.ts';
import { assignmentMember, assignmentProblem } from '../support/assignment.ts';

/** How nice each thread of this process is, by its id, as the kernel has it. */
function nicenessOfThreads(): ReadonlyMap<string, number> {
  return new Map(
    readdirSync('/proc/self/task').map((id) => {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
      // The name of a thread stands in brackets and may hold blanks; niceness is the 17th field behind it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [id, Number(fields[16])];
    }),
  );
}

describe('lowerThreadPriority()', () => {
  it('has the thread of a pool stand back, and no other', async function () {
    if (process.platform !== 'linux') this.skip();
    const before = nicenessOfThreads();
    const pool = new AssignorPool({ threads: 1, queueMax: 1, log: { warn: () => {} } });
    try {
      const problem = assignmentProblem({
        subtopologies: [{ subtopologyId: '0', taskCount: 1, stateful: false }],
        members: [assignmentMember('a')],
      });
      await pool.assign(gatherProblem(problem), { deadlineMs: 15_000 });
      const lowered = [...nicenessOfThreads()].filter(
        ([id, nice]) => nice !== (before.get(id) ?? getPriority()),
      );
      expect(lowered.map(([, nice]) => nice)).to.deep.equal([getPriority() + THREAD_NICENESS]);
    } finally {
      await pool.close();
    }
  });
});
