import type { Log } from '../actors/ports.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config/config.ts';
import { formatHostPort, type HostPort } from './config/host-port.ts';
import type { Metrics } from './observe/metrics.ts';
import type { Dispatch, ListenerInfo } from './server/dispatch.ts';
import { ListenError, type Listener, openListener } from './server/listener.ts';

/** Answers a client may leave unread before it is not listened to any more. */
const UNSENT_BYTES_MAX = 8 * 1024 * 1024;
const FRAME_COMPLETION_MS = 30_000;

/** The addresses of the process: one for a standalone coordinator, one more for each upstream node of a gateway. */
export class Listeners {
  readonly #parts: { config: Config; dispatch: () => Dispatch; metrics: Metrics; log: Log };
  readonly #open: Listener[] = [];
  #isStopped = false;

  constructor(parts: { config: Config; dispatch: () => Dispatch; metrics: Metrics; log: Log }) {
    this.#parts = parts;
  }

  /** Rejects with `ListenError` when the address cannot be had, or all of them are being closed. */
  async open(listen: HostPort, nodeId: ListenerInfo['nodeId']): Promise<Listener> {
    this.#refuseIfStopped(listen);
    const { config, dispatch, metrics, log } = this.#parts;
    const { advertised, server } = config;
    const isFirst = this.#open.length === 0;
    const listener = await openListener({
      host: listen.host,
      port: listen.port,
      setBy: isFirst ? '--port' : 'gateway.addresses',
      info: (bound) => ({
        nodeId,
        host: advertised.host ?? bound.host,
        port: (isFirst ? advertised.port : undefined) ?? bound.port,
      }),
      dispatch: { handle: (frame, connection) => dispatch().handle(frame, connection) },
      limits: {
        connectionsMax: server.connectionsMax,
        requestsInFlightMax: server.requestsInFlightMax,
        requestBytesMax: server.requestBytesMax,
        unsentBytesMax: UNSENT_BYTES_MAX,
        idleMs: server.connectionIdleMs,
        frameCompletionMs: FRAME_COMPLETION_MS,
      },
      clock: systemClock,
      log,
      metrics: metrics.server,
    });
    if (this.#isStopped) await listener.stop(0);
    this.#refuseIfStopped(listen);
    this.#open.push(listener);
    return listener;
  }

  /** A broker upstream may be heard of at any time. */
  #refuseIfStopped(listen: HostPort): void {
    if (!this.#isStopped) return;
    const text = `Cannot listen on ${formatHostPort(listen)}: all addresses are being closed`;
    throw new ListenError('ECANCELED', text, { cause: undefined });
  }

  /** All of them, as they are advertised; first the one to begin at. */
  addresses(): readonly HostPort[] {
    return this.#open.map(({ info: { host, port } }) => ({ host, port }));
  }

  /** Those that stand for upstream nodes, by node id; a node may come later. */
  nodeAddresses(): ReadonlyMap<number, HostPort> {
    const addresses = new Map<number, HostPort>();
    for (const { info } of this.#open.slice(1)) {
      if (info.nodeId !== 'bootstrap')
        addresses.set(info.nodeId, { host: info.host, port: info.port });
    }
    return addresses;
  }

  /** Stops all of them, and opens none from now on. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#open.map((listener) => listener.stop(graceMs)));
  }
}
