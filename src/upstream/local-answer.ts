import type { Handler, IncomingRequest } from '../server/dispatch.ts';
import type { ApiName, RequestInput, ResponseOf } from '../wire/apis.ts';
import { decodeRequestHeader, encodeRequestFrame } from '../wire/headers.ts';
import { decodeAnswer } from './decode-answer.ts';

const LENGTH_BYTES = 4;

/**
 * Lets a handler of this process answer a part of a request, as if the client had asked for that part alone.
 *
 * @throws Error when the handler gives no answer.
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
  return decodeAnswer(name, apiVersion, response).body;
}
