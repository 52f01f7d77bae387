import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { gatherProblem } from '../../machines/model/assignment.ts';
import type { ModuleFaultName, StandIn } from '../../machines/model/assignors.ts';
import { newGroup } from '../../machines/model/empty.ts';
import { PersistentMap } from '../../machines/model/persistent-map.ts';
import { problemOfCell } from '../../src/problem/cell.ts';
import { ProblemFolder } from '../../src/problem/problem-folder.ts';
import { ProblemKeeper } from '../../src/problem/problem-keeper.ts';
import { parseCell } from '../../src/problem/read-cell.ts';
import { AssignorPool } from '../../workers/pool.ts';
import {
  assign,
  assignDirectly,
  assignmentMember,
  assignmentProblem,
  tasks,
} from '../support/assignment.ts';
import { FAULT } from '../support/faulty-thread.ts';
import { KeptLog } from '../support/kept-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const PATIENCE = { deadlineMs: 15_000 };

/** A group of two members at which the faulty thread does something wrong. */
function faultyProblem(taskCount: number, groupId = 'orders') {
  return assignmentProblem({
    groupId,
    assignor: 'highly_available',
    subtopologies: [{ subtopologyId: '0', taskCount, stateful: true }],
    members: [
      assignmentMember('a', { active: tasks({ '0': [0, 1] }) }),
      assignmentMember('b', { processId: 'P2' }),
    ],
  });
}

describe('ProblemKeeper', () => {
  let pool: AssignorPool;
  let log: KeptLog;
  let clock: ManualClock;

  before(() => {
    const threadFile = new URL('../support/faulty-thread.js', import.meta.url);
    pool = new AssignorPool({ threads: 1, queueMax: 10, log: { warn() {} }, threadFile });
  });

  after(() => pool.close());

  beforeEach(() => {
    log = new KeptLog();
    clock = new ManualClock();
  });

  const keeper = (folder: ProblemFolder | undefined) =>
    new ProblemKeeper({ assignor: pool, folder, clock, log });

  const inFolder = (work: (folder: string, problems: ProblemFolder) => Promise<void>) =>
    inTemporaryFolder(async (parent) => {
      const folder = join(parent, 'problems');
      await work(folder, new ProblemFolder({ folder, log }));
    });

  it('keeps a problem whose result was broken, logs rule and file, and tells both to the journal', () =>
    inFolder(async (folder, problems) => {
      const problem = faultyProblem(FAULT.break);
      const asked = {
        ...gatherProblem(problem),
        group: { ...newGroup('orders'), groupEpoch: 7, assignmentEpoch: 6 },
        targets: PersistentMap.from([
          ['b', { active: tasks({ '0': [0] }), standby: [], warmup: [] }],
        ]),
      };
      const thrown = await rejectionOf(keeper(problems).assign(asked, PATIENCE));
      const reason = 'Assignment of group "orders" refused: H1: on purpose';
      const [name = ''] = await problems.idle().then(() => readdir(folder));
      const file = join(folder, name);
      expect(thrown).to.include({
        error: 'broken',
        message: `${reason}; the problem is in ${file}`,
      });
      expect(log.told).to.deep.equal([
        {
          level: 'error',
          fields: {
            groupId: 'orders',
            assignor: 'highly_available',
            fault: 'broken',
            reason,
            file,
          },
          text: 'Assignment failed',
        },
      ]);
      const cell = parseCell(await readFile(file, 'utf8'));
      expect(cell.group).to.deep.equal({
        id: 'orders',
        epoch: 7,
        assignmentEpoch: 6,
        topologyEpoch: 1,
      });
      expect(cell.members.map(({ target }) => target)).to.deep.equal([
        undefined,
        { active: { '0': [0] } },
      ]);
      expect(cell.dump).to.include({
        why: 'broken',
        detail: reason,
        at: new Date(clock.nowMs()).toISOString(),
      });
    }));

  for (const [fault, taskCount, deadlineMs] of [
    ['failed', FAULT.throw, 15_000],
    ['crashed', FAULT.exit, 15_000],
    ['deadline', FAULT.hang, 100],
  ] as const) {
    it(`keeps a problem that can be replayed: ${fault}`, () =>
      inFolder(async (folder, problems) => {
        const problem = faultyProblem(taskCount);
        const run = assign(keeper(problems), problem, { deadlineMs });
        expect(await rejectionOf(run)).to.include({ error: fault });
        await problems.idle();
        const [name = ''] = await readdir(folder);
        expect(name).to.match(new RegExp(`-orders-${fault}\\.json$`));
        const again = problemOfCell(parseCell(await readFile(join(folder, name), 'utf8')));
        expect(assignDirectly(again)).to.deep.equal(assignDirectly(problem));
      }));
  }

  it('keeps nothing where nothing is wrong with the assignor', () =>
    inFolder(async (folder, problems) => {
      const nobody = { ...faultyProblem(2), members: [] };
      expect(await rejectionOf(assign(keeper(problems), nobody, PATIENCE))).to.include({
        error: 'noProcess',
        message: 'Cannot assign the tasks of group "orders": no process is available',
      });
      const problem = faultyProblem(2);
      expect(await assign(keeper(problems), problem, PATIENCE)).to.deep.equal(
        assignDirectly(problem),
      );
      await problems.idle();
      expect(await readdir(join(folder, '..'))).to.deep.equal([]);
      expect(log.lines).to.deep.equal([]);
    }));

  it('keeps one problem of a group and fault in ten minutes, and names that one again', () =>
    inFolder(async (folder, problems) => {
      const kept = keeper(problems);
      const messageOf = async (groupId: string) => {
        const thrown = await rejectionOf(
          assign(kept, faultyProblem(FAULT.break, groupId), PATIENCE),
        );
        await problems.idle();
        return thrown instanceof Error ? thrown.message.replace(`${folder}/`, '') : '';
      };
      const first = await messageOf('a');
      expect(first).to.match(/; the problem is in .*-1-a-broken\.json$/);
      expect(await messageOf('a')).to.equal(
        first.replace('the problem is', 'an earlier problem like it is'),
      );
      expect(await messageOf('b')).to.match(/; the problem is in .*-2-b-broken\.json$/);
      await clock.pass(600_000);
      expect(await messageOf('a')).to.match(/; the problem is in .*-3-a-broken\.json$/);
      expect(log.lines.map(({ level, text }) => [level, text])).to.deep.equal([
        ['error', 'Assignment failed'],
        ['debug', 'Assignment failed again'],
        ['error', 'Assignment failed'],
        ['error', 'Assignment failed'],
      ]);
    }));

  it('only logs where there is no folder, or no room', async () => {
    const message = 'Assignment of group "orders" refused: H1: on purpose';
    const problem = faultyProblem(FAULT.break);
    expect(await rejectionOf(assign(keeper(undefined), problem, PATIENCE))).to.include({ message });
    const full = new ProblemFolder({ folder: '', log, bounds: { waitingMax: 0 } });
    expect(await rejectionOf(assign(keeper(full), problem, PATIENCE))).to.include({ message });
    expect(log.texts('error')).to.deep.equal(['Assignment failed', 'Assignment failed']);
  });

  it("keeps what an assignor of the user's own failed at, and passes the result on", () =>
    inFolder(async (folder, problems) => {
      const problem = { ...faultyProblem(2), assignor: 'own' };
      const standIn = (fault: ModuleFaultName): StandIn => ({
        assignor: 'sticky',
        insteadOf: 'own',
        fault,
        reason: 'Why',
      });
      const result = await pool.assign(gatherProblem(faultyProblem(2)), PATIENCE);
      const asked = async (fault: ModuleFaultName) => {
        const assignor = {
          assign: async () => ({ ...result, standIn: standIn(fault) }),
          prepare() {},
          forget() {},
        };
        const kept = new ProblemKeeper({
          assignor,
          folder: problems,
          clock,
          log,
        });
        return kept.assign(gatherProblem(problem), PATIENCE);
      };
      for (const fault of ['busy', 'resting', 'load'] as const) {
        expect((await asked(fault)).standIn).to.deep.equal(standIn(fault));
      }
      const { standIn: told, ...rest } = await asked('invalid');
      await problems.idle();
      const file = join(folder, (await readdir(folder))[0] ?? '');
      expect(told).to.deep.equal({
        ...standIn('invalid'),
        reason: `Why; the problem is in ${file}`,
      });
      expect(Object.entries(rest)).to.deep.equal(Object.entries(result));
      const fields = { groupId: 'orders', assignor: 'own', fault: 'invalid', reason: 'Why', file };
      expect(log.lines).to.deep.equal([
        { level: 'info', fields, text: 'Problem kept of an assignor module that failed' },
      ]);
      expect(parseCell(await readFile(file, 'utf8'))).to.include({ assignor: 'own' });
    }));
});
