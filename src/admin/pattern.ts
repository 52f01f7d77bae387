import { loadRe2 } from '../../workers/re2.ts';
import { HttpError } from './http-error.ts';

const LETTERS_MAX = 256;

/**
 * A test for texts from a pattern that a user gave. RE2 runs it: whatever the pattern, the time grows with the text
 * alone. No pattern: everything passes.
 *
 * @throws {HttpError} 400 for a pattern that is too long or none, 501 where RE2 is not installed.
 */
export async function compilePattern(pattern: string | null): Promise<(text: string) => boolean> {
  if (pattern === null || pattern === '') return () => true;
  if (pattern.length > LETTERS_MAX) {
    throw new HttpError(
      400,
      `Cannot use the pattern: ${pattern.length} letters seen, at most ${LETTERS_MAX} allowed`,
    );
  }
  const RE2 = await loadRe2().catch((cause: unknown) => {
    throw new HttpError(501, 'Cannot use a pattern: the package re2 is not installed', { cause });
  });
  try {
    const compiled = new RE2(pattern, 'u');
    return (text) => compiled.test(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HttpError(400, `Cannot use the pattern "${pattern}": ${reason}`, { cause });
  }
}
