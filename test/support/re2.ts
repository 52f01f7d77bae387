import type { Context } from 'mocha';

/** Skips a test, with a word, where the optional package re2 could not be installed. */
export async function needRe2(test: Context): Promise<void> {
  const name: string = 're2';
  try {
    await import(name);
  } catch {
    console.log('      skipped: the optional package re2 is not installed here');
    test.skip();
  }
}
