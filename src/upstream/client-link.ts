import type { Clock, Log } from '../../actors/ports.ts';
import type { ClientConnection, IncomingRequest } from '../server/dispatch.ts';
import type { ApiName, RequestInput, ResponseOf } from '../wire/apis.ts';
import type { BrokerVersions } from './broker-versions.ts';
import type { UpstreamConnection } from './connection.ts';
import type { UpstreamPool } from './pool.ts';
import { reasonOf } from './upstream-error.ts';

export type ClientLinkParts = {
  readonly pool: UpstreamPool;
  readonly clock: Clock;
  readonly log: Log;
};

/** Unused for this long, a connection may have been ended for that alone; brokers wait much longer. */
const IDLE_MS = 60_000;
/** A broker that takes no byte of what a client sends for this long is given up. */
const STALLED_MS = 120_000;
/** Of requests of our own on a client's behalf. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * The one connection upstream that belongs to one client connection: opened at the first request that is passed on,
 * closed after the client's. On a virtual broker it goes to that broker, on the bootstrap address to any.
 *
 * When it ends the client connection is ended too, after the answers that are there: what became of the others
 * nobody knows. One that a broker ends for want of use is opened again when needed: the client's own may be in use all
 * the while, for heartbeats that are answered here. When the client goes, what was passed on is still answered here, then it is closed. Each side is
 * read only while the other takes bytes.
 *
 * Source: wire.md 4.1, 4.5, 4.12.
 */
export class ClientLink {
  private readonly client: ClientConnection;
  private readonly pool: UpstreamPool;
  private readonly clock: Clock;
  private readonly log: Log;
  private lastUsedMs = 0;
  private upstream: UpstreamConnection | undefined;
  private opening: Promise<UpstreamConnection> | undefined;
  private isWaiting = false;

  constructor(client: ClientConnection, parts: ClientLinkParts) {
    this.client = client;
    this.pool = parts.pool;
    this.clock = parts.clock;
    this.log = parts.log;
    client.onClose(() => this.endSoon());
  }

  /**
   * Passes the request on as it is, in the order of the calls, and gives the answer's frame without its length.
   *
   * @throws UpstreamError
   */
  async forward(request: IncomingRequest, timeoutMs?: number): Promise<Buffer> {
    const upstream = this.inUse() ?? (await this.open());
    const answer = upstream.forward(request.frame, timeoutMs);
    this.holdIfCongested(upstream);
    return this.paced(upstream, await answer);
  }

  /** As {@link forward}, for a request that is never answered. */
  async forwardUnanswered(request: IncomingRequest): Promise<void> {
    const upstream = this.inUse() ?? (await this.open());
    upstream.forwardUnanswered(request.frame);
    this.holdIfCongested(upstream);
  }

  /**
   * Asks upstream in the client's place, in the order of the calls; without a version, the highest in common.
   *
   * @throws UpstreamError
   */
  async request<N extends ApiName>(
    name: N,
    body: RequestInput<N>,
    version?: number,
  ): Promise<ResponseOf<N>> {
    const upstream = this.inUse() ?? (await this.open());
    const timeoutMs = REQUEST_TIMEOUT_MS;
    if (version === undefined) return upstream.request(name, body, { timeoutMs });
    return upstream.requestAt(name, version, body, timeoutMs);
  }

  /** What its broker offers. @throws UpstreamError */
  async versions(): Promise<BrokerVersions> {
    return (this.inUse() ?? (await this.open())).versions;
  }

  /** The connection, if there is one; it counts as used from now on. */
  private inUse(): UpstreamConnection | undefined {
    this.lastUsedMs = this.clock.monotonicMs();
    return this.upstream;
  }

  private async open(): Promise<UpstreamConnection> {
    this.opening ??= this.openNow().catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  private async openNow(): Promise<UpstreamConnection> {
    const { client, pool } = this;
    const { nodeId } = client.listener;
    const upstream = await pool.openFor(
      nodeId === 'bootstrap' ? undefined : nodeId,
      client.software,
    );
    this.upstream = upstream;
    upstream.onClose(() => this.ended(upstream));
    if (client.isClosed) this.endSoon();
    return upstream;
  }

  /** After the requests that wait for the connection: they were read before the client went. */
  private endSoon(): void {
    setImmediate(() => this.upstream?.end());
  }

  private ended(upstream: UpstreamConnection): void {
    // What was outstanding has its client's connection closed by itself.
    const unusedMs = this.clock.monotonicMs() - this.lastUsedMs;
    if (unusedMs < IDLE_MS) this.client.closeSoon('The connection upstream has ended');
    else if (this.upstream === upstream) {
      this.upstream = undefined;
      this.opening = undefined;
    }
  }

  private holdIfCongested(upstream: UpstreamConnection): void {
    if (upstream.isCongested) this.client.holdUntil(upstream.writable(STALLED_MS));
  }

  /** Takes no more answers from the broker while the client leaves those it has. */
  private paced(upstream: UpstreamConnection, answer: Buffer): Buffer {
    if (this.client.isCongested && !this.isWaiting) {
      this.isWaiting = true;
      upstream.pause();
      this.client.whenTaking(() => {
        this.isWaiting = false;
        upstream.resume();
      });
    }
    return answer;
  }

  /** For the one log line of a request that could not be passed on. */
  logFailure(request: IncomingRequest, error: unknown): void {
    const { apiKey, connection } = request;
    const { nodeId } = connection.listener;
    const fields = { apiKey, connection: connection.id, nodeId, reason: reasonOf(error) };
    this.log.debug(fields, 'Request was not answered upstream');
  }
}
