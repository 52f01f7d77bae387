import type { ApiName, RequestOf, ResponseInput } from '../wire/apis.ts';
import { apis, decodeRequest } from '../wire/apis.ts';
import { errorsIn } from '../wire/errors-in.ts';
import { encodeResponseFrame } from '../wire/headers.ts';
import { Reader } from '../wire/reader.ts';
import type { Handler, IncomingRequest } from './dispatch.ts';
import { MalformedRequest } from './dispatch.ts';

/**
 * Answers one API in terms of its messages. The request is decoded; fields that its version lacks have their default.
 * The answer must hold no field that the version lacks, unless that may be dropped (wire.md 1.5).
 */
export type Answering<N extends ApiName> = (
  request: RequestOf<N>,
  incoming: IncomingRequest,
) => ResponseInput<N> | Promise<ResponseInput<N>>;

/** Reads the body of a request of that API. Throws {@link MalformedRequest}. */
export function decodeBody<N extends ApiName>(name: N, incoming: IncomingRequest): RequestOf<N> {
  try {
    const reader = new Reader(incoming.frame, incoming.bodyOffset);
    return decodeRequest(name, incoming.apiVersion, reader);
  } catch (error) {
    throw new MalformedRequest(error instanceof Error ? error.message : String(error));
  }
}

/**
 * The frame of an answer that is made here; its errors are counted. What upstream answered and is only put together
 * anew is not for this function: its errors are none of ours.
 */
export function reply<N extends ApiName>(
  name: N,
  { apiVersion, correlationId, tally }: IncomingRequest,
  body: ResponseInput<N>,
): Buffer {
  for (const code of errorsIn(name, body)) tally.errorAnswered(name, code);
  return encodeResponseFrame(name, apiVersion, correlationId, body);
}

/** An entry of the dispatch's table: decodes, lets answer, encodes. */
export function bind<N extends ApiName>(name: N, answer: Answering<N>): readonly [number, Handler] {
  const handler: Handler = (incoming) => {
    const body = answer(decodeBody(name, incoming), incoming);
    if (!(body instanceof Promise)) return reply(name, incoming, body);
    return body.then((ready) => reply(name, incoming, ready));
  };
  return [apis[name].key, handler];
}
