import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { AssignedRun, AssignorPort, Log } from '../actors/ports.ts';
import type { GroupProblem, GroupResult } from '../machines/model/assignment.ts';
import {
  ASSIGNORS,
  type AssignorName,
  assignorByState,
  type StandIn,
} from '../machines/model/assignors.ts';
import type { LookBack } from '../machines/model/look-back.ts';
import type { AssignorModules } from './assignor-modules.ts';
import { EncodedGroups } from './encoded-groups.ts';
import { writeQuestion } from './module-question.ts';
import type { Placement } from './placement.ts';
import { type EncodedProblem, readLookBack, readResult } from './problem.ts';
import { SharedBuffers } from './shared-buffers.ts';
import type { AssignmentJob, AssignmentOutcome } from './thread.ts';
import { threadOptions } from './thread-options.ts';

/**
 * Why a run gave no assignment: `noProcess` there are tasks but no members (assignors 1.3); `broken` the result breaks a
 * hard invariant; `deadline` it took too long, in the queue or on its thread; `crashed` its thread ended under it twice;
 * `failed` it threw; `full` too many runs wait; `closed` the pool was closed.
 */
export type AssignorErrorName =
  | 'noProcess'
  | 'broken'
  | 'deadline'
  | 'crashed'
  | 'failed'
  | 'full'
  | 'closed';

/** What {@link AssignorPool} rejects with. Nothing was changed; the group keeps its target (OFF-6). */
export class AssignorError extends Error {
  override readonly name = 'AssignorError';
  readonly error: AssignorErrorName;
  constructor(error: AssignorErrorName, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.error = error;
  }
}

export type AssignorPoolOptions = {
  /** Threads, all started at once and replaced when they end. */
  readonly threads: number;
  /** Runs that may wait for a thread; one more is refused. As many again for each module. */
  readonly queueMax: number;
  readonly log: Pick<Log, 'warn'>;
  /** Assignors that are not ours; who gives them closes them. */
  readonly modules?: AssignorModules;
  /** The compiled file a thread runs; another one only in tests of what threads can do wrong. */
  readonly threadFile?: URL;
};

/** Unknown names that are warned about, each once; later ones are passed over in silence. */
const WARNED_MAX = 100;

/** What came of a run, and whose it was. */
type RunEnd = {
  readonly outcome: AssignmentOutcome;
  readonly deadlineMs: number;
  /** A user's own assignor placed the tasks. */
  readonly isByModule?: boolean;
};

/**
 * Runs assignors on threads of their own. The event loop only writes the problem down and reads the result.
 *
 * Every run ends by its deadline, wherever it is then: its thread is ended and replaced, and its buffer is never used
 * again. A run whose thread ends without a word is tried once more, within the same deadline.
 *
 * An assignor that is not ours is asked in a process of its own, and its answer checked on a thread like all others. If none
 * comes that may be used, one of ours assigns in its place, and the result says so. Its groups take no room from others: they
 * wait for it elsewhere, and the runs in its place have a bound of their own.
 *
 * Source: coordination OFF-6; assignors 9.3.
 */
export class AssignorPool implements AssignorPort {
  readonly #pool: Piscina<AssignmentJob, AssignmentOutcome>;
  readonly #groups = new EncodedGroups(new SharedBuffers());
  readonly #log: Pick<Log, 'warn'>;
  readonly #modules: AssignorModules | undefined;
  readonly #runsMax: number;
  /** Runs that have a thread or wait for one, by the module in whose place they are; undefined: in nobody's. */
  readonly #runs = new Map<string | undefined, number>();
  readonly #warned = new Set<string>();
  #closed = false;

  constructor(options: AssignorPoolOptions) {
    this.#log = options.log;
    this.#modules = options.modules;
    this.#runsMax = options.queueMax + options.threads;
    const modules = options.modules?.size ?? 0;
    const threadFile = options.threadFile ?? new URL('./thread.js', import.meta.url);
    this.#pool = new Piscina({
      ...threadOptions,
      filename: fileURLToPath(threadFile),
      minThreads: options.threads,
      maxThreads: options.threads,
      // `assign` bounds the queue; here is room for the second try of every run, for a look back on as many, and for the
      // check of what each module answers.
      maxQueue: 2 * this.#runsMax * (1 + modules) + modules,
    });
    // An idle thread that ends is replaced; there is no run to fail.
    this.#pool.on('error', (error: unknown) => {
      this.#log.warn({ error }, 'Assignor thread ended while idle');
    });
  }

  /** Rejects with {@link AssignorError}. `deadlineMs` counts from now and covers waiting for a thread. */
  async assign(
    problem: GroupProblem,
    options: { readonly deadlineMs: number },
  ): Promise<AssignedRun> {
    if (this.#closed) throw new AssignorError('closed', 'Assignment refused: the pool is closed');
    this.#warnOfUnknown(problem.assignor);
    const { deadlineMs } = options;
    if (this.#modules?.has(problem.assignor) && isSomethingToAssign(problem)) {
      return this.#assignByModule(problem, this.#modules, deadlineMs);
    }
    return this.#inBounds(undefined, async () => {
      const encoded = await this.#encode(this.#forOurs(problem));
      const outcome = await this.#run({ buffer: encoded.dense.buffer }, deadlineMs);
      return this.#finish(problem, encoded, { outcome, deadlineMs });
    });
  }

  /**
   * Takes note of a problem whose run is to come, so that it has less to write down then. To be called as often as anything
   * changes; costs what changed.
   */
  prepare(problem: GroupProblem): void {
    if (!this.#closed) this.#groups.prepare(this.#forOurs(problem));
  }

  /** Lets go of what is kept of a group that is no more. */
  forget(groupId: string): void {
    this.#groups.forget(groupId);
  }

  /** Ends all threads. Runs under way and later ones reject with `closed`. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pool.destroy();
  }

  async #encode(
    problem: GroupProblem,
    options?: { readonly withOffsets: boolean },
  ): Promise<EncodedProblem> {
    try {
      return await this.#groups.encode(problem, options);
    } catch (cause) {
      throw new AssignorError('failed', `Assignment failed: ${String(cause)}`, { cause });
    }
  }

  /** The problem as one of our assignors takes it: the one asked for, or the one that stands in for a module. */
  #forOurs(problem: GroupProblem): GroupProblem {
    return this.#modules?.has(problem.assignor) === true
      ? { ...problem, assignor: standInFor(problem) }
      : problem;
  }

  /** Has the module fill in the result, else the one of ours that stands in for it, in a time of its own. */
  async #assignByModule(
    problem: GroupProblem,
    modules: AssignorModules,
    deadlineMs: number,
  ): Promise<AssignedRun> {
    // Written down when somebody is to read it: a group that waits for its turn takes no memory.
    let written: Promise<EncodedProblem> | undefined;
    const encode = () => {
      written ??= this.#encode(this.#forOurs(problem), { withOffsets: true });
      return written;
    };
    const fault = await modules.propose(problem.assignor, {
      groupId: problem.groupId,
      request: async () => {
        const encoded = await encode();
        const { tasks, slots } = encoded.dense.size;
        return { question: writeQuestion(problem, encoded), tasks, slots };
      },
      check: async (placement) => {
        const { buffer } = (await encode()).dense;
        return this.#check({ buffer, placement }, deadlineMs);
      },
    });
    if (fault === undefined) {
      const outcome: AssignmentOutcome = { status: 'assigned' };
      return this.#finish(problem, await encode(), { outcome, deadlineMs, isByModule: true });
    }
    return this.#inBounds(problem.assignor, async () => {
      const encoded = await encode();
      const outcome = await this.#run({ buffer: encoded.dense.buffer }, deadlineMs);
      const standIn: StandIn = {
        assignor: standInFor(problem),
        insteadOf: problem.assignor,
        fault: fault.fault,
        reason: fault.message,
      };
      return { ...this.#finish(problem, encoded, { outcome, deadlineMs }), standIn };
    });
  }

  /** Does what takes a thread, unless too many runs do already in the place of the same module. */
  async #inBounds<T>(module: string | undefined, work: () => Promise<T>): Promise<T> {
    const others = this.#runs.get(module) ?? 0;
    if (others >= this.#runsMax) {
      throw new AssignorError(
        'full',
        `Assignment refused: ${others} runs are under way, wanted fewer than ${this.#runsMax}`,
      );
    }
    this.#runs.set(module, others + 1);
    try {
      return await work();
    } finally {
      this.#runs.set(module, (this.#runs.get(module) ?? 0) - 1);
    }
  }

  /** The result out of a buffer that is filled in; later its look back. */
  #finish(problem: GroupProblem, encoded: EncodedProblem, run: RunEnd): AssignedRun {
    const result = this.#read(problem, encoded, run.outcome);
    const standIn = standInForMissing(problem);
    // Whoever waits for the result has the event loop first.
    const lookBack = setImmediate().then(() => this.#lookBack(encoded, run));
    return { ...result, lookBack, ...(standIn !== undefined && { standIn }) };
  }

  /** @returns what is wrong with a placement; undefined: it is the result now. */
  async #check(
    job: AssignmentJob & { readonly placement: Placement },
    deadlineMs: number,
  ): Promise<string | undefined> {
    const outcome = await this.#run(job, deadlineMs);
    return outcome.status === 'broken' ? outcome.breach : undefined;
  }

  async #run(job: AssignmentJob, deadlineMs: number): Promise<AssignmentOutcome> {
    const signal = new EventEmitter();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      signal.emit('abort');
    }, deadlineMs);
    try {
      return await this.#pool.run(job, { signal }).catch((error: unknown) => {
        if (!isThreadEnd(error) || this.#closed || isLate) throw error;
        this.#log.warn({ error }, 'Assignor thread ended under a run; trying it once more');
        return this.#pool.run(job, { signal });
      });
    } catch (cause) {
      throw this.#explain(cause, isLate, deadlineMs);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Never rejects: a target without reasons is still a target. Then the buffer is free. */
  async #lookBack(
    encoded: EncodedProblem,
    { deadlineMs, isByModule = false }: RunEnd,
  ): Promise<LookBack | undefined> {
    if (this.#closed) return undefined;
    try {
      await this.#run({ buffer: encoded.dense.buffer, looksBack: true }, deadlineMs);
      const found = readLookBack(encoded, isByModule);
      encoded.release();
      return found;
    } catch (error) {
      if (!this.#closed) this.#log.warn({ error }, 'Cannot say why tasks move');
      return undefined;
    }
  }

  #explain(cause: unknown, isLate: boolean, deadlineMs: number): AssignorError {
    if (this.#closed) return new AssignorError('closed', 'Assignment given up: the pool is closed');
    if (isLate) {
      return new AssignorError('deadline', `Assignment given up: no result after ${deadlineMs} ms`);
    }
    if (isThreadEnd(cause)) {
      return new AssignorError('crashed', 'Assignment failed: its thread ended twice', { cause });
    }
    return new AssignorError('failed', `Assignment failed: ${String(cause)}`, { cause });
  }

  #read(problem: GroupProblem, encoded: EncodedProblem, outcome: AssignmentOutcome): GroupResult {
    // The thread has answered, so nobody else touches the buffer. Of a result it is looked back on first; what broke a
    // rule may have broken the problem, too, and goes.
    if (outcome.status === 'noProcess') encoded.release();
    if (outcome.status === 'noProcess') {
      throw new AssignorError(
        'noProcess',
        `Cannot assign the tasks of group "${problem.groupId}": no process is available`,
      );
    }
    if (outcome.status === 'broken') {
      throw new AssignorError(
        'broken',
        `Assignment of group "${problem.groupId}" refused: ${outcome.breach}`,
      );
    }
    const { size } = encoded.dense;
    if (size.slots < size.replicas && problem.subtopologies.some(({ stateful }) => stateful)) {
      this.#log.warn(
        { groupId: problem.groupId, replicas: size.replicas, processes: size.processes },
        'Too few processes for the standby replicas asked for',
      );
    }
    return { ...readResult(encoded), threadMs: outcome.threadMs };
  }

  #warnOfUnknown(assignor: string): void {
    const isKnown =
      (ASSIGNORS as readonly string[]).includes(assignor) || this.#modules?.has(assignor);
    if (isKnown || this.#warned.has(assignor)) return;
    if (this.#warned.size === WARNED_MAX) return;
    this.#warned.add(assignor);
    this.#log.warn({ assignor, used: ASSIGNORS[0] }, 'Unknown assignor');
  }
}

function isSomethingToAssign({ members, subtopologies }: GroupProblem): boolean {
  return members.size > 0 && subtopologies.some(({ taskCount }) => taskCount > 0);
}

/** The assignor that would be used if nobody had selected one. */
function standInFor({ placeAsKafka, subtopologies }: GroupProblem): AssignorName {
  if (placeAsKafka === true) return ASSIGNORS[0];
  return assignorByState(subtopologies.some(({ stateful }) => stateful));
}

/** The assignor asked for stands in for one that the group selects and nobody has here. */
function standInForMissing({ assignor, assignorMissing }: GroupProblem): StandIn | undefined {
  if (assignorMissing === undefined) return undefined;
  const reason = 'it is not among the assignors that this coordinator was started with';
  return { assignor, insteadOf: assignorMissing, fault: 'missing', reason };
}

/** How Piscina says that a thread is gone without having thrown. */
function isThreadEnd(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('worker exited with code');
}
