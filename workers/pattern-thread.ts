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

/** Matches whole names against patterns; the entry of the pool's thread. */
export default async function matchPatterns(job: PatternJob): Promise<PatternOutcome> {
  let re2: Re2;
  try {
    re2 = await loadRe2();
  } catch {
    return { status: 'noRe2' };
  }
  const untilMs = performance.now() + job.budgetMs;
  const { patterns, matchesMax } = job;
  const names = job.names === '' ? [] : job.names.split('\n');
  const sets: PatternSet[] = [];
  for (const pattern of patterns) {
    try {
      sets.push(compile(re2, [pattern]));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      return { status: 'invalid', pattern, reason };
    }
    if (performance.now() > untilMs) return { status: 'slow' };
  }
  const matches = matchTogether(re2, patterns, names, untilMs) ?? matchApart(sets, names, untilMs);
  if (matches === 'slow') return { status: 'slow' };
  const most = matches.findIndex((found) => found.length > matchesMax);
  if (most < 0) return { status: 'matched', matches };
  const count = matches[most]?.length ?? 0;
  return { status: 'tooMany', pattern: patterns[most] ?? '', count, max: matchesMax };
}

type PatternSet = InstanceType<Re2['Set']>;

/**
 * Compiles patterns that match whole names alone. A set is anchored from outside: nothing a pattern has in it, such as an
 * alternative, a flag or an open quotation, can reach the anchors, as it could in a text put around it.
 */
function compile(re2: Re2, patterns: readonly string[]): PatternSet {
  // By itself first: the fault of a set does not tell what is wrong.
  if (patterns.length === 1) new re2(patterns[0] ?? '', 'u');
  return new re2.Set(patterns, 'u', { anchor: 'both' });
}

/** One pass over the names for all patterns. @returns undefined when they are too large for one set. */
function matchTogether(
  re2: Re2,
  patterns: readonly string[],
  names: readonly string[],
  untilMs: number,
): readonly (readonly string[])[] | 'slow' | undefined {
  let set: PatternSet;
  try {
    set = compile(re2, patterns);
  } catch {
    return undefined;
  }
  const matches = patterns.map((): string[] => []);
  const isDone = eachWithin(names, untilMs, (name) => {
    if (!set.test(name)) return;
    for (const at of set.match(name)) matches[at]?.push(name);
  });
  return isDone ? matches : 'slow';
}

function matchApart(
  sets: readonly PatternSet[],
  names: readonly string[],
  untilMs: number,
): readonly (readonly string[])[] | 'slow' {
  const matches = sets.map((): string[] => []);
  for (const [at, set] of sets.entries()) {
    const isDone = eachWithin(names, untilMs, (name) => {
      if (set.test(name)) matches[at]?.push(name);
    });
    if (!isDone) return 'slow';
  }
  return matches;
}

/** @returns whether the time was enough. */
function eachWithin(
  names: readonly string[],
  untilMs: number,
  work: (name: string) => void,
): boolean {
  for (const [at, name] of names.entries()) {
    if (at % STRIDE === 0 && performance.now() > untilMs) return false;
    work(name);
  }
  return true;
}
