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
  const RE2 = await loadRe2();
  try {
    const compiled = new RE2(pattern, 'u');
    return (text) => compiled.test(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HttpError(400, `Cannot use the pattern "${pattern}": ${reason}`, { cause });
  }
}

type Re2 = new (pattern: string, flags: string) => { test(text: string): boolean };

/**
 * A native package that is compiled where no ready one can be had, and left out where that fails: loaded when first
 * asked, so that an installation without it lacks this alone.
 */
async function loadRe2(): Promise<Re2> {
  // Named by a variable: the compiler must not look for what may not be there.
  const name: string = 're2';
  try {
    const { default: RE2 }: { default: Re2 } = await import(name);
    return RE2;
  } catch (cause) {
    throw new HttpError(501, 'Cannot use a pattern: the package re2 is not installed', { cause });
  }
}
