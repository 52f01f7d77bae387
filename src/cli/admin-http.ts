import type { ErrorAnswer } from '../admin/views.ts';
import { formatHostPort, type HostPort } from '../config/host-port.ts';
import { CommandError } from './command-io.ts';

const TIMEOUT_MS = 15_000;

/**
 * Asks an admin server.
 *
 * @param path with its query; segments and values already escaped.
 * @returns the answer's JSON; the caller says which answer that path gives.
 * @throws {CommandError} in one line: nobody there, no answer in time, or what the server said.
 */
export async function askAdmin<T>(admin: HostPort, path: string): Promise<T> {
  const place = formatHostPort(admin);
  const response = await fetchWithin(`http://${place}${path}`, place);
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  const reason = isErrorAnswer(body) ? body.error : `status ${response.status} and no reason`;
  throw new CommandError(reason);
}

async function fetchWithin(url: string, place: string): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const reason = reasonOf(error);
    throw new CommandError(`Cannot reach the admin server at ${place}: ${reason} (--admin)`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS} ms`;
  const { code } = (error.cause ?? {}) as { readonly code?: unknown };
  return code === 'ECONNREFUSED' ? 'nobody listens there' : 'what listens there speaks no HTTP';
}

function isErrorAnswer(body: unknown): body is ErrorAnswer {
  return typeof body === 'object' && body !== null && 'error' in body;
}
