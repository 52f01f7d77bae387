import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ErrorAnswer } from '../admin/views.ts';
import { formatHostPort, type HostPort } from '../config/host-port.ts';
import { CommandError } from './command-io.ts';

const TIMEOUT_MS = 15_000;

type HttpAnswer = { readonly status: number; readonly body: string };

/**
 * Asks an admin server.
 *
 * @param path with its query; segments and values already escaped.
 * @returns the answer's JSON; the caller says which answer that path gives.
 * @throws {CommandError} in one line that names the server: nobody there, no answer in time, or what it said.
 */
export async function askAdmin<T>(admin: HostPort, path: string): Promise<T> {
  const { status, body: json } = await getWithin(admin, path);
  const body = parsed(json);
  if (status === 200 && body !== undefined) return body as T;
  const reason = isErrorAnswer(body) ? body.error : `status ${status} and no reason`;
  throw new CommandError(`${reason} (--admin ${formatHostPort(admin)})`);
}

async function getWithin(admin: HostPort, path: string): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await get(admin, path, signal);
  } catch (error) {
    const reason = signal.aborted ? `no answer within ${TIMEOUT_MS} ms` : reasonOf(error);
    const place = formatHostPort(admin);
    throw new CommandError(`Cannot reach the admin server at ${place}: ${reason} (--admin)`);
  }
}

/** By a plain request: `fetch` refuses ports that browsers keep away from, and a server may listen on any. */
async function get(
  { host, port }: HostPort,
  path: string,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host, port, path, signal, agent: false }, resolve).once('error', reject).end();
  });
  const body = await text(answer).catch((cause: unknown) => {
    throw new Error('the connection ended within the answer', { cause });
  });
  return { status: answer.statusCode ?? 0, body };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** What the codes of a request's failure mean; what is missing has a message of its own. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'what listens there speaks no HTTP',
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('HPE_')) return 'what listens there speaks no HTTP';
  return REASONS[code] ?? error.message;
}

function isErrorAnswer(body: unknown): body is ErrorAnswer {
  return typeof body === 'object' && body !== null && 'error' in body;
}
