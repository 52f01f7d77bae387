import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/wire/json.ts';

/** The lines of a file of byte vectors; see `test/vectors/README.md`. */
export function readVectors(file: string): JsonObject[] {
  const text = readFileSync(join(vectorsFolder(), file), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The vectors are not built, so they lie with the sources, somewhere above the built tests. */
function vectorsFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'test/vectors/messages.jsonl'))) {
    if (folder === dirname(folder)) throw new Error('No test/vectors above the tests');
    folder = dirname(folder);
  }
  return join(folder, 'test/vectors');
}
