import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../actors/ports.ts';

export type ProblemFolderBounds = {
  readonly filesMax: number;
  /** Of all files together; a file that alone is larger is not kept. */
  readonly bytesMax: number;
  /** Files that may wait to be written; one more is not kept. */
  readonly waitingMax: number;
};

const BOUNDS: ProblemFolderBounds = {
  filesMax: 20,
  bytesMax: 64 * 1_024 * 1_024,
  waitingMax: 3,
};
/** What is written at once; between two such parts everybody else has their turn. */
const PART_BYTES = 16 * 1_024;
/** Names that this class gives: other files are left alone. By name means by age. */
const OURS = /^\d{8}T\d{9}Z-\d+-.*\.json(\.part)?$/;
const UNFINISHED = '.part';
const LABEL_MAX = 60;

/** What is waited for when files are written: a text in pieces, each made when it is asked for. */
type Job = { readonly file: string; readonly pieces: Iterable<string> };

/**
 * A folder of problem files with a bound on their number and size: the oldest go. Files appear whole or not at all. Writing
 * happens behind, one file after the other, and what goes wrong there is a warning and nothing else.
 */
export class ProblemFolder {
  readonly #folder: string;
  readonly #log: Pick<Log, 'warn'>;
  readonly #bounds: ProblemFolderBounds;
  #written = Promise.resolve();
  #waiting = 0;
  #number = 0;

  /** @param options.folder made when the first file comes; the folder above it is there. */
  constructor(options: {
    readonly folder: string;
    readonly log: Pick<Log, 'warn'>;
    readonly bounds?: Partial<ProblemFolderBounds>;
  }) {
    this.#folder = options.folder;
    this.#log = options.log;
    this.#bounds = { ...BOUNDS, ...options.bounds };
  }

  /**
   * Takes a file and returns at once.
   *
   * @param label what the name tells beside the time; characters that not every file system takes are replaced.
   * @param pieces must stay what they are until they are read.
   * @returns the file's path; undefined when too many are waiting to be written, and this one is not kept.
   */
  keep(label: string, atMs: number, pieces: Iterable<string>): string | undefined {
    if (this.#waiting >= this.#bounds.waitingMax) return undefined;
    const time = new Date(atMs).toISOString().replaceAll(/[-:.]/g, '');
    const words = label.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, LABEL_MAX);
    const name = `${time}-${++this.#number}-${words}.json`;
    const file = join(this.#folder, name);
    this.#waiting++;
    this.#written = this.#written
      .then(() => this.#write({ file, pieces }))
      .catch((error: unknown) => {
        this.#log.warn({ error, file }, 'Problem file could not be written');
      })
      .finally(() => {
        this.#waiting--;
      });
    return file;
  }

  /** Resolves when everything taken so far is written, or has failed to be. */
  idle(): Promise<void> {
    return this.#written;
  }

  async #write({ file, pieces }: Job): Promise<void> {
    await mkdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const unfinished = file + UNFINISHED;
    try {
      const bytes = await writeParts(unfinished, pieces, this.#bounds.bytesMax);
      await this.#makeRoom(bytes, unfinished);
      await rename(unfinished, file);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  /** Removes what a process left unfinished, and the oldest files until there is room for one more. */
  async #makeRoom(bytes: number, beside: string): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => OURS.test(name)).sort();
    const kept: { readonly file: string; readonly size: number }[] = [];
    for (const name of names) {
      const file = join(this.#folder, name);
      if (file === beside) continue;
      if (name.endsWith(UNFINISHED)) await rm(file, { force: true });
      else kept.push({ file, size: (await stat(file)).size });
    }
    let total = kept.reduce((sum, { size }) => sum + size, bytes);
    for (const [at, { file, size }] of kept.entries()) {
      if (kept.length - at < this.#bounds.filesMax && total <= this.#bounds.bytesMax) return;
      await rm(file, { force: true });
      total -= size;
    }
  }
}

/** Writes and syncs a file, part by part. Rejects when it grows above the bound. @returns its bytes. */
async function writeParts(
  file: string,
  pieces: Iterable<string>,
  bytesMax: number,
): Promise<number> {
  const handle = await open(file, 'w');
  try {
    let bytes = 0;
    let part = '';
    const flush = async () => {
      const data = Buffer.from(part);
      part = '';
      bytes += data.length;
      if (bytes > bytesMax) {
        throw new Error(`The problem takes more than ${bytesMax} bytes: wanted at most that`);
      }
      await handle.writeFile(data);
    };
    for (const piece of pieces) {
      part += piece;
      if (part.length >= PART_BYTES) await flush();
    }
    await flush();
    await handle.sync();
    return bytes;
  } finally {
    await handle.close();
  }
}
