import type { Clock, Log } from '../../actors/ports.ts';
import type { Config, LogConfig } from '../config/config.ts';
import type { HostPort } from '../config/host-port.ts';

/** A coordinator that was started. */
export type Started = {
  readonly address: HostPort;
  /** Undefined when the admin server is off. */
  readonly adminAddress: HostPort | undefined;
  /** A gateway's addresses that stand for upstream nodes, by node id; empty without an upstream. */
  readonly nodeAddresses: ReadonlyMap<number, HostPort>;
  stop(): Promise<void>;
};

/** The world as commands see it: everything they touch beside the network and files. */
export type CommandIo = {
  /** Standard input, for who reads it; to ask for it may keep the process until it ends. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Writes to standard output: what was asked for. */
  readonly out: (text: string) => void;
  /** Writes to standard error: what is said about it. */
  readonly err: (text: string) => void;
  /** Standard error is a terminal. */
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly createLogger: (
    config: LogConfig,
    options: { readonly isTerminal: boolean },
  ) => { readonly log: Log; flush(): void };
  /** Rejects with the signal's reason when that is aborted before clients can be served; nothing is left open then. */
  readonly startCoordinator: (
    config: Config,
    parts: { readonly log: Log; readonly signal?: AbortSignal },
  ) => Promise<Started>;
  /** Calls back at every request to stop: a signal from a terminal or a supervisor. */
  readonly onStop: (listener: () => void) => void;
  /** Calls back once, after so many ms; the result cancels it. */
  readonly after: Clock['after'];
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
};

/** A command that cannot do what it was asked; the message is one clear line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  constructor(message: string, { exitCode = 1 }: { readonly exitCode?: number } = {}) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Exit codes: 0 done, 1 it failed, 2 it was asked for in the wrong way. */
export const WRONGLY_ASKED = 2;
