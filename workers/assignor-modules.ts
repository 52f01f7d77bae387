import { statSync } from 'node:fs';
import type { Log } from '../actors/ports.ts';
import type { ModuleFaultName } from '../machines/model/assignors.ts';
import { ModuleFault, ModuleProcess, type ModuleRequest } from './module-process.ts';
import type { Placement } from './placement.ts';

/** Assignors of the user's own, and their bounds. */
export type AssignorModulesOptions = {
  readonly modules: readonly { readonly name: string; readonly file: string }[];
  /** For one assignment. */
  readonly timeoutMs: number;
  /** So long a group waits for its turn; `timeoutMs` when left out. */
  readonly turnMs?: number;
  readonly memoryMaxBytes: number;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** A clock that never runs backwards, ms. */
  readonly monotonicMs?: () => number;
};

/** What a module is asked for. */
export type Proposal = {
  readonly groupId: string;
  /** Called when its turn has come. */
  readonly request: () => ModuleRequest;
  /** Says what is wrong with a placement. What it throws is thrown on, and is no fault of the module. */
  readonly check: (placement: Placement) => Promise<string | undefined>;
};

/** A module that cannot be used, found at the start. Its message is one line for each. */
export class AssignorModuleError extends Error {
  override readonly name = 'AssignorModuleError';
}

/** After so many faults in a row a module is left alone for a while. */
const FAULTS_IN_A_ROW = 3;
/** The first rest; each further fault doubles it. */
const REST_MIN_MS = 10_000;
const REST_MAX_MS = 600_000;
/** Groups that wait for their turn with one module. */
const WAITING_MAX = 1_000;

/**
 * The assignors of the user's own. Each runs in a process of its own and answers one group after the other, so whatever one of
 * them does costs the groups that selected it a bounded time, and nobody else anything. What it answers is a proposal: whether
 * it counts is for the caller's check to say. After any fault its process is ended; the next question starts another.
 *
 * A module that fails three times in a row rests: it is not asked for 10 s, then once more; each further fault doubles the rest,
 * up to 10 minutes.
 */
export class AssignorModules {
  readonly #modules: ReadonlyMap<string, OwnAssignor>;

  private constructor(options: AssignorModulesOptions) {
    this.#modules = new Map(
      options.modules.map(({ name, file }) => [name, new OwnAssignor(name, file, options)]),
    );
  }

  /**
   * Starts all processes and loads the modules.
   *
   * @throws {@link AssignorModuleError} naming every module that cannot be used; nothing is left running then.
   */
  static async open(options: AssignorModulesOptions): Promise<AssignorModules> {
    const opened = new AssignorModules(options);
    const faults = await Promise.all([...opened.#modules.values()].map((own) => own.load()));
    const told = faults.filter((fault) => fault !== undefined);
    if (told.length === 0) return opened;
    await opened.close();
    throw new AssignorModuleError(told.join('\n'));
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

/** One module: its process, who waits for it, and how it has behaved. */
class OwnAssignor {
  readonly #name: string;
  readonly #file: string;
  readonly #process: ModuleProcess;
  readonly #turnMs: number;
  readonly #log: AssignorModulesOptions['log'];
  readonly #monotonicMs: () => number;
  readonly #waiting: ((isTurn: boolean) => void)[] = [];
  #isAsked = false;
  #faultsInARow = 0;
  #restUntilMs = 0;
  #lastFault: ModuleFault | undefined;
  #loggedFault: ModuleFaultName | undefined;

  constructor(name: string, file: string, options: AssignorModulesOptions) {
    const { timeoutMs, memoryMaxBytes, log } = options;
    this.#name = name;
    this.#file = file;
    this.#process = new ModuleProcess({ file, timeoutMs, memoryMaxBytes });
    this.#turnMs = options.turnMs ?? timeoutMs;
    this.#log = log;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
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
    const fault = await this.#proposeInTurn(proposal);
    if (fault !== undefined) this.#warnOf(fault, proposal.groupId);
    return fault;
  }

  async #proposeInTurn({ request, check }: Proposal): Promise<ModuleFault | undefined> {
    const refused = this.#restFault();
    if (refused !== undefined) return refused;
    if (!(await this.#turn())) {
      return new ModuleFault('busy', `It had no turn within ${this.#turnMs} ms`);
    }
    try {
      return this.#restFault() ?? (await this.#settle(await this.#ask(request(), check)));
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

  /** Takes in how an assignment went. */
  async #settle(fault: ModuleFault | undefined): Promise<ModuleFault | undefined> {
    this.#lastFault = fault;
    if (fault === undefined) {
      this.#faultsInARow = 0;
      if (this.#loggedFault !== undefined) {
        this.#loggedFault = undefined;
        this.#log.info({ assignor: this.#name }, 'Assignor module assigns again');
      }
      return undefined;
    }
    // Nobody knows what state it is in; the next group meets a new one.
    await this.#process.end();
    this.#faultsInARow++;
    const doublings = this.#faultsInARow - FAULTS_IN_A_ROW;
    if (doublings >= 0) {
      const restMs = Math.min(REST_MAX_MS, REST_MIN_MS * 2 ** doublings);
      this.#restUntilMs = this.#monotonicMs() + restMs;
    }
    return fault;
  }

  #restFault(): ModuleFault | undefined {
    const leftMs = this.#restUntilMs - this.#monotonicMs();
    if (leftMs <= 0 || this.#lastFault === undefined) return undefined;
    const seconds = Math.ceil(leftMs / 1_000);
    return new ModuleFault(
      'resting',
      `It is not asked for another ${seconds} s, after ${this.#faultsInARow} faults in a row: ${this.#lastFault.message}`,
    );
  }

  /** Once for each change of what is wrong. */
  #warnOf({ fault, message: reason }: ModuleFault, groupId: string): void {
    if (fault === this.#loggedFault) return;
    this.#loggedFault = fault;
    const fields = { assignor: this.#name, groupId, fault, reason };
    this.#log.warn(fields, 'Assignor module gave no assignment');
  }

  /** @returns whether its turn came in time; then {@link #endTurn} is to be called. */
  #turn(): Promise<boolean> | boolean {
    if (!this.#isAsked) {
      this.#isAsked = true;
      return true;
    }
    if (this.#waiting.length >= WAITING_MAX) return false;
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
