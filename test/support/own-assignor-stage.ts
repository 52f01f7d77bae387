import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssignedRun } from '../../actors/ports.ts';
import { type AssignmentProblem, gatherProblem } from '../../machines/model/assignment.ts';
import type { ModuleFaultName } from '../../machines/model/assignors.ts';
import { AssignorModules, type AssignorModulesOptions } from '../../workers/assignor-modules.ts';
import { AssignorPool } from '../../workers/pool.ts';
import { assignmentMember, assignmentProblem } from './assignment.ts';

/** Long enough for any machine, short enough to fail a test. */
const PATIENCE = { deadlineMs: 15_000 };
const MEGABYTE = 1_024 * 1_024;
/** Twice what a process takes that has done nothing yet. */
const MEMORY_MAX_BYTES = 128 * MEGABYTE;

/** Of a pool and its module. */
type Bounds = Pick<AssignorModulesOptions, 'timeoutMs' | 'turnMs' | 'waitingMax' | 'signal'> & {
  readonly queueMax?: number;
};

/** Two processes, two tasks with a standby each. */
export function ownProblem(groupId: string): AssignmentProblem {
  return assignmentProblem({
    groupId,
    assignor: 'mine',
    numStandbyReplicas: 1,
    subtopologies: [{ subtopologyId: '0', taskCount: 2, stateful: true }],
    members: ['a', 'b'].map((memberId) => assignmentMember(memberId, { processId: memberId })),
  });
}

/** Pools with an assignor of the user's own, all that they start and say; to be closed. */
export class OwnAssignorStage {
  /** What was logged, the text first. */
  readonly said: [string, object][] = [];
  /** Of which modules a process ended while idle, with the fault. */
  readonly idleEnds: (readonly [string, ModuleFaultName])[] = [];
  /** What the pools' clocks show. */
  nowMs = 0;
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #log = {
    warn: (fields: object, text: string) => void this.said.push([text, fields]),
    info: (fields: object, text: string) => void this.said.push([text, fields]),
  };

  /** Opens modules; one that cannot be used makes it fail. */
  async open(
    files: Readonly<Record<string, string>>,
    bounds: Omit<Bounds, 'queueMax'>,
  ): Promise<AssignorModules> {
    const modules = await AssignorModules.open({
      modules: Object.entries(files).map(([name, file]) => ({ name, file })),
      ...bounds,
      memoryMaxBytes: MEMORY_MAX_BYTES,
      log: this.#log,
      onIdleEnd: (assignor, fault) => void this.idleEnds.push([assignor, fault]),
      monotonicMs: () => this.nowMs,
      wallMs: () => this.nowMs,
    });
    this.#closers.push(() => modules.close());
    return modules;
  }

  /** A pool that has this text as `mine`, and assigns {@link ownProblem}. */
  async start(
    folder: string,
    text: string,
    { queueMax = 100, ...bounds }: Bounds = { timeoutMs: 10_000 },
  ): Promise<(groupId: string, overrides?: Partial<AssignmentProblem>) => Promise<AssignedRun>> {
    const file = join(folder, 'mine.mjs');
    await writeFile(file, text);
    const modules = await this.open({ mine: file }, bounds);
    const pool = new AssignorPool({ threads: 1, queueMax, log: this.#log, modules });
    this.#closers.push(() => pool.close());
    return (groupId, overrides) =>
      pool.assign(gatherProblem({ ...ownProblem(groupId), ...overrides }), PATIENCE);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    this.said.length = 0;
    this.idleEnds.length = 0;
    this.nowMs = 0;
  }
}
