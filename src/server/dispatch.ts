import type { Log } from '../../actors/ports.ts';
import type { ApiName } from '../wire/apis.ts';
import { decodeRequestHeader } from '../wire/headers.ts';

/** The address clients of a listener are told, and which node they reach there. */
export type ListenerInfo = {
  /** `bootstrap`: a gateway's first address, which stands for no node in particular. */
  readonly nodeId: number | 'bootstrap';
  readonly host: string;
  readonly port: number;
};

/** One client connection as handlers see it. */
export interface ClientConnection {
  /** Unique in this process. */
  readonly id: number;
  /** Java's address text with its leading slash, as `/127.0.0.1`. */
  readonly clientHost: string;
  readonly principal: string;
  readonly listener: ListenerInfo;
  /** What the client said in ApiVersions; empty before that. */
  software: { readonly name: string; readonly version: string };
  readonly isClosed: boolean;
  /** True while the client leaves more answers unread than the limit allows; no request is taken meanwhile. */
  readonly isCongested: boolean;
  /** Calls back once, when the client takes answers again or is gone; at once if it does now. */
  whenTaking(callback: () => void): void;
  /** Calls back once, when the connection is gone; at once if it is. */
  onClose(callback: () => void): void;
  /**
   * Takes no further request until `settled` settles: for a handler that must wait before it hands its request on,
   * so that later requests of this connection do not overtake it. The wait needs a bound of its own.
   */
  holdUntil(settled: Promise<unknown>): void;
  /** Ends the connection: takes nothing more, sends the answers that are ready and in turn, closes. */
  closeSoon(reason: string): void;
}

/** One request, header read, body not. */
export type IncomingRequest = {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  /** Null in the header is the empty string here (wire.md 1.6). */
  readonly clientId: string;
  /** The whole frame without its length. */
  readonly frame: Buffer;
  /** Where the body begins in the frame. */
  readonly bodyOffset: number;
  readonly connection: ClientConnection;
  readonly tally: ErrorTally;
};

/** Counts the errors of answers that are made here. */
export interface ErrorTally {
  /** An answer carries this code; called once for each code of an answer. Cheap, never throws. */
  errorAnswered(api: ApiName, code: number): void;
}

/**
 * What becomes of a request: a whole response frame with its length, also in pieces; `none`: it is never answered
 * (Produce with acks 0); `close`: the connection ends when this request's turn to be answered comes.
 */
export type Answer = Buffer | readonly Buffer[] | 'none' | 'close';

export type Handler = (request: IncomingRequest) => Answer | Promise<Answer>;

/** Both ends included. */
export type VersionRange = { readonly min: number; readonly max: number };
/** What ApiVersions tells, by API key; nothing else is served. */
export type VersionTable = ReadonlyMap<number, VersionRange>;

export interface Dispatch {
  /** Takes one frame. Requests of one connection are handed to their handlers in the order of the calls. Never rejects. */
  handle(frame: Buffer, connection: ClientConnection): Answer | Promise<Answer>;
}

export type DispatchParts = {
  /** By API key. */
  readonly handlers: ReadonlyMap<number, Handler>;
  /** For keys that have a version range and no handler: a gateway passes them on. */
  readonly fallback?: Handler;
  readonly versions: (listener: ListenerInfo) => VersionTable;
  readonly log: Log;
  /** Left out: nobody counts. */
  readonly tally?: ErrorTally;
};

/** The body of a request does not decode: the client's mistake, not ours. */
export class MalformedRequest extends Error {
  override readonly name = 'MalformedRequest';
}

const NO_TALLY: ErrorTally = { errorAnswered: () => undefined };
const API_VERSIONS_KEY = 18;
const KEY_AND_VERSION_BYTES = 4;

/**
 * Finds the handler of each request.
 *
 * A key or version that was not advertised, a header or body that does not decode, and a handler that fails end the
 * connection with one log line; an answer is never made up. Key and version are judged before anything behind them is
 * read. ApiVersions is handed on in any version: its handler knows what to say (wire.md 2.4).
 *
 * Source: wire.md 1.6.
 */
export function createDispatch(parts: DispatchParts): Dispatch {
  const { handlers, fallback, versions, log, tally = NO_TALLY } = parts;

  function close(connection: ClientConnection, reason: string): 'close' {
    const fields = { connection: connection.id, client: connection.clientHost, reason };
    log.info(fields, 'Connection closed: bad request');
    return 'close';
  }

  function failed(request: IncomingRequest, error: unknown): 'close' {
    const { apiKey, apiVersion, connection } = request;
    if (error instanceof MalformedRequest) {
      return close(connection, `API key ${apiKey} version ${apiVersion}: ${error.message}`);
    }
    log.error({ err: error, apiKey, apiVersion, connection: connection.id }, 'Request failed');
    return 'close';
  }

  function handle(frame: Buffer, connection: ClientConnection): Answer | Promise<Answer> {
    if (frame.length < KEY_AND_VERSION_BYTES) {
      return close(connection, `A request of ${frame.length} bytes`);
    }
    const apiKey = frame.readInt16BE(0);
    const apiVersion = frame.readInt16BE(2);
    const range = versions(connection.listener).get(apiKey);
    if (range === undefined) return close(connection, `API key ${apiKey} is not served`);
    if (apiKey !== API_VERSIONS_KEY && (apiVersion < range.min || apiVersion > range.max)) {
      const served = `${range.min} to ${range.max}`;
      return close(connection, `API key ${apiKey}: version ${apiVersion}, served are ${served}`);
    }
    const handler = handlers.get(apiKey) ?? fallback;
    if (handler === undefined) return close(connection, `API key ${apiKey} has no handler`);
    let request: IncomingRequest;
    try {
      const { correlationId, clientId, bodyOffset } = decodeRequestHeader(frame);
      request = {
        apiKey,
        apiVersion,
        correlationId,
        clientId: clientId ?? '',
        frame,
        bodyOffset,
        connection,
        tally,
      };
    } catch (error) {
      return close(connection, `Header: ${String(error)}`);
    }
    try {
      const answer = handler(request);
      return answer instanceof Promise ? answer.catch((error) => failed(request, error)) : answer;
    } catch (error) {
      return failed(request, error);
    }
  }

  return { handle };
}
