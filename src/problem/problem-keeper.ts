import type { AssignedRun, AssignorPort, Clock, Log } from '../../actors/ports.ts';
import type { GroupProblem } from '../../machines/model/assignment.ts';
import type { ModuleFaultName } from '../../machines/model/assignors.ts';
import { AssignorError, type AssignorErrorName } from '../../workers/pool.ts';
import { VERSION } from '../version.ts';
import { groupPieces } from './cell-text.ts';
import type { ProblemFolder } from './problem-folder.ts';

/** Faults of our assignors. The others say what is there to be assigned, or to be used, and no file would tell more. */
const OUR_FAULTS: ReadonlySet<AssignorErrorName> = new Set([
  'broken',
  'failed',
  'deadline',
  'crashed',
]);
/** Faults of assignors that are not ours, by the same measure. */
const THEIR_FAULTS: ReadonlySet<ModuleFaultName> = new Set([
  'threw',
  'timeout',
  'ended',
  'memory',
  'invalid',
  'broken',
]);

type Fault = {
  readonly fault: AssignorErrorName | ModuleFaultName;
  readonly reason: string;
};

/** How a fault is logged when it is new. */
const TOLD = {
  /** The group has no new target. */
  ours: { level: 'error', text: 'Assignment failed' },
  /** The group has one, and whoever runs the module has warned; this says where the problem is. */
  module: { level: 'info', text: 'Problem kept of an assignor module that failed' },
} as const;

/** A group whose runs fail, fails again and again: for so long one file is enough. */
const QUIET_MS = 600_000;
/** Groups whose last file is remembered. */
const REMEMBERED_MAX = 1_000;

/**
 * An assignor that keeps the problems at which it fails: the fault is logged, the problem goes to a file, and the reason
 * that the group's journal gets names the file. So also where one of ours stood in for an assignor of the user's own: the
 * group is well then, and only the file is told of. What was asked for is answered as before, and as soon.
 */
export class ProblemKeeper implements AssignorPort {
  readonly #assignor: AssignorPort;
  readonly #folder: ProblemFolder | undefined;
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly #log: Pick<Log, 'error' | 'info' | 'debug'>;
  /** The newest file by group and fault, oldest entry first. */
  readonly #kept = new Map<string, { readonly atMs: number; readonly file: string | undefined }>();

  /** @param parts.folder undefined: nothing is kept on disk, and faults are only logged. */
  constructor(parts: {
    readonly assignor: AssignorPort;
    readonly folder: ProblemFolder | undefined;
    readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
    readonly log: Pick<Log, 'error' | 'info' | 'debug'>;
  }) {
    this.#assignor = parts.assignor;
    this.#folder = parts.folder;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** As the assignor it stands for; the reasons of its faults name the file, where there is one. */
  async assign(
    problem: GroupProblem,
    options: { readonly deadlineMs: number },
  ): Promise<AssignedRun> {
    try {
      const result = await this.#assignor.assign(problem, options);
      const { standIn } = result;
      if (standIn === undefined || !THEIR_FAULTS.has(standIn.fault)) return result;
      const reason = this.#keep(problem, standIn, 'module');
      return { ...result, standIn: { ...standIn, reason } };
    } catch (error) {
      if (!(error instanceof AssignorError) || !OUR_FAULTS.has(error.error)) throw error;
      const { error: fault, message } = error;
      const reason = this.#keep(problem, { fault, reason: message }, 'ours');
      throw new AssignorError(fault, reason, { cause: error });
    }
  }

  prepare(problem: GroupProblem): void {
    this.#assignor.prepare(problem);
  }

  forget(groupId: string): void {
    this.#assignor.forget(groupId);
  }

  /** @returns the reason to be told. */
  #keep(problem: GroupProblem, { fault, reason }: Fault, of: keyof typeof TOLD): string {
    const { level, text } = TOLD[of];
    const { groupId, assignor } = problem;
    const key = `${fault} ${assignor} ${groupId}`;
    const nowMs = this.#clock.monotonicMs();
    const before = this.#kept.get(key);
    const isQuiet = before !== undefined && nowMs - before.atMs < QUIET_MS;
    const file = isQuiet ? before.file : this.#write(problem, fault, reason);
    const fields = { groupId, assignor, fault, reason, ...(file !== undefined && { file }) };
    if (isQuiet) {
      this.#log.debug(fields, `${text} again`);
    } else {
      if (of === 'ours' || file !== undefined) this.#log[level](fields, text);
      // Where there was no room for a file, the next failure may find some.
      if (file !== undefined || this.#folder === undefined) {
        this.#remember(key, { atMs: nowMs, file });
      }
    }
    if (file === undefined) return reason;
    const told = isQuiet ? 'an earlier problem like it is in' : 'the problem is in';
    return `${reason}; ${told} ${file}`;
  }

  #write(problem: GroupProblem, fault: Fault['fault'], detail: string): string | undefined {
    const { groupId } = problem;
    const atMs = this.#clock.nowMs();
    const dump = {
      at: new Date(atMs).toISOString(),
      why: fault,
      detail,
      by: `headgate ${VERSION}`,
    };
    const pieces = groupPieces(problem, { dump });
    return this.#folder?.keep(`${groupId}-${fault}`, atMs, pieces);
  }

  #remember(key: string, kept: { readonly atMs: number; readonly file: string | undefined }): void {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (this.#kept.size <= REMEMBERED_MAX) return;
    for (const [oldest] of this.#kept) {
      this.#kept.delete(oldest);
      return;
    }
  }
}
