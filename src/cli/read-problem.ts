import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { HostPort } from '../config/host-port.ts';
import type { Cell } from '../problem/cell.ts';
import { CELL_BYTES_MAX, parseCell, readCell } from '../problem/read-cell.ts';
import { CellError } from '../problem/shape.ts';
import { askAdmin } from './admin-http.ts';
import { CommandError, type CommandIo } from './command-io.ts';
import { whyUnreadable } from './file-reason.ts';

/** A problem file, `-` for standard input; or else the live group to ask the admin server for. */
export type ProblemSource =
  | { readonly file: string }
  | { readonly group: string; readonly admin: HostPort };

/** The file that is standard input. */
const STANDARD_INPUT = '-';

/** @throws {CommandError} in one line, that says what is wrong with it, or with getting it. */
export async function readProblem(from: ProblemSource, io: CommandIo): Promise<Cell> {
  if (!('file' in from)) return askFor(from);
  const { file } = from;
  const isInput = file === STANDARD_INPUT;
  try {
    return parseCell(isInput ? await readInput(io) : readFile(file));
  } catch (error) {
    throw new CommandError(
      `Cannot read ${isInput ? 'standard input' : file}: ${whyUnreadable(error)}`,
    );
  }
}

/** The file as text; one that gzip packed is unpacked. */
function readFile(file: string): string {
  const { size } = statSync(file);
  if (size > CELL_BYTES_MAX) {
    throw new CellError(`It is ${size} bytes long: wanted at most ${CELL_BYTES_MAX}`);
  }
  return unpacked(readBounded(file));
}

const PART_BYTES = 1 << 20;

/** What is no regular file does not tell its size, and may have no end. */
function readBounded(file: string): Buffer {
  const parts: Buffer[] = [];
  const descriptor = openSync(file, 'r');
  try {
    for (let size = 0; ; ) {
      const part = Buffer.allocUnsafe(PART_BYTES);
      const length = readSync(descriptor, part);
      if (length === 0) return Buffer.concat(parts);
      size += length;
      if (size > CELL_BYTES_MAX) throw tooLong();
      parts.push(part.subarray(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
}

function tooLong(): CellError {
  return new CellError(`It is longer than ${CELL_BYTES_MAX} bytes: wanted at most that`);
}

const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);

/** No packed text makes more of itself than an unpacked one may be. */
function unpacked(bytes: Buffer): string {
  if (!bytes.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return bytes.toString('utf8');
  try {
    return gunzipSync(bytes, { maxOutputLength: CELL_BYTES_MAX }).toString('utf8');
  } catch (cause) {
    const isTooLong = cause instanceof RangeError;
    const reason = isTooLong ? `wanted at most ${CELL_BYTES_MAX} bytes in it` : reasonOf(cause);
    throw new CellError(`It is packed by gzip and cannot be unpacked: ${reason}`);
  }
}

async function readInput(io: CommandIo): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of io.input()) {
    size += part.length;
    if (size > CELL_BYTES_MAX) throw tooLong();
    parts.push(part);
  }
  return unpacked(Buffer.concat(parts));
}

async function askFor({ group, admin }: { group: string; admin: HostPort }): Promise<Cell> {
  const value = await askAdmin<unknown>(admin, `/groups/${encodeURIComponent(group)}/problem`);
  try {
    return readCell(value);
  } catch (error) {
    throw new CommandError(`Cannot read the problem of group "${group}": ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
