import type { ApiName, ResponseOf } from '../wire/apis.ts';
import { apis, decodeResponse } from '../wire/apis.ts';
import { decodeResponseHeader } from '../wire/headers.ts';
import { Reader } from '../wire/reader.ts';
import { reasonOf, UpstreamError } from './upstream-error.ts';

/**
 * Reads a whole answer.
 *
 * @param answer the frame without its length.
 * @throws UpstreamError (`refused`) when the bytes are no such answer.
 */
export function decodeAnswer<N extends ApiName>(
  name: N,
  version: number,
  answer: Buffer,
): { readonly correlationId: number; readonly body: ResponseOf<N> } {
  try {
    const { correlationId, bodyOffset } = decodeResponseHeader(answer, apis[name].key, version);
    const body = decodeResponse(name, version, new Reader(answer, bodyOffset));
    return { correlationId, body };
  } catch (error) {
    const text = `Cannot read the answer to ${name} ${version}: ${reasonOf(error)}`;
    throw new UpstreamError('refused', text, { cause: error });
  }
}
