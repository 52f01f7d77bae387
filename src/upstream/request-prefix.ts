import type { IncomingRequest } from '../server/dispatch.ts';
import { MalformedRequest } from '../server/dispatch.ts';
import { Reader } from '../wire/reader.ts';
import { reasonOf } from './upstream-error.ts';

/**
 * Reads the first fields of a request's body and leaves the rest alone.
 *
 * @throws MalformedRequest when they are not there.
 */
export function readPrefix<T>(incoming: IncomingRequest, read: (reader: Reader) => T): T {
  try {
    return read(new Reader(incoming.frame, incoming.bodyOffset));
  } catch (error) {
    throw new MalformedRequest(reasonOf(error));
  }
}
