import type { AssignorPort, Clock, Log } from '../../actors/ports.ts';
import {
  type GroupProblem,
  type GroupResult,
  listMembers,
} from '../../machines/model/assignment.ts';
import { AssignorError, type AssignorErrorName } from '../../workers/pool.ts';
import { VERSION } from '../version.ts';
import { type CellAbout, cellPieces } from './cell-text.ts';
import type { ProblemFolder } from './problem-folder.ts';

/** Faults of an assignor. The others say what is there to be assigned, or to be used, and no file would tell more. */
const FAULTS: ReadonlySet<AssignorErrorName> = new Set(['broken', 'failed', 'deadline', 'crashed']);

/** A group whose runs fail, fails again and again: for so long one file is enough. */
const QUIET_MS = 600_000;
/** Groups whose last file is remembered. */
const REMEMBERED_MAX = 1_000;

/**
 * An assignor that keeps the problems at which it fails: the fault is logged, the problem goes to a file, and the reason
 * that the group's journal gets names the file. What was asked for is answered as before, and as soon.
 */
export class ProblemKeeper implements AssignorPort {
  readonly #assignor: AssignorPort;
  readonly #folder: ProblemFolder | undefined;
  readonly #aboutGroup: (groupId: string) => CellAbout;
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly #log: Pick<Log, 'error' | 'debug'>;
  /** The newest file by group and fault, oldest entry first. */
  readonly #kept = new Map<string, { readonly atMs: number; readonly file: string | undefined }>();

  /**
   * @param parts.folder undefined: nothing is kept on disk, and faults are only logged.
   * @param parts.aboutGroup what is known of a group beside the problem.
   */
  constructor(parts: {
    readonly assignor: AssignorPort;
    readonly folder: ProblemFolder | undefined;
    readonly aboutGroup: (groupId: string) => CellAbout;
    readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
    readonly log: Pick<Log, 'error' | 'debug'>;
  }) {
    this.#assignor = parts.assignor;
    this.#folder = parts.folder;
    this.#aboutGroup = parts.aboutGroup;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** As the assignor it stands for; its errors name the file, where there is one. */
  async assign(
    problem: GroupProblem,
    options: { readonly deadlineMs: number },
  ): Promise<GroupResult> {
    try {
      return await this.#assignor.assign(problem, options);
    } catch (error) {
      if (!(error instanceof AssignorError) || !FAULTS.has(error.error)) throw error;
      throw this.#keep(problem, error);
    }
  }

  prepare(problem: GroupProblem): void {
    this.#assignor.prepare(problem);
  }

  /** @returns the error to be told. */
  #keep(problem: GroupProblem, error: AssignorError): AssignorError {
    const { error: fault, message: reason } = error;
    const { groupId, assignor } = problem;
    const key = `${fault} ${groupId}`;
    const nowMs = this.#clock.monotonicMs();
    const before = this.#kept.get(key);
    const isQuiet = before !== undefined && nowMs - before.atMs < QUIET_MS;
    const file = isQuiet ? before.file : this.#write(problem, fault, reason);
    const fields = { groupId, assignor, fault, reason, ...(file !== undefined && { file }) };
    if (isQuiet) {
      this.#log.debug(fields, 'Assignment failed again');
    } else {
      this.#log.error(fields, 'Assignment failed');
      // Where there was no room for a file, the next failure may find some.
      if (file !== undefined || this.#folder === undefined) {
        this.#remember(key, { atMs: nowMs, file });
      }
    }
    if (file === undefined) return error;
    const told = isQuiet ? 'an earlier problem like it is in' : 'the problem is in';
    return new AssignorError(fault, `${reason}; ${told} ${file}`, { cause: error });
  }

  #write(problem: GroupProblem, fault: AssignorErrorName, detail: string): string | undefined {
    const { groupId } = problem;
    const atMs = this.#clock.nowMs();
    const dump = {
      at: new Date(atMs).toISOString(),
      why: fault,
      detail,
      by: `headgate ${VERSION}`,
    };
    const listed = { ...problem, members: listMembers(problem) };
    const pieces = cellPieces(listed, { ...this.#aboutGroup(groupId), dump });
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
