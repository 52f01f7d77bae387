import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Clock, Log } from '../../actors/ports.ts';
import type { ConnectionLimits } from './connection.ts';
import { Connection } from './connection.ts';
import type { Dispatch, ListenerInfo } from './dispatch.ts';
import type { ServerMetrics } from './ports.ts';

export type ListenerLimits = ConnectionLimits & {
  /** Further connections are closed as they come. */
  readonly connectionsMax: number;
};

export type ListenerOptions = {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The flag or setting that says so, for messages. */
  readonly setBy?: string;
  /** What clients are told, once the port is known. */
  readonly info: (bound: { readonly host: string; readonly port: number }) => ListenerInfo;
  readonly dispatch: Dispatch;
  readonly limits: ListenerLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: ServerMetrics;
};

export interface Listener {
  /** Where it listens. */
  readonly host: string;
  readonly port: number;
  readonly info: ListenerInfo;
  /** Open connections. */
  readonly connections: number;
  /**
   * Refuses new connections, answers what was taken, closes. What is not done after `graceMs` is cut off. May be called
   * again with a shorter grace.
   */
  stop(graceMs: number): Promise<void>;
}

/** A listener that could not be opened; the message is one clear line. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  /** Node's code, as EADDRINUSE. */
  readonly code: string;
  constructor(code: string, message: string, options: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}

const BACKLOG = 4096;
/** The sweep's period is a quarter of the shortest limit, within these bounds. */
const SWEEP_MIN_MS = 5;
const SWEEP_MAX_MS = 5_000;

/** Starts to listen. Rejects with {@link ListenError} when that is not possible. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const server = createServer({ noDelay: true, allowHalfOpen: true });
  server.maxConnections = options.limits.connectionsMax;
  const bound = await listen(server, options);
  return new OpenListener(server, bound, options);
}

function listen(server: Server, options: ListenerOptions): Promise<AddressInfo> {
  const { host, port } = options;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.removeAllListeners('error');
      resolve(server.address() as AddressInfo);
    });
  });
}

function listenError(
  error: NodeJS.ErrnoException,
  { host, port, setBy }: ListenerOptions,
): ListenError {
  const code = error.code ?? 'UNKNOWN';
  const reasons: Record<string, string> = {
    EADDRINUSE: 'the port is in use',
    EACCES: 'this user may not use this port',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'this host name is not known',
  };
  const reason = reasons[code] ?? error.message;
  const hint = setBy === undefined ? '' : ` (${setBy})`;
  const text = `Cannot listen on ${host}:${port}: ${reason}${hint}`;
  return new ListenError(code, text, { cause: error });
}

class OpenListener implements Listener {
  readonly host: string;
  readonly port: number;
  readonly info: ListenerInfo;
  private readonly server: Server;
  private readonly options: ListenerOptions;
  private readonly open = new Set<Connection>();
  private readonly sweepMs: number;
  private cancelSweep: () => void;
  private refused = 0;
  private stopped: (() => void)[] = [];
  private isStopping = false;
  private isServerClosed = false;

  constructor(server: Server, bound: AddressInfo, options: ListenerOptions) {
    this.server = server;
    this.options = options;
    this.host = bound.address;
    this.port = bound.port;
    this.info = options.info({ host: options.host, port: bound.port });
    const { idleMs, frameCompletionMs } = options.limits;
    const quarter = Math.min(idleMs, frameCompletionMs) / 4;
    this.sweepMs = Math.max(SWEEP_MIN_MS, Math.min(SWEEP_MAX_MS, quarter));
    this.cancelSweep = this.armSweep();
    server.on('connection', (socket) => this.accept(socket));
    server.on('drop', () => this.drop());
    server.on('error', (error) =>
      options.log.warn({ err: error, port: this.port }, 'Accept failed'),
    );
  }

  get connections(): number {
    return this.open.size;
  }

  stop(graceMs: number): Promise<void> {
    const cancel = this.options.clock.after(graceMs, () => {
      for (const connection of this.open) connection.destroy();
    });
    const done = new Promise<void>((resolve) => {
      this.stopped.push(() => {
        cancel();
        resolve();
      });
    });
    if (!this.isStopping) {
      this.isStopping = true;
      this.server.close(() => {
        this.isServerClosed = true;
        this.maybeStopped();
      });
    }
    for (const connection of this.open) connection.finish();
    this.maybeStopped();
    return done;
  }

  private accept(socket: Socket): void {
    const { dispatch, limits, clock, log, metrics } = this.options;
    const connection = new Connection({
      socket,
      listener: this.info,
      dispatch,
      limits,
      clock,
      log,
      metrics,
    });
    this.open.add(connection);
    metrics?.connectionOpened();
    connection.onClose(() => {
      this.open.delete(connection);
      metrics?.connectionClosed();
      this.maybeStopped();
    });
    if (this.isStopping) connection.finish();
  }

  /** Told at once for the first, then once per sweep: a flood must not fill the log. */
  private drop(): void {
    this.options.metrics?.connectionRefused();
    if (this.refused === 0) this.logRefused(1);
    this.refused += 1;
  }

  private logRefused(count: number): void {
    const { connectionsMax } = this.options.limits;
    this.options.log.warn({ port: this.port, connectionsMax, count }, 'Connections refused');
  }

  private armSweep(): () => void {
    return this.options.clock.after(this.sweepMs, () => {
      this.sweep();
      this.cancelSweep = this.armSweep();
    });
  }

  private sweep(): void {
    const nowMs = this.options.clock.monotonicMs();
    for (const connection of this.open) connection.sweep(nowMs);
    if (this.refused > 1) this.logRefused(this.refused - 1);
    this.refused = 0;
  }

  private maybeStopped(): void {
    if (!this.isServerClosed || this.open.size > 0) return;
    this.cancelSweep();
    const waiters = this.stopped;
    this.stopped = [];
    for (const done of waiters) done();
  }
}
