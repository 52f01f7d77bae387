import { statSync } from 'node:fs';
import type { Log } from '../actors/ports.ts';
import type { ModuleFaultName } from '../machines/model/assignors.ts';
import { ModuleConduct, ModuleFault } from './module-conduct.ts';
import { ModuleProcess, type ModuleRequest } from './module-process.ts';
import type { Placement } from './placement.ts';

/** Assignors of the user's own, and their bounds. */
export type AssignorModulesOptions = {
  readonly modules: readonly { readonly name: string; readonly file: string }[];
  /** For one assignment. */
  readonly timeoutMs: number;
  /** So long a group waits for its turn; `timeoutMs` when left out. */
  readonly turnMs?: number;
  /** So many groups wait for their turn with one module; 1,000 when left out. */
  readonly waitingMax?: number;
  readonly memoryMaxBytes: number;
  /** Aborted while modules load, it ends that; afterwards it means nothing. */
  readonly signal?: AbortSignal | undefined;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Told of each process of a module that ends by itself while nothing is asked of it. */
  readonly onIdleEnd?: (assignor: string, fault: ModuleFaultName) => void;
  /** A clock that never runs backwards, ms. */
  readonly monotonicMs?: () => number;
  /** The clock on the wall, ms since 1970: by it people are told until when a module rests. */
  readonly wallMs?: () => number;
};

/** What a module is asked for. */
export type Proposal = {
  readonly groupId: string;
  /** Called when its turn has come. What it throws is thrown on, and is no fault of the module. */
  readonly request: () => Promise<ModuleRequest>;
  /** Says what is wrong with a placement. What it throws is thrown on, and is no fault of the module. */
  readonly check: (placement: Placement) => Promise<string | undefined>;
};

/** A module that cannot be used, found at the start. Its message is one line for each. */
export class AssignorModuleError extends Error {
  override readonly name = 'AssignorModuleError';
}

/** Groups that wait for their turn with one module, where nothing else is said. */
const WAITING_MAX = 1_000;
/** Groups with which a module has failed that are remembered; of more, those that were heard of the longest ago are not. */
const GROUPS_MAX = 1_000;
/** So long after a warning that a process of a module ended between two questions there is no other; the next one counts them. */
const IDLE_ENDS_QUIET_MS = 60_000;

/**
 * The assignors of the user's own. Each runs in a process of its own and answers one group after the other, so whatever one of
 * them does costs the groups that selected it a bounded time, and nobody else anything. What it answers is a proposal: whether
 * it counts is for the caller's check to say. After any fault its process is ended; the next question starts another.
 *
 * A process that ends by itself between two questions fails nobody: it is told of, and the next question starts another.
 *
 * A module that fails three times in a row with a group rests ({@link ModuleConduct}) for that group alone, since others may
 * well give it no trouble; one that cannot be loaded rests for all.
 */
export class AssignorModules {
  readonly #modules: ReadonlyMap<string, OwnAssignor>;

  private constructor(options: AssignorModulesOptions) {
    this.#modules = new Map(
      options.modules.map(({ name, file }) => [name, new OwnAssignor(name, file, options)]),
    );
  }

  /**
   * Starts all processes and loads the modules, all at the same time; one that is not loaded within 20 s cannot be used.
   *
   * @throws {@link AssignorModuleError} naming every module that cannot be used, or the signal's reason; nothing is left
   *   running then.
   */
  static async open(options: AssignorModulesOptions): Promise<AssignorModules> {
    const { signal } = options;
    signal?.throwIfAborted();
    const opened = new AssignorModules(options);
    const giveUp = () => void opened.close();
    signal?.addEventListener('abort', giveUp);
    const faults = await Promise.all([...opened.#modules.values()].map((own) => own.load()));
    signal?.removeEventListener('abort', giveUp);
    const told = faults.filter((fault) => fault !== undefined);
    if (told.length === 0 && signal?.aborted !== true) return opened;
    await opened.close();
    signal?.throwIfAborted();
    throw new AssignorModuleError(told.join('\n'));
  }

  get size(): number {
    return this.#modules.size;
  }

  has(name: string): boolean {
    return this.#modules.has(name);
  }

  /**
   * Asks a module for an assignment.
   *
   * @returns undefined when the check found nothing wrong; else why there is no assignment.
   */
  async propose(name: string, proposal: Proposal): Promise<ModuleFault | undefined> {
    const own = this.#modules.get(name);
    if (own === undefined) throw new Error(`Cannot ask assignor module: "${name}" is none`);
    return own.propose(proposal);
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    await Promise.all([...this.#modules.values()].map((own) => own.close()));
  }
}

/** A group without an assignment of its own assignor. */
type Trouble = {
  readonly conduct: ModuleConduct;
  /** What was warned about last. */
  told: ModuleFaultName | undefined;
};

/** One module: its process, who waits for it, and how it has behaved. */
class OwnAssignor {
  readonly #name: string;
  readonly #file: string;
  readonly #process: ModuleProcess;
  readonly #turnMs: number;
  readonly #waitingMax: number;
  readonly #log: AssignorModulesOptions['log'];
  readonly #monotonicMs: () => number;
  readonly #wallMs: () => number;
  readonly #waiting: ((isTurn: boolean) => void)[] = [];
  /** Groups with which it has failed since it last assigned for them; the one heard of last comes last. */
  readonly #trouble = new Map<string, Trouble>();
  readonly #loading = new ModuleConduct();
  readonly #onIdleEnd: NonNullable<AssignorModulesOptions['onIdleEnd']>;
  #isAsked = false;
  #idleEndsUntold = 0;
  #idleEndsToldAtMs = Number.NEGATIVE_INFINITY;

  constructor(name: string, file: string, options: AssignorModulesOptions) {
    const { timeoutMs, memoryMaxBytes, log } = options;
    this.#name = name;
    this.#file = file;
    this.#process = new ModuleProcess({
      file,
      timeoutMs,
      memoryMaxBytes,
      onIdleEnd: (fault) => this.#endedIdle(fault),
    });
    this.#onIdleEnd = options.onIdleEnd ?? (() => {});
    this.#turnMs = options.turnMs ?? timeoutMs;
    this.#waitingMax = options.waitingMax ?? WAITING_MAX;
    this.#log = log;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.#wallMs = options.wallMs ?? Date.now;
  }

  /** @returns why it cannot be used, in a line; undefined when it can. */
  async load(): Promise<string | undefined> {
    try {
      const found = statSync(this.#file, { throwIfNoEntry: false });
      if (found === undefined) throw new ModuleFault('load', 'There is no such file');
      await this.#process.load();
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return `Cannot use assignor module "${this.#name}" (${this.#file}): ${reason}`;
    }
  }

  async propose(proposal: Proposal): Promise<ModuleFault | undefined> {
    const { groupId } = proposal;
    const fault = await this.#proposeInTurn(proposal);
    if (fault === undefined) this.#tellOfGood(groupId);
    else this.#tellOf(fault, groupId);
    return fault;
  }

  async #proposeInTurn(proposal: Proposal): Promise<ModuleFault | undefined> {
    const { groupId, request, check } = proposal;
    const refused = this.#restOf(groupId);
    if (refused !== undefined) return refused;
    if (this.#waiting.length >= this.#waitingMax) {
      return new ModuleFault('busy', `As many as ${this.#waitingMax} groups wait for it already`);
    }
    if (!(await this.#turn())) {
      return new ModuleFault('busy', `It had no turn within ${this.#turnMs} ms`);
    }
    try {
      const resting = this.#restOf(groupId);
      if (resting !== undefined) return resting;
      const fault = await this.#ask(await request(), check);
      if (fault?.fault !== 'load') this.#loading.succeeded();
      if (fault !== undefined) await this.#settle(fault, groupId);
      return fault;
    } finally {
      this.#endTurn();
    }
  }

  async close(): Promise<void> {
    for (const go of this.#waiting.splice(0)) go(false);
    await this.#process.close();
  }

  async #ask(request: ModuleRequest, check: Proposal['check']): Promise<ModuleFault | undefined> {
    let placement: Placement;
    try {
      placement = await this.#process.ask(request);
    } catch (error) {
      return error instanceof ModuleFault ? error : new ModuleFault('ended', String(error));
    }
    const breach = await check(placement);
    return breach === undefined ? undefined : new ModuleFault('broken', breach);
  }

  async #settle(fault: ModuleFault, groupId: string): Promise<void> {
    // Nobody knows what state it is in; the next group meets a new one.
    await this.#process.end();
    const conduct = fault.fault === 'load' ? this.#loading : this.#troubleOf(groupId).conduct;
    conduct.failed(fault, this.#monotonicMs());
  }

  #restOf(groupId: string): ModuleFault | undefined {
    const now = { monotonicMs: this.#monotonicMs(), wallMs: this.#wallMs() };
    return this.#loading.restAt(now) ?? this.#trouble.get(groupId)?.conduct.restAt(now);
  }

  #troubleOf(groupId: string): Trouble {
    const trouble = this.#trouble.get(groupId) ?? { conduct: new ModuleConduct(), told: undefined };
    this.#trouble.delete(groupId);
    this.#trouble.set(groupId, trouble);
    const [oldest] = this.#trouble.keys();
    if (this.#trouble.size > GROUPS_MAX && oldest !== undefined) this.#trouble.delete(oldest);
    return trouble;
  }

  /** Warns once for each change of what is wrong. */
  #tellOf({ fault, message: reason }: ModuleFault, groupId: string): void {
    const trouble = this.#troubleOf(groupId);
    if (fault === trouble.told) return;
    trouble.told = fault;
    const fields = { assignor: this.#name, groupId, fault, reason };
    this.#log.warn(fields, 'Assignor module gave no assignment');
  }

  #tellOfGood(groupId: string): void {
    if (!this.#trouble.delete(groupId)) return;
    this.#log.info({ assignor: this.#name, groupId }, 'Assignor module assigns again');
  }

  /** Nobody asked, so no group has trouble. */
  #endedIdle({ fault, message: reason }: ModuleFault): void {
    this.#onIdleEnd(this.#name, fault);
    this.#idleEndsUntold++;
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#idleEndsToldAtMs < IDLE_ENDS_QUIET_MS) return;
    const fields = { assignor: this.#name, fault, reason, ends: this.#idleEndsUntold };
    this.#log.warn(fields, 'Process of assignor module ended while nothing was asked of it');
    this.#idleEndsToldAtMs = nowMs;
    this.#idleEndsUntold = 0;
  }

  /** @returns whether its turn came in time; then {@link #endTurn} is to be called. */
  #turn(): Promise<boolean> | boolean {
    if (!this.#isAsked) {
      this.#isAsked = true;
      return true;
    }
    return new Promise((resolve) => {
      const go = (isTurn: boolean) => {
        clearTimeout(timer);
        resolve(isTurn);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        resolve(false);
      }, this.#turnMs);
      this.#waiting.push(go);
    });
  }

  #endTurn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isAsked = false;
    else next(true);
  }
}
