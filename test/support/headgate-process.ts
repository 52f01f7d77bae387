import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BrokerAddress } from '../../src/client/connection.ts';

/** The compiled program beside the compiled tests. */
export const mainFile = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const LINES_MAX = 10_000;
const READY_MS = 30_000;
const END_MS = 20_000;
/** What the caller of the tests has set for Headgate is no setting of what they start. */
export const ambientEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('HEADGATE_')),
);

/** The program as a process of its own, with everything it says kept line by line. */
export class HeadgateProcess {
  static readonly #running = new Set<HeadgateProcess>();

  readonly pid: number;
  readonly out: string[] = [];
  readonly err: string[] = [];
  /** Exit code, or the signal that ended it; both streams are read to their ends by then. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, [mainFile, ...args], {
      env: ambientEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.pid = child.pid ?? -1;
    HeadgateProcess.#running.add(this);
    for (const [stream, lines] of [
      [child.stdout, this.out],
      [child.stderr, this.err],
    ] as const) {
      createInterface({ input: stream }).on('line', (line) => {
        if (lines.length < LINES_MAX) lines.push(line);
        for (const look of this.#watchers) look();
      });
    }
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        HeadgateProcess.#running.delete(this);
        resolve(code ?? signal);
      });
    });
  }

  /** `serve` with its store in `folder`, on a free port and quick to hand out tasks; more flags win over these. */
  static serve(folder: string, ...flags: readonly string[]): HeadgateProcess {
    return HeadgateProcess.servePlainly(
      folder,
      ...['--set', 'group.streams.initial.rebalance.delay.ms=0'],
      ...['--set', 'group.streams.assignment.interval.ms=0'],
      ...['--set', 'assignor.threads=1'],
      ...flags,
    );
  }

  /** `serve` with its store in `folder`, on a free port unless one is given, otherwise as it is for everybody. */
  static servePlainly(folder: string, ...flags: readonly string[]): HeadgateProcess {
    const places = { '--data-dir': folder, '--port': '0', '--admin-port': 'off' };
    const others = Object.entries(places).filter(([flag]) => !flags.includes(flag));
    return new HeadgateProcess(['serve', ...others.flat(), ...flags]);
  }

  /** Ends what a test left running. */
  static async endAll(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await Promise.all([...HeadgateProcess.#running].map((each) => each.end(signal)));
  }

  /** Where clients connect, once it says so. Rejects when it ends before, or takes too long. */
  async ready(): Promise<BrokerAddress> {
    const line = await this.line(this.out, /^Headgate ready on .+:\d+$/);
    const [, host = '', port] = /on (.+):(\d+)$/.exec(line) ?? [];
    return { host, port: Number(port) };
  }

  /** The first line of {@link out} or {@link err} that matches, said already or to come; not among the first `after`. */
  async line(lines: readonly string[], pattern: RegExp, after = 0): Promise<string> {
    let look = () => {};
    let timer: NodeJS.Timeout | undefined;
    const found = new Promise<string>((resolve, reject) => {
      const said = () => [...this.out, ...this.err].slice(-20).join('\n');
      look = () => {
        const line = lines.find((each, at) => at >= after && pattern.test(each));
        if (line !== undefined) resolve(line);
      };
      timer = setTimeout(() => reject(new Error(`Waited for ${pattern}: ${said()}`)), READY_MS);
      void this.ended.then((how) => {
        look();
        reject(new Error(`Ended with ${how}, waited for ${pattern}: ${said()}`));
      });
      this.#watchers.add(look);
      look();
    });
    try {
      return await found;
    } finally {
      clearTimeout(timer);
      this.#watchers.delete(look);
    }
  }

  /** Sends a signal and waits for the end; what takes too long about it is ended with SIGKILL. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.#child.kill(signal);
    const late = setTimeout(() => this.#child.kill('SIGKILL'), END_MS);
    const how = await this.ended;
    clearTimeout(late);
    return how;
  }
}
