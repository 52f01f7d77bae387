import { Readable } from 'node:stream';
import type { CommandIo, Started } from '../../src/cli/command-io.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import type { Config } from '../../src/config/config.ts';
import { KeptLog } from './kept-log.ts';
import { ManualClock } from './manual-clock.ts';

/** A world for commands that only remembers: what was written, started and asked. */
export class FakeIo implements CommandIo {
  /** What comes on standard input, part by part. */
  given: readonly Uint8Array[] = [];
  output = '';
  errors = '';
  isTerminal = false;
  environment: Readonly<Record<string, string | undefined>> = {};
  readonly log = new KeptLog();
  readonly clock = new ManualClock();
  readonly started: Config[] = [];
  readonly exits: number[] = [];
  stops = 0;
  flushes = 0;
  /** What starting a coordinator gives. */
  start: (config: Config, signal?: AbortSignal) => Promise<Omit<Started, 'stop'>> = async ({
    listen,
    admin,
  }) => ({
    address: listen,
    adminAddress: admin,
    nodeAddresses: new Map(),
  });
  private readonly stopListeners: (() => void)[] = [];

  readonly input = () => Readable.from(this.given);
  readonly out = (text: string) => {
    this.output += text;
  };
  readonly err = (text: string) => {
    this.errors += text;
  };
  readonly createLogger = () => ({
    log: this.log,
    flush: () => {
      this.flushes++;
    },
  });
  readonly startCoordinator: CommandIo['startCoordinator'] = async (config, { signal }) => {
    this.started.push(config);
    const running = await this.start(config, signal);
    return {
      ...running,
      stop: async () => {
        this.stops++;
      },
    };
  };
  readonly onStop = (listener: () => void) => {
    this.stopListeners.push(listener);
  };
  readonly after = (delayMs: number, callback: () => void) => this.clock.after(delayMs, callback);
  readonly exit = (code: number) => {
    this.exits.push(code);
  };

  /** As a signal would. */
  askToStop(): void {
    for (const listener of this.stopListeners) listener();
  }

  /** Carries out a command line; what it wrote replaces what was written before. */
  async run(...args: readonly string[]): Promise<number> {
    this.output = '';
    this.errors = '';
    return runCommand(args, this);
  }
}
