import type { ApiName, RequestInput, ResponseInput } from './apis.ts';
import { apis, encodeRequest, encodeResponse, isFlexibleApi } from './apis.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/** What stands before every request body. */
export type RequestHeader = {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  /** A broker takes null for the empty string (wire.md 1.6). */
  readonly clientId: string | null;
  /** Where the body begins, counted from the start of the frame without its length. */
  readonly bodyOffset: number;
};

export type ResponseHeader = {
  readonly correlationId: number;
  readonly bodyOffset: number;
};

const API_VERSIONS_KEY = apis.ApiVersions.key;
const LENGTH_BYTES = 4;
/** A scratch buffer that grew beyond this is given away with the frame in it instead of copied. */
const SCRATCH_BYTES_MAX = 1 << 20;

/** 2 when the version of the API is flexible, else 1. An unknown ApiVersions version counts as flexible. */
export function requestHeaderVersion(apiKey: number, apiVersion: number): 1 | 2 {
  return isFlexibleApi(apiKey, apiVersion) ? 2 : 1;
}

/** 1 when the version of the API is flexible, else 0; for ApiVersions always 0 (wire.md 1.2). */
export function responseHeaderVersion(apiKey: number, apiVersion: number): 0 | 1 {
  return apiKey !== API_VERSIONS_KEY && isFlexibleApi(apiKey, apiVersion) ? 1 : 0;
}

/**
 * Reads the header of a request frame.
 *
 * @param frame the frame without its length.
 * @throws WireError when it is cut short or its tags are; an unknown key or version is the caller's to judge.
 */
export function decodeRequestHeader(frame: Buffer): RequestHeader {
  return readRequestHeader(new Reader(frame));
}

/** As {@link decodeRequestHeader}, at a reader's place; `version` overrides what key and version of the API say. */
export function readRequestHeader(reader: Reader, version?: 1 | 2): RequestHeader {
  const apiKey = reader.i16();
  const apiVersion = reader.i16();
  const correlationId = reader.i32();
  // The client id has its old form in every header version.
  const clientId = reader.nullableStr();
  if ((version ?? requestHeaderVersion(apiKey, apiVersion)) === 2) reader.skipTags();
  return { apiKey, apiVersion, correlationId, clientId, bodyOffset: reader.offset };
}

/** Appends a request header. */
export function writeRequestHeader(
  writer: Writer,
  header: Omit<RequestHeader, 'bodyOffset'>,
  version: 1 | 2 = requestHeaderVersion(header.apiKey, header.apiVersion),
): void {
  writer.i16(header.apiKey);
  writer.i16(header.apiVersion);
  writer.i32(header.correlationId);
  writer.nullableStr(header.clientId);
  if (version === 2) writer.uvarint(0);
}

/** Reads the header of a response frame; which API and version it answers only the asker knows. */
export function decodeResponseHeader(
  frame: Buffer,
  apiKey: number,
  apiVersion: number,
): ResponseHeader {
  return readResponseHeader(new Reader(frame), responseHeaderVersion(apiKey, apiVersion));
}

/** As {@link decodeResponseHeader}, at a reader's place. */
export function readResponseHeader(reader: Reader, version: 0 | 1): ResponseHeader {
  const correlationId = reader.i32();
  if (version === 1) reader.skipTags();
  return { correlationId, bodyOffset: reader.offset };
}

/** Appends a response header. */
export function writeResponseHeader(writer: Writer, correlationId: number, version: 0 | 1): void {
  writer.i32(correlationId);
  if (version === 1) writer.uvarint(0);
}

let scratch = new Writer();

/** Frames what `write` writes: four bytes of length first, in a buffer of its own. */
function frame(write: (writer: Writer) => void): Buffer {
  const writer = scratch;
  writer.reset();
  const start = writer.reserveI32();
  write(writer);
  writer.patchI32(start, writer.offset - LENGTH_BYTES);
  if (writer.offset <= SCRATCH_BYTES_MAX) return writer.copy();
  scratch = new Writer();
  return writer.finish();
}

/**
 * A whole response, length included, ready to be written to the socket.
 *
 * @throws WireError as `encodeResponse`.
 */
export function encodeResponseFrame<N extends ApiName>(
  name: N,
  version: number,
  correlationId: number,
  body: ResponseInput<N>,
): Buffer {
  const headerVersion = responseHeaderVersion(apis[name].key, version);
  return frame((writer) => {
    writeResponseHeader(writer, correlationId, headerVersion);
    encodeResponse(name, version, body, writer);
  });
}

/** A whole request, length included, ready to be written to the socket. */
export function encodeRequestFrame<N extends ApiName>(
  name: N,
  version: number,
  header: Pick<RequestHeader, 'correlationId' | 'clientId'>,
  body: RequestInput<N>,
): Buffer {
  const { key } = apis[name];
  return frame((writer) => {
    writeRequestHeader(writer, { apiKey: key, apiVersion: version, ...header });
    encodeRequest(name, version, body, writer);
  });
}
