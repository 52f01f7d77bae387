import type { Handler, IncomingRequest } from '../server/dispatch.ts';
import type { ApiName, RequestInput, ResponseOf } from '../wire/apis.ts';
import { apis, decodeResponse } from '../wire/apis.ts';
import { decodeRequestHeader, decodeResponseHeader, encodeRequestFrame } from '../wire/headers.ts';
import { Reader } from '../wire/reader.ts';

const LENGTH_BYTES = 4;

/**
 * Lets a handler of this process answer a part of a request, as if the client had asked for that part alone.
 *
 * @throws Error when the handler gives no answer; WireError as decoding does.
 */
export async function answerLocally<N extends ApiName>(
  handler: Handler,
  name: N,
  request: IncomingRequest,
  body: RequestInput<N>,
): Promise<ResponseOf<N>> {
  const { apiVersion, correlationId, clientId } = request;
  const framed = encodeRequestFrame(name, apiVersion, { correlationId, clientId }, body);
  const frame = framed.subarray(LENGTH_BYTES);
  const { bodyOffset } = decodeRequestHeader(frame);
  const answer = await handler({ ...request, frame, bodyOffset });
  if (typeof answer === 'string') throw new Error(`No answer to ${name} from its handler`);
  const whole = Buffer.isBuffer(answer) ? answer : Buffer.concat([...answer]);
  const response = whole.subarray(LENGTH_BYTES);
  const header = decodeResponseHeader(response, apis[name].key, apiVersion);
  return decodeResponse(name, apiVersion, new Reader(response, header.bodyOffset));
}
