import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../../actors/ports.ts';
import type { HostPort } from '../config/host-port.ts';
import { HttpError } from './http-error.ts';
import { type AdminSources, answerAdmin, type HttpAnswer } from './routes.ts';
import type { ErrorAnswer } from './views.ts';

/** What an admin server stands on. */
export type AdminOptions = AdminSources & {
  /** Port 0: any that is free. */
  readonly listen: HostPort;
  readonly log: Log;
  /** A request that takes longer is answered with 503. */
  readonly answerTimeoutMs?: number;
};

/** An admin server that listens. */
export interface AdminServer {
  readonly address: HostPort;
  /** Stops listening, lets answers under way out for a moment, then cuts off what is left. */
  close(): Promise<void>;
}

/** It could not listen; the message is one clear line. */
export class AdminListenError extends Error {
  override readonly name = 'AdminListenError';
}

const ANSWER_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 5_000;
const HEADER_BYTES_MAX = 8 * 1_024;
const CONNECTIONS_MAX = 100;
const CLOSE_GRACE_MS = 1_000;

/**
 * Opens the HTTP server for operators: metrics, health, live states, the journal, charts. It only answers GET and reads no
 * body; everything it says is read-only.
 *
 * @throws {AdminListenError} when the address cannot be had.
 */
export async function openAdminServer(options: AdminOptions): Promise<AdminServer> {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: HEADERS_TIMEOUT_MS,
      // Node looks at these limits twice a minute by default; half requests would hold every place meanwhile.
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      void answer(request, options).then((made) => write(request, response, made));
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, options.listen);
  const { address, port } = server.address() as AddressInfo;
  return { address: { host: address, port }, close: () => close(server) };
}

function listen(server: Server, { host, port }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
      const message = `Cannot listen on ${host}:${port} for the admin server: ${reason} (--admin-port)`;
      reject(new AdminListenError(message, { cause }));
    });
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** Never rejects: whatever goes wrong is an answer. */
async function answer(request: IncomingMessage, options: AdminOptions): Promise<HttpAnswer> {
  try {
    refuseUnlessPlainGet(request);
    const timeoutMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
    return await within(timeoutMs, answerAdmin(request.url ?? '/', options));
  } catch (error) {
    if (error instanceof HttpError) return errorAnswer(error.status, error.message);
    options.log.error({ error, url: request.url }, 'Admin request failed');
    return errorAnswer(500, 'Cannot answer: an unexpected failure, which the log tells');
  }
}

function refuseUnlessPlainGet({ method, headers }: IncomingMessage): void {
  if (method !== 'GET') throw new HttpError(405, `Cannot ${method}: only GET is answered here`);
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0) {
    throw new HttpError(400, 'Cannot take a body: GET has none here');
  }
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new HttpError(503, `Cannot answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function errorAnswer(status: number, error: string): HttpAnswer {
  const body: ErrorAnswer = { error };
  const contentType = 'application/json; charset=utf-8';
  return { status, contentType, body: `${JSON.stringify(body)}\n` };
}

function write(
  request: IncomingMessage,
  response: ServerResponse,
  { status, contentType, body }: HttpAnswer,
): void {
  // A body that nobody reads would be taken for the next request: end the connection with the answer.
  const refused = status === 400 || status === 405;
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(refused ? { connection: 'close' } : {}),
    ...(status === 405 ? { allow: 'GET' } : {}),
  });
  response.end(body, () => {
    if (refused) request.destroy();
  });
}
