import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { PatternJob, PatternOutcome } from './pattern-thread.ts';
import { threadOptions } from './thread-options.ts';

/** Letters of one pattern. A topic's name has 249 at most. */
export const PATTERN_LETTERS_MAX = 1_000;
/** Patterns matched together: those of one topology. */
export const PATTERNS_MAX = 100;
/** Of a job on its thread. */
const BUDGET_MS = 2_000;
/** Of a job from its call on; its thread is ended then, should it not have stopped by itself. */
const DEADLINE_MS = 5_000;
const QUEUE_MAX = 100;
/** The thread is there only while patterns are asked for. */
const IDLE_MS = 60_000;

export type PatternPoolOptions = {
  /** `source.topic.regex.topics.max`. */
  readonly matchesMax: number;
  readonly budgetMs?: number;
};

/**
 * Matches names of topics against RE2 patterns, on one thread of its own that starts when first needed. RE2 takes a
 * time that grows with the names alone, but how fast it grows is the pattern's doing: a job that takes longer than its
 * budget is given up.
 *
 * Source: topology-and-admin.
 */
export class PatternPool {
  readonly #pool: Piscina<PatternJob, PatternOutcome>;
  readonly #matchesMax: number;
  readonly #budgetMs: number;

  constructor({ matchesMax, budgetMs = BUDGET_MS }: PatternPoolOptions) {
    this.#matchesMax = matchesMax;
    this.#budgetMs = budgetMs;
    this.#pool = new Piscina({
      ...threadOptions,
      filename: fileURLToPath(new URL('./pattern-thread.js', import.meta.url)),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      maxQueue: QUEUE_MAX,
    });
  }

  /**
   * @param names between line feeds.
   * @throws when it could not be done now: too many wait, the deadline, a thread that ended, a closed pool.
   */
  async match(patterns: readonly string[], names: string): Promise<PatternOutcome> {
    const fault = faultOfBounds(patterns);
    if (fault !== undefined) return fault;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), DEADLINE_MS);
    try {
      return await this.#pool.run(
        { patterns, names, matchesMax: this.#matchesMax, budgetMs: this.#budgetMs },
        { signal: late.signal },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the thread; what is under way rejects. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

function faultOfBounds(patterns: readonly string[]): PatternOutcome | undefined {
  if (patterns.length > PATTERNS_MAX) {
    const reason = `there are ${patterns.length} patterns, wanted at most ${PATTERNS_MAX}`;
    return { status: 'invalid', pattern: patterns[PATTERNS_MAX] ?? '', reason };
  }
  const long = patterns.find((pattern) => pattern.length > PATTERN_LETTERS_MAX);
  if (long === undefined) return undefined;
  const reason = `it has ${long.length} letters, wanted at most ${PATTERN_LETTERS_MAX}`;
  return { status: 'invalid', pattern: `${long.slice(0, 50)}…`, reason };
}
