import { connect, type Socket } from 'node:net';
import { VERSION } from '../version.ts';
import {
  type ApiName,
  apis,
  decodeResponse,
  type RequestInput,
  type ResponseOf,
} from '../wire/apis.ts';
import { errorName } from '../wire/errors.ts';
import { FrameSplitter } from '../wire/frame.ts';
import { decodeResponseHeader, encodeRequestFrame } from '../wire/headers.ts';
import { Reader } from '../wire/reader.ts';
import { ClientError, type ClientFailure } from './client-error.ts';

/** Where a broker listens. */
export type BrokerAddress = { readonly host: string; readonly port: number };

export type ConnectionOptions = {
  readonly clientId: string;
  /** For the connection with its handshake, ms. */
  readonly connectTimeoutMs?: number;
  /** For one answer, ms, unless a request says otherwise. */
  readonly requestTimeoutMs?: number;
};

export type RequestOptions = {
  /** Undefined: the highest that both sides know. */
  readonly version?: number;
  readonly timeoutMs?: number;
};

type Range = { readonly minVersion: number; readonly maxVersion: number };
type Pending = {
  readonly correlationId: number;
  readonly settle: (outcome: Buffer | ClientError) => void;
};

const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Requests that wait for their answers; one more is refused. */
const PENDING_MAX = 1_000;
const RESPONSE_BYTES_MAX = 100 * 1_024 * 1_024;
const CORRELATION_MASK = 0x7fff_ffff;
/** Version 5 would name a cluster and node to be checked; 0 is what a broker answers a version it does not know. */
const API_VERSIONS_VERSION = 4;
const UNSUPPORTED_VERSION = 35;
const SOFTWARE = { clientSoftwareName: 'headgate', clientSoftwareVersion: VERSION };

/**
 * One connection to a broker: requests go out at once, however many are under way; answers come in their order. When
 * it ends, everything outstanding fails.
 */
export class ClientConnection {
  readonly address: BrokerAddress;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #splitter = new FrameSplitter(RESPONSE_BYTES_MAX);
  #pending: Pending[] = [];
  #nextCorrelationId = 0;
  #versions: ReadonlyMap<number, Range> = new Map();
  #ended: ClientError | undefined;

  private constructor(address: BrokerAddress, socket: Socket, options: ConnectionOptions) {
    this.address = address;
    this.#socket = socket;
    this.#options = options;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (cause) => this.#end('lost', `was lost: ${cause.message}`, cause));
    socket.on('close', () => this.#end('lost', 'was closed by the other side'));
  }

  /**
   * Connects and learns which versions the broker knows.
   *
   * @throws {ClientError} `unreachable`, or `protocol` when the peer is no Kafka broker.
   */
  static async open(address: BrokerAddress, options: ConnectionOptions): Promise<ClientConnection> {
    const timeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    const socket = await connected(address, timeoutMs);
    const connection = new ClientConnection(address, socket, options);
    try {
      connection.#versions = await connection.#handshake(timeoutMs);
      return connection;
    } catch (cause) {
      connection.close();
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `Cannot speak to ${title(address)} as to a Kafka broker: ${reason}`;
      throw new ClientError('protocol', message, { cause });
    }
  }

  /**
   * The highest version of an API that both sides know, at most `cap`.
   *
   * @throws {ClientError} `protocol` when there is none.
   */
  version(name: ApiName, cap = Number.MAX_SAFE_INTEGER): number {
    const theirs = this.#versions.get(apis[name].key);
    const { minVersion, maxVersion } = apis[name];
    const version = Math.min(theirs?.maxVersion ?? -1, maxVersion, cap);
    if (theirs === undefined || version < Math.max(theirs.minVersion, minVersion)) {
      const seen = theirs === undefined ? 'none' : `${theirs.minVersion} to ${theirs.maxVersion}`;
      throw new ClientError(
        'protocol',
        `Cannot send ${name} to ${title(this.address)}: it knows versions ${seen}, wanted one of ${minVersion} to ${Math.min(maxVersion, cap)}`,
      );
    }
    return version;
  }

  /** Sends a request and gives its answer, whatever error that carries. Rejects with {@link ClientError}. */
  async request<N extends ApiName>(
    name: N,
    body: RequestInput<N>,
    options: RequestOptions = {},
  ): Promise<ResponseOf<N>> {
    const version = options.version ?? this.version(name);
    const timeoutMs = options.timeoutMs ?? this.#options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const frame = await this.#roundTrip(name, version, body, timeoutMs);
    return this.#decoded(name, version, frame);
  }

  /** Closes at once; what is outstanding fails. */
  close(): void {
    this.#end('lost', 'was closed');
  }

  async #handshake(timeoutMs: number): Promise<ReadonlyMap<number, Range>> {
    const ask = (version: number) => this.request('ApiVersions', SOFTWARE, { version, timeoutMs });
    let answer = await ask(API_VERSIONS_VERSION);
    if (answer.errorCode === UNSUPPORTED_VERSION) {
      // The refusal comes in version 0, and so may the range of what would be known.
      answer = await ask(0);
    }
    if (answer.errorCode !== 0) throw new Error(`ApiVersions: ${errorName(answer.errorCode)}`);
    return new Map(answer.apiKeys.map((range) => [range.apiKey, range]));
  }

  #roundTrip<N extends ApiName>(
    name: N,
    version: number,
    body: RequestInput<N>,
    timeoutMs: number,
  ): Promise<Buffer> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#pending.length >= PENDING_MAX) {
      const message = `Cannot send ${name} to ${title(this.address)}: ${PENDING_MAX} requests wait already`;
      return Promise.reject(new ClientError('refused', message));
    }
    const correlationId = this.#nextCorrelationId;
    this.#nextCorrelationId = (correlationId + 1) & CORRELATION_MASK;
    const header = { correlationId, clientId: this.#options.clientId };
    const frame = encodeRequestFrame(name, version, header, body);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        // Answers carry no name of their own: once one is given up, those behind it cannot be trusted to come.
        this.#end('timeout', `gave no answer to ${name} within ${timeoutMs} ms`);
      }, timeoutMs);
      const settle = (outcome: Buffer | ClientError) => {
        clearTimeout(timer);
        if (outcome instanceof ClientError) reject(outcome);
        else resolve(outcome);
      };
      this.#pending.push({ correlationId, settle });
      this.#socket.write(frame);
    });
  }

  #take(chunk: Buffer): void {
    try {
      for (const frame of this.#splitter.push(chunk)) {
        const [next] = this.#pending;
        const correlationId = frame.readInt32BE(0);
        if (correlationId !== next?.correlationId) {
          throw new Error(
            `correlation id ${correlationId} seen, ${next?.correlationId ?? 'none'} wanted`,
          );
        }
        this.#pending.shift();
        next.settle(frame);
      }
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#end('protocol', `sent what is no answer: ${reason}`, cause);
    }
  }

  #decoded<N extends ApiName>(name: N, version: number, frame: Buffer): ResponseOf<N> {
    try {
      // A refused ApiVersions is answered in version 0, whatever was asked.
      const isRefused = name === 'ApiVersions' && frame.readInt16BE(4) === UNSUPPORTED_VERSION;
      const answered = isRefused ? 0 : version;
      const { bodyOffset } = decodeResponseHeader(frame, apis[name].key, answered);
      return decodeResponse(name, answered, new Reader(frame, bodyOffset));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `Cannot read the answer to ${name} from ${title(this.address)}: ${reason}`;
      throw new ClientError('protocol', message, { cause });
    }
  }

  #end(failure: ClientFailure, what: string, cause?: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = new ClientError(failure, `The connection to ${title(this.address)} ${what}`, {
      cause,
    });
    const pending = this.#pending;
    this.#pending = [];
    for (const { settle } of pending) settle(this.#ended);
    this.#socket.destroy();
  }
}

function connected(address: BrokerAddress, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const fail = (reason: string, cause?: unknown) => {
      socket.destroy();
      const message = `Cannot connect to ${title(address)}: ${reason}`;
      reject(new ClientError('unreachable', message, { cause }));
    };
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs);
    const failed = (cause: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      fail(cause.code === 'ECONNREFUSED' ? 'nobody listens there' : cause.message, cause);
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', failed);
      resolve(socket);
    });
  });
}

/** An address in messages. */
export function title({ host, port }: BrokerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
