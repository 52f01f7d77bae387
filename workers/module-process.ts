import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ModuleFaultName } from '../machines/model/assignors.ts';
import { FrameReader, frameHead } from './frames.ts';
import { ModuleFault } from './module-conduct.ts';
import { answerBytes, type ModuleAnswer, PLAIN_ANSWER_BYTES, readAnswer } from './module-frames.ts';
import type { Placement } from './placement.ts';
import { endProcessGroup } from './process-group.ts';

export type ModuleProcessOptions = {
  /** Absolute path of the module. */
  readonly file: string;
  /** For one assignment, from when its process has it. */
  readonly timeoutMs: number;
  readonly memoryMaxBytes: number;
  /** Told when the process ends by itself while nothing is asked of it; the next question starts another. */
  readonly onIdleEnd: (fault: ModuleFault) => void;
};

/** A question, and what its answer may look like. */
export type ModuleRequest = {
  readonly question: Uint8Array;
  readonly tasks: number;
  readonly slots: number;
};

/** A process that starts and loads its module takes no longer. */
const START_MS = 20_000;
/** A process that was killed is gone by then; what is left of it is the system's. */
const GONE_MS = 2_000;
/** What a process says that is about to end. */
const LAST_WORDS: ReadonlySet<ModuleFaultName> = new Set(['memory', 'ended']);
const MEGABYTE = 1_024 * 1_024;
const CHILD_FILE = fileURLToPath(new URL('./module-child.js', import.meta.url));

/**
 * The process of one assignor module. A thread would not do: one that runs out of memory takes the whole process along as
 * often as not, and one that hangs in a system call cannot be ended. One question at a time.
 *
 * It leads a process group of its own. What the module starts is in that group, and ends with it; only what leaves the group
 * is out of reach.
 */
export class ModuleProcess {
  readonly #options: ModuleProcessOptions;
  #running: Running | undefined;
  #isClosed = false;

  constructor(options: ModuleProcessOptions) {
    this.#options = options;
  }

  /** Sees to it that the module is loaded. @throws {@link ModuleFault} `load` */
  async load(): Promise<void> {
    await this.#start();
  }

  /** @throws {@link ModuleFault} */
  async ask({ question, tasks, slots }: ModuleRequest): Promise<Placement> {
    const running = await this.#start();
    const { timeoutMs } = this.#options;
    const answer = await this.#within(
      running,
      timeoutMs,
      running.exchange(question, { tasks, bytesMax: answerBytes(tasks, slots) }),
    );
    if (answer.kind === 'placed') return answer.placement;
    if (answer.kind === 'fault') throw new ModuleFault(answer.fault, answer.text);
    throw await this.#endFor(running, 'invalid', 'Its process answered out of turn');
  }

  /** Ends the process, if there is one; the next question starts another. Resolves when it is gone, or soon after. */
  async end(): Promise<void> {
    await this.#running?.kill();
  }

  /** Ends the process for good: what is asked now or later fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.end();
  }

  async #start(): Promise<Running> {
    if (this.#running?.isAlive === true) return this.#running;
    if (this.#isClosed) throw new ModuleFault('ended', 'Its process was closed');
    const running = new Running(this.#options);
    this.#running = running;
    try {
      const answer = await this.#within(running, START_MS, running.firstAnswer);
      if (answer.kind === 'ready') return running;
      const text = answer.kind === 'fault' ? answer.text : 'Its process began with an assignment';
      throw await this.#endFor(running, 'load', text);
    } catch (error) {
      throw error instanceof ModuleFault ? new ModuleFault('load', error.message) : error;
    }
  }

  /** The answer, or a fault after which the process is gone. */
  async #within(
    running: Running,
    limitMs: number,
    answer: Promise<ModuleAnswer>,
  ): Promise<ModuleAnswer> {
    try {
      return await settledWithin(limitMs, answer);
    } catch (error) {
      await running.kill();
      throw error;
    }
  }

  async #endFor(running: Running, fault: ModuleFaultName, text: string): Promise<ModuleFault> {
    await running.kill();
    return new ModuleFault(fault, text);
  }
}

/** One life of the process. */
class Running {
  /** What it says when its module is loaded, or is not. */
  readonly firstAnswer: Promise<ModuleAnswer>;
  readonly #child: ChildProcess;
  readonly #reader = new FrameReader(PLAIN_ANSWER_BYTES);
  readonly #gone: Promise<void>;
  readonly #onIdleEnd: ModuleProcessOptions['onIdleEnd'];
  #waiting:
    | { tasks: number; resolve(answer: ModuleAnswer): void; reject(error: Error): void }
    | undefined;
  isAlive = true;

  constructor({ file, memoryMaxBytes, onIdleEnd }: ModuleProcessOptions) {
    this.#onIdleEnd = onIdleEnd;
    const heap = `--max-old-space-size=${Math.ceil(memoryMaxBytes / MEGABYTE)}`;
    // Whatever the module prints is for people, and standard output is the program's own.
    this.#child = spawn(process.execPath, [heap, CHILD_FILE, file, String(memoryMaxBytes)], {
      stdio: ['pipe', 2, 2, 'pipe'],
      detached: true,
    });
    this.#child.once('exit', () => this.#endGroup());
    this.firstAnswer = this.#answer(0);
    // Who waits for nothing yet must not make it an unhandled rejection.
    this.firstAnswer.catch(() => {});
    this.#gone = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#end(faultOfEnd(code, signal, memoryMaxBytes));
        resolve();
      });
      this.#child.once('error', (error) => {
        this.#end(new ModuleFault('ended', `Its process could not be started: ${error.message}`));
        resolve();
      });
    });
    // A process that is gone says so by its end.
    this.#child.stdin?.on('error', () => {});
    const answers = this.#child.stdio[3] as Readable | null | undefined;
    answers?.on('error', () => {});
    answers?.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** Sends a question; what comes back is bounded. */
  exchange(
    question: Uint8Array,
    { tasks, bytesMax }: { readonly tasks: number; readonly bytesMax: number },
  ): Promise<ModuleAnswer> {
    this.#reader.allow(bytesMax);
    const answer = this.#answer(tasks);
    // A question can be large: it is not copied to be made a frame.
    this.#child.stdin?.write(frameHead(question.byteLength));
    this.#child.stdin?.write(question);
    return answer;
  }

  async kill(): Promise<void> {
    this.isAlive = false;
    this.#kill();
    await settledWithin(GONE_MS, this.#gone).catch(() => {});
  }

  #kill(): void {
    const { exitCode, signalCode } = this.#child;
    // Once it is gone, its number can be that of another.
    if (exitCode === null && signalCode === null) this.#endGroup();
  }

  #endGroup(): void {
    const { pid } = this.#child;
    if (pid !== undefined) endProcessGroup(pid);
  }

  #answer(tasks: number): Promise<ModuleAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { tasks, resolve, reject };
    });
  }

  #read(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#take(frame);
    } catch (error) {
      this.#kill();
      this.#end(new ModuleFault('invalid', `Its answer cannot be read: ${String(error)}`));
    }
  }

  #take(frame: Buffer): void {
    const waiting = this.#waiting;
    const answer = readAnswer(frame, waiting?.tasks ?? 0);
    if (answer?.kind === 'fault' && LAST_WORDS.has(answer.fault)) {
      this.#end(new ModuleFault(answer.fault, answer.text));
      return;
    }
    if (answer === undefined) throw new Error('Frame is of no known kind');
    if (waiting === undefined) throw new Error('Nothing was asked');
    this.#waiting = undefined;
    waiting.resolve(answer);
  }

  /** The first reason counts. Who asked is told, and where nobody did, whoever listens for that. */
  #end(fault: ModuleFault): void {
    const { isAlive } = this;
    const waiting = this.#waiting;
    this.isAlive = false;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting.reject(fault);
    else if (isAlive) this.#onIdleEnd(fault);
  }
}

function faultOfEnd(
  code: number | null,
  signal: NodeJS.Signals | null,
  memoryMaxBytes: number,
): ModuleFault {
  // That is how Node ends when its heap is full.
  if (signal === 'SIGABRT' || signal === 'SIGTRAP') {
    return new ModuleFault(
      'memory',
      `It took more memory than the ${memoryMaxBytes} bytes allowed`,
    );
  }
  return new ModuleFault('ended', `Its process ended with ${signal ?? `code ${code}`}`);
}

/** As the promise settles, if that is soon enough. */
function settledWithin<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new ModuleFault('timeout', `It gave no answer within ${limitMs} ms`));
    }, limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
