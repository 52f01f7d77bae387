import type { Context } from 'mocha';
import { loadRe2 } from '../../workers/re2.ts';

/** Skips a test, with a word, where the optional package re2 could not be installed. */
export async function needRe2(test: Context): Promise<void> {
  try {
    await loadRe2();
  } catch {
    console.log('      skipped: the optional package re2 is not installed here');
    test.skip();
  }
}

/** What a coordinator warns of, at its start, where the package is not installed. */
const WARNING = 'Source topic patterns will be refused: the package re2 is not installed';

/** What was said, as lines or as lines of a log, but for the word about the package: with it or without, the same is left. */
export function besidesRe2<T extends string | { readonly text: string }>(
  said: readonly T[],
): readonly T[] {
  return said.filter((line) => !(typeof line === 'string' ? line : line.text).includes(WARNING));
}
