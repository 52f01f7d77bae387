import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ApiName, RequestInput, ResponseOf } from '../../src/wire/apis.ts';
import { apis, decodeResponse } from '../../src/wire/apis.ts';
import { FrameSplitter } from '../../src/wire/frame.ts';
import { decodeResponseHeader, encodeRequestFrame } from '../../src/wire/headers.ts';
import { Reader } from '../../src/wire/reader.ts';

/** A client on a real socket that says exactly what it is told to, good or bad, and keeps what comes back. */
export class WireClient {
  readonly socket: Socket;
  readonly frames: Buffer[] = [];
  /** Settles when the server has ended or reset the connection. */
  readonly closed: Promise<void>;
  isClosed = false;
  private readonly splitter = new FrameSplitter(2 ** 31 - 1);
  private wake: (() => void)[] = [];
  private correlationId = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.frames.push(...this.splitter.push(chunk));
      this.tell();
    });
    // A reset is what some tests are about.
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      const done = () => {
        this.isClosed = true;
        this.tell();
        resolve();
      };
      socket.once('end', done);
      socket.once('close', done);
    });
  }

  static async connect(
    port: number,
    options: { allowHalfOpen?: boolean } = {},
  ): Promise<WireClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...options });
    await once(socket, 'connect');
    return new WireClient(socket);
  }

  write(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The bytes of a request; its correlation id is the number of requests made before. */
  request<N extends ApiName>(name: N, version: number, body: RequestInput<N>): Buffer {
    const correlationId = this.correlationId;
    this.correlationId += 1;
    return encodeRequestFrame(name, version, { correlationId, clientId: 'c' }, body);
  }

  /** Waits for `count` more frames, or fewer if the connection ends. */
  async take(count: number): Promise<Buffer[]> {
    while (this.frames.length < count && !this.isClosed) {
      await new Promise<void>((resolve) => this.wake.push(resolve));
    }
    return this.frames.splice(0, count);
  }

  async call<N extends ApiName>(
    name: N,
    version: number,
    body: RequestInput<N>,
  ): Promise<ResponseOf<N>> {
    this.write(this.request(name, version, body));
    const [frame] = await this.take(1);
    if (frame === undefined) throw new Error('The connection ended without an answer');
    return decodeAnswer(name, version, frame);
  }

  /** Resolves once everything written has been handed to the system. */
  async flushed(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.write(Buffer.alloc(0), () => resolve()));
  }

  destroy(): void {
    this.socket.destroy();
  }

  private tell(): void {
    const waiting = this.wake;
    this.wake = [];
    for (const resolve of waiting) resolve();
  }
}

/** Reads an answer of that API and version. */
export function decodeAnswer<N extends ApiName>(
  name: N,
  version: number,
  frame: Buffer,
): ResponseOf<N> {
  const { bodyOffset } = decodeResponseHeader(frame, apis[name].key, version);
  return decodeResponse(name, version, new Reader(frame, bodyOffset));
}
