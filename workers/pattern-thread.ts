import { loadRe2, type Re2 } from './re2.ts';

/** What the thread is given. */
export type PatternJob = {
  readonly patterns: readonly string[];
  /** Names between line feeds, which no topic's name has: one text goes to a thread faster than many. */
  readonly names: string;
  /** A pattern may match so many names. */
  readonly matchesMax: number;
  /** When this time is over, ms, the thread stops by itself. */
  readonly budgetMs: number;
};

/** What came of it. */
export type PatternOutcome =
  /** The names each pattern matches, in their order; by the pattern's place in the job. */
  | { readonly status: 'matched'; readonly matches: readonly (readonly string[])[] }
  /** RE2 does not take the pattern. */
  | { readonly status: 'invalid'; readonly pattern: string; readonly reason: string }
  | {
      readonly status: 'tooMany';
      readonly pattern: string;
      readonly count: number;
      readonly max: number;
    }
  | { readonly status: 'slow' }
  /** The package is not installed. */
  | { readonly status: 'noRe2' };

/** Names matched between two looks at the clock. */
const STRIDE = 64;

/** Matches whole names against patterns, one pattern after the other; the entry of the pool's thread. */
export default async function matchPatterns(job: PatternJob): Promise<PatternOutcome> {
  let re2: Re2;
  try {
    re2 = await loadRe2();
  } catch {
    return { status: 'noRe2' };
  }
  const untilMs = performance.now() + job.budgetMs;
  const names = job.names === '' ? [] : job.names.split('\n');
  const matches: (readonly string[])[] = [];
  for (const pattern of job.patterns) {
    let found: readonly string[] | undefined;
    try {
      found = matchesOf(wholeName(re2, pattern), names, untilMs);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      return { status: 'invalid', pattern, reason };
    }
    if (found === undefined) return { status: 'slow' };
    const count = found.length;
    if (count > job.matchesMax) return { status: 'tooMany', pattern, count, max: job.matchesMax };
    matches.push(found);
  }
  return { status: 'matched', matches };
}

/**
 * Compiles a pattern that matches whole names alone. A set of one is anchored from outside: nothing the pattern has in
 * it, such as an alternative, a flag or an open quotation, can reach the anchors, as it could in a text put around it.
 */
function wholeName(re2: Re2, pattern: string): { test(text: string): boolean } {
  // By itself first: the fault of a set does not tell what is wrong.
  new re2(pattern, 'u');
  return new re2.Set([pattern], 'u', { anchor: 'both' });
}

/** @returns undefined when the time ran out. */
function matchesOf(
  pattern: { test(text: string): boolean },
  names: readonly string[],
  untilMs: number,
): readonly string[] | undefined {
  const found: string[] = [];
  for (let at = 0; at < names.length; at++) {
    if (at % STRIDE === 0 && performance.now() > untilMs) return undefined;
    const name = names[at] ?? '';
    if (pattern.test(name)) found.push(name);
  }
  return found;
}
