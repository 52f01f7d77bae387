import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Clock } from '../../actors/ports.ts';
import type { ApiName, RequestInput, ResponseOf } from '../wire/apis.ts';
import { apis, decodeResponse } from '../wire/apis.ts';
import { FrameSplitter } from '../wire/frame.ts';
import { encodeRequestFrame } from '../wire/headers.ts';
import { Reader } from '../wire/reader.ts';
import type { BrokerVersions } from './broker-versions.ts';
import { brokerVersions, highestCommon, NO_VERSIONS } from './broker-versions.ts';
import { decodeAnswer } from './decode-answer.ts';
import { reasonOf, UpstreamError } from './upstream-error.ts';

export type Address = { readonly host: string; readonly port: number };

/** Whose software speaks, for the metrics of the broker (wire.md 4.6). */
export type Software = { readonly name: string; readonly version: string };

export type ConnectionOptions = {
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  /** For requests of our own; one that is passed on waits as long as its client does. */
  readonly requestTimeoutMs: number;
  /** Requests under way; one more is refused. */
  readonly inFlightMax: number;
  readonly clientId: string;
  readonly software: Software;
  /** Where counting begins; 0 unless told otherwise. */
  readonly firstCorrelationId?: number;
  /** Aborted, it ends the making of a connection; one that is made is left alone. */
  readonly signal?: AbortSignal;
};

export type RequestOptions = {
  /** No version above it. */
  readonly cap?: number;
  readonly timeoutMs?: number;
};

type Pending = {
  readonly correlationId: number;
  readonly resolve: (frame: Buffer) => void;
  readonly reject: (error: UpstreamError) => void;
  readonly stopDeadline: () => void;
};

/** ApiVersions asked of a broker: 5 would carry a cluster and a node to check, which is between it and us. */
const API_VERSIONS_MAX = 4;
const UNSUPPORTED_VERSION = 35;
/** Brokers answer with frames of any length; the room grows only with what comes. */
const RESPONSE_BYTES_MAX = 0x7fff_ffff;
const CORRELATION_OFFSET_REQUEST = 4;
const LENGTH_BYTES = 4;
const noDeadline = (): void => undefined;

/**
 * One connection to one broker upstream.
 *
 * Correlation ids are its own; those of frames that are passed on are patched in place, and back in the answer.
 * Answers come in the order of the requests; one out of order, a bad frame or a request of our own past its
 * deadline ends the connection. When it ends, everything outstanding is rejected: whether it was carried out is
 * then unknown.
 *
 * Source: wire.md 4.5, 4.6, 4.12.
 */
export class UpstreamConnection {
  readonly address: Address;
  private readonly options: ConnectionOptions;
  private readonly socket: Socket;
  private readonly splitter = new FrameSplitter(RESPONSE_BYTES_MAX);
  private readonly pending: Pending[] = [];
  private readonly closeListeners: (() => void)[] = [];
  private readonly drainWaiters: (() => void)[] = [];
  private nextCorrelationId: number;
  private isCorked = false;
  private isEnding = false;
  private failure: UpstreamError | undefined;
  private known: BrokerVersions = NO_VERSIONS;

  private constructor(address: Address, socket: Socket, options: ConnectionOptions) {
    this.address = address;
    this.socket = socket;
    this.options = options;
    this.nextCorrelationId = options.firstCorrelationId ?? 0;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('drain', () => this.drained());
    socket.on('error', (error) => {
      this.destroy('lost', `Connection to upstream ${this.title} failed: ${error.message}`, error);
    });
    socket.on('end', () => {
      this.destroy('lost', `Connection to upstream ${this.title} was closed by the broker`);
    });
    socket.on('close', () => this.finish());
  }

  /**
   * Connects and asks for the broker's versions.
   *
   * @throws UpstreamError (`unreachable`) when nobody answers in time, the peer is no Kafka broker, or it was given up.
   */
  static async open(address: Address, options: ConnectionOptions): Promise<UpstreamConnection> {
    const socket = await connected(address, options);
    const connection = new UpstreamConnection(address, socket, options);
    const stopWatching = whenAborted(options.signal, () => connection.close());
    try {
      connection.known = await connection.negotiate();
      return connection;
    } catch (error) {
      const reason = reasonOf(error);
      connection.destroy('unreachable', `Cannot speak to ${connection.title}: ${reason}`);
      throw new UpstreamError('unreachable', `Cannot speak to ${connection.title}: ${reason}`, {
        cause: error,
      });
    } finally {
      stopWatching();
    }
  }

  private get title(): string {
    return `${this.address.host}:${this.address.port}`;
  }

  /** What the broker offered when this connection was made. */
  get versions(): BrokerVersions {
    return this.known;
  }

  get isOpen(): boolean {
    return this.failure === undefined && !this.isEnding;
  }

  /** Requests without an answer yet. */
  get inFlight(): number {
    return this.pending.length;
  }

  /** Is called once, when the connection has ended for whatever reason; at once if it already has. */
  onClose(listener: () => void): void {
    if (this.failure !== undefined) listener();
    else this.closeListeners.push(listener);
  }

  /**
   * Asks a question of our own, in the highest version that both sides have.
   *
   * @throws UpstreamError
   */
  async request<N extends ApiName>(
    name: N,
    body: RequestInput<N>,
    { cap, timeoutMs }: RequestOptions = {},
  ): Promise<ResponseOf<N>> {
    const version = highestCommon(this.known, name, cap);
    return this.requestAt(name, version, body, timeoutMs);
  }

  /** As {@link request}, in a version that the caller chose. */
  async requestAt<N extends ApiName>(
    name: N,
    version: number,
    body: RequestInput<N>,
    timeoutMs: number = this.options.requestTimeoutMs,
  ): Promise<ResponseOf<N>> {
    const { clientId } = this.options;
    const framed = encodeRequestFrame(name, version, { correlationId: 0, clientId }, body);
    const answer = await this.exchange(framed.subarray(LENGTH_BYTES), timeoutMs);
    return decodeAnswer(name, version, answer).body;
  }

  /**
   * Passes a client's request on and gives the answer, both frames without their length. The request's frame is
   * used up; the answer carries the client's correlation id.
   *
   * @param timeoutMs undefined: waits as long as the connection lasts.
   */
  async forward(frame: Buffer, timeoutMs?: number): Promise<Buffer> {
    const correlationId = frame.readInt32BE(CORRELATION_OFFSET_REQUEST);
    const answer = await this.exchange(frame, timeoutMs);
    answer.writeInt32BE(correlationId, 0);
    return answer;
  }

  /** Passes on a request that never gets an answer: Produce with acks 0. */
  forwardUnanswered(frame: Buffer): void {
    this.refuseIfClosed();
    this.write(frame);
  }

  /** The broker does not take what was written already. */
  get isCongested(): boolean {
    return this.failure === undefined && this.socket.writableNeedDrain;
  }

  /**
   * Resolves when the broker takes bytes again, or the connection has ended; one that takes none for `timeoutMs` is
   * given up.
   */
  async writable(timeoutMs: number): Promise<void> {
    if (!this.isCongested) return;
    const stop = this.deadline(timeoutMs);
    await new Promise<void>((resolve) => {
      this.drainWaiters.push(resolve);
    });
    stop();
  }

  /** Stops and starts the taking of answers, so that a client that does not read holds up its broker alone. */
  pause(): void {
    this.socket.pause();
  }
  resume(): void {
    this.socket.resume();
  }

  /** Takes no more requests and closes when the last answer is in, or after the time for a request. */
  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    if (this.pending.length === 0) this.close();
    else {
      const stop = this.options.clock.after(this.options.requestTimeoutMs, () => this.close());
      this.onClose(stop);
    }
  }

  /** Closes at once; what is outstanding is rejected as lost. */
  close(): void {
    this.destroy('lost', `Connection to upstream ${this.title} was closed here`);
  }

  private async exchange(frame: Buffer, timeoutMs: number | undefined): Promise<Buffer> {
    this.refuseIfClosed();
    if (this.pending.length >= this.options.inFlightMax) {
      throw new UpstreamError('full', `Too many requests under way to upstream ${this.title}`);
    }
    const correlationId = this.nextCorrelationId;
    // Runs over from 2147483647 to -2147483648; brokers take both.
    this.nextCorrelationId = (correlationId + 1) | 0;
    frame.writeInt32BE(correlationId, CORRELATION_OFFSET_REQUEST);
    return new Promise<Buffer>((resolve, reject) => {
      const stopDeadline = timeoutMs === undefined ? noDeadline : this.deadline(timeoutMs);
      this.pending.push({ correlationId, resolve, reject, stopDeadline });
      this.write(frame);
    });
  }

  private deadline(timeoutMs: number): () => void {
    return this.options.clock.after(timeoutMs, () => {
      this.destroy('timeout', `Upstream ${this.title} did nothing for ${timeoutMs} ms`);
    });
  }

  private refuseIfClosed(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.isEnding) {
      throw new UpstreamError('lost', `Connection to upstream ${this.title} is being closed`);
    }
  }

  private write(frame: Buffer): void {
    if (!this.isCorked) {
      // What one turn brings goes out together.
      this.isCorked = true;
      this.socket.cork();
      process.nextTick(() => {
        this.isCorked = false;
        this.socket.uncork();
      });
    }
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeInt32BE(frame.length, 0);
    this.socket.write(length);
    this.socket.write(frame);
  }

  private take(chunk: Buffer): void {
    try {
      for (const frame of this.splitter.push(chunk)) this.answer(frame);
    } catch (error) {
      const reason = reasonOf(error);
      this.destroy('lost', `Bad frame from upstream ${this.title}: ${reason}`, error);
    }
  }

  private answer(frame: Buffer): void {
    const head = this.pending[0];
    const seen = frame.length < LENGTH_BYTES ? undefined : frame.readInt32BE(0);
    if (head === undefined || seen !== head.correlationId) {
      const wanted = head === undefined ? 'none' : head.correlationId;
      this.destroy(
        'lost',
        `Upstream ${this.title} answered request ${seen}, the oldest under way is ${wanted}`,
      );
      return;
    }
    this.pending.shift();
    head.stopDeadline();
    head.resolve(frame);
    if (this.isEnding && this.pending.length === 0) this.close();
  }

  private async negotiate(): Promise<BrokerVersions> {
    const { software, requestTimeoutMs, clientId } = this.options;
    const body = { clientSoftwareName: software.name, clientSoftwareVersion: software.version };
    for (let version = API_VERSIONS_MAX; ; ) {
      const framed = encodeRequestFrame(
        'ApiVersions',
        version,
        { correlationId: 0, clientId },
        body,
      );
      const answer = await this.exchange(framed.subarray(LENGTH_BYTES), requestTimeoutMs);
      const reader = new Reader(answer, LENGTH_BYTES);
      const error = new Reader(answer, LENGTH_BYTES).i16();
      if (error === UNSUPPORTED_VERSION && version > 0) {
        // Too new for the broker: it answers in version 0 and names what it has (KIP-511).
        version = fallback(decodeResponse('ApiVersions', 0, reader), version);
        continue;
      }
      if (error !== 0) {
        throw new UpstreamError('unreachable', `ApiVersions was answered with error ${error}`);
      }
      return brokerVersions(decodeResponse('ApiVersions', version, reader));
    }
  }

  private drained(): void {
    for (const resolve of this.drainWaiters.splice(0)) resolve();
  }

  private destroy(fault: 'lost' | 'timeout' | 'unreachable', text: string, cause?: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = new UpstreamError(fault, text, { cause });
    this.socket.destroy();
    this.finish();
  }

  private finish(): void {
    this.failure ??= new UpstreamError('lost', `Connection to upstream ${this.title} has ended`);
    for (const { reject, stopDeadline } of this.pending.splice(0)) {
      stopDeadline();
      reject(this.failure);
    }
    this.drained();
    for (const listener of this.closeListeners.splice(0)) listener();
  }
}

function fallback(answer: ResponseOf<'ApiVersions'>, tried: number): number {
  const own = answer.apiKeys.find((api) => api.apiKey === apis.ApiVersions.key);
  return own === undefined ? 0 : Math.min(own.maxVersion, tried - 1);
}

async function connected(address: Address, options: ConnectionOptions): Promise<Socket> {
  const title = `${address.host}:${address.port}`;
  return new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host: address.host, port: address.port });
    const fail = (text: string, cause?: unknown): void => {
      settled();
      socket.destroy();
      reject(new UpstreamError('unreachable', text, { cause }));
    };
    const stopDeadline = options.clock.after(options.connectTimeoutMs, () => {
      fail(`Cannot connect to upstream ${title}: no answer within ${options.connectTimeoutMs} ms`);
    });
    const stopWatching = whenAborted(options.signal, () => {
      fail(`Cannot connect to upstream ${title}: given up`);
    });
    const failed = (error: Error): void => {
      fail(`Cannot connect to upstream ${title}: ${error.message}`, error);
    };
    const settled = (): void => {
      stopDeadline();
      stopWatching();
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      settled();
      socket.off('error', failed);
      resolve(socket);
    });
  });
}

/** Calls back, soon, when the signal is aborted or was so before; the function given back takes that back. */
function whenAborted(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) process.nextTick(callback);
  else signal?.addEventListener('abort', callback);
  return () => signal?.removeEventListener('abort', callback);
}
