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
