import { expect } from 'chai';
import { gatherProblem } from '../../machines/model/assignment.ts';
import { AssignorError, AssignorPool } from '../../workers/pool.ts';
import {
  assign,
  assignDirectly,
  assignmentMember,
  assignmentProblem,
} from '../support/assignment.ts';
import { AssignmentScenario } from '../support/assignment-scenario.ts';
import { FAULT } from '../support/faulty-thread.ts';

/** Long enough for any machine, short enough to fail a test. */
const PATIENCE = { deadlineMs: 15_000 };

describe('AssignorPool', () => {
  const pools: AssignorPool[] = [];
  const warnings: string[] = [];
  const log = { warn: (_fields: object, text: string) => void warnings.push(text) };

  function start(
    options: { threads?: number; queueMax?: number; faulty?: boolean } = {},
  ): AssignorPool {
    const pool = new AssignorPool({
      threads: options.threads ?? 1,
      queueMax: options.queueMax ?? 10,
      log,
      ...(options.faulty && {
        threadFile: new URL('../support/faulty-thread.js', import.meta.url),
      }),
    });
    pools.push(pool);
    return pool;
  }

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
    warnings.length = 0;
  });

  it('gives what a direct run gives, many at a time, on buffers used before (P8)', async () => {
    const pool = start({ threads: 2, queueMax: 100 });
    const problems = Array.from({ length: 50 }, (_, seed) => {
      const scenario = new AssignmentScenario(seed, 'small');
      scenario.settle(assignDirectly(scenario.problem));
      scenario.change();
      return scenario.problem;
    });
    const expected = problems.map((problem) => assignDirectly(problem));
    for (let round = 0; round < 3; round++) {
      const results = await Promise.all(problems.map((problem) => assign(pool, problem, PATIENCE)));
      expect(results).to.deep.equal(expected);
    }
  });

  it('rejects tasks without members as noProcess', async () => {
    const pool = start();
    const problem = { ...taskProblem(1), members: [] };
    expect(await errorOf(assign(pool, problem, PATIENCE))).to.equal('noProcess');
  });

  it('gives up at the deadline, ends the thread and goes on with another (OFF-6)', async () => {
    const pool = start({ faulty: true });
    expect(await errorOf(assign(pool, taskProblem(FAULT.hang), { deadlineMs: 100 }))).to.equal(
      'deadline',
    );
    expect(await assign(pool, taskProblem(2), PATIENCE)).to.deep.equal(
      assignDirectly(taskProblem(2)),
    );
  });

  it('gives up a run that waits behind another until its deadline', async () => {
    const pool = start({ faulty: true });
    const hanging = errorOf(assign(pool, taskProblem(FAULT.hang), { deadlineMs: 400 }));
    const waiting = errorOf(assign(pool, taskProblem(2), { deadlineMs: 50 }));
    expect(await waiting).to.equal('deadline');
    expect(await hanging).to.equal('deadline');
    expect(await assign(pool, taskProblem(2), PATIENCE)).to.deep.equal(
      assignDirectly(taskProblem(2)),
    );
  });

  it('tries a run once more when its thread ends under it, and no oftener', async () => {
    const pool = start({ faulty: true });
    const once = taskProblem(FAULT.exitOnce);
    expect(await assign(pool, once, PATIENCE)).to.deep.equal(assignDirectly(once));
    expect(await errorOf(assign(pool, taskProblem(FAULT.exit), PATIENCE))).to.equal('crashed');
    expect(await assign(pool, taskProblem(2), PATIENCE)).to.deep.equal(
      assignDirectly(taskProblem(2)),
    );
    expect(warnings).to.deep.equal(
      Array(2).fill('Assignor thread ended under a run; trying it once more'),
    );
  });

  it('does not repeat a run that threw', async () => {
    const pool = start({ faulty: true });
    expect(await errorOf(assign(pool, taskProblem(FAULT.throw), PATIENCE))).to.equal('failed');
    expect(warnings).to.deep.equal([]);
  });

  it('hands out nothing that breaks an invariant (ASG-11)', async () => {
    const pool = start({ faulty: true });
    expect(await errorOf(assign(pool, taskProblem(FAULT.break), PATIENCE))).to.equal('broken');
  });

  it('refuses a run when too many wait', async () => {
    const pool = start({ faulty: true, queueMax: 1 });
    const running = errorOf(assign(pool, taskProblem(FAULT.hang), { deadlineMs: 200 }));
    const waiting = assign(pool, taskProblem(2), PATIENCE);
    expect(await errorOf(assign(pool, taskProblem(2), PATIENCE))).to.equal('full');
    expect(await running).to.equal('deadline');
    expect(await waiting).to.deep.equal(assignDirectly(taskProblem(2)));
  });

  it('ends runs under way when it is closed, and refuses new ones', async () => {
    const pool = start({ faulty: true });
    const running = errorOf(assign(pool, taskProblem(FAULT.hang), PATIENCE));
    const waiting = errorOf(assign(pool, taskProblem(2), PATIENCE));
    await pool.close();
    expect(await running).to.equal('closed');
    expect(await waiting).to.equal('closed');
    expect(await errorOf(assign(pool, taskProblem(2), PATIENCE))).to.equal('closed');
  });

  it('looks back on a run after its result, and says nothing once it is closed', async () => {
    const pool = start();
    const { lookBack } = await pool.assign(gatherProblem(taskProblem(2)), PATIENCE);
    expect((await lookBack)?.figures).to.deep.include({ tasks: 2, sharers: 1, moved: 0 });
    const late = await pool.assign(gatherProblem(taskProblem(2)), PATIENCE);
    await pool.close();
    expect(await late.lookBack).to.equal(undefined);
    expect(warnings).to.deep.equal([]);
  });

  it('uses sticky for a name it does not know, and says so once', async () => {
    const pool = start();
    const problem = { ...taskProblem(2), assignor: 'unheard_of' };
    for (let run = 0; run < 2; run++) {
      expect(await assign(pool, problem, PATIENCE)).to.deep.equal(assignDirectly(taskProblem(2)));
    }
    expect(warnings).to.deep.equal(['Unknown assignor']);
  });

  it('says once per run that there are too few processes for the standbys (assignors 7)', async () => {
    const pool = start();
    await assign(pool, { ...taskProblem(3), numStandbyReplicas: 1 }, PATIENCE);
    expect(warnings).to.deep.equal(['Too few processes for the standby replicas asked for']);
  });
});

/** One member and this many stateful tasks. */
function taskProblem(taskCount: number) {
  return assignmentProblem({
    subtopologies: [{ subtopologyId: '0', taskCount, stateful: true }],
    members: [assignmentMember('a')],
  });
}

/** What the run is rejected with. */
async function errorOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (error instanceof AssignorError) return error.error;
    throw error;
  }
  return 'nothing';
}
