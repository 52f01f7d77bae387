import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it that are missing, one at a time: where the file system refuses new folders without a
 * reason (`/proc`), Node's own recursive way goes round without end and keeps a thread for itself.
 *
 * Rejects with what the file system says, or with an error that says that a file is in the way.
 */
export async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(folder); !(await isFolder(at)); at = dirname(at)) missing.push(at);
  for (const path of missing.reverse()) {
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      // Another process may have been faster.
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** False when nothing is there. Rejects when something else is. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    // Below a file: the next one up says so.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false;
    throw error;
  }
  throw new Error(`${path} is a file, not a folder`);
}
