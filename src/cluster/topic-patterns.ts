import type { PatternsPort, TopicList, TopicsPort } from '../../actors/ports.ts';
import type { PatternSearch } from '../../machines/model/patterns.ts';
import type { PatternOutcome } from '../../workers/pattern-thread.ts';

export type TopicPatternsParts = {
  readonly topics: Pick<TopicsPort, 'listAll' | 'ensureKnown'>;
  /** Whole names, between line feeds, that match each pattern; rejects when that cannot be done now. */
  readonly match: (patterns: readonly string[], names: string) => Promise<PatternOutcome>;
};

/** Different sets of patterns remembered for one list of topics, and what they matched, all in all. */
const KEPT_MAX = 1_000;
const KEPT_MATCHES_MAX = 1_000_000;

/**
 * Searches the topics there are for those that patterns match. Members of one application bring the same patterns at
 * the same time: as long as the list is the same, they share one search.
 *
 * Source: topology-and-admin.
 */
export class TopicPatterns implements PatternsPort {
  readonly #parts: TopicPatternsParts;
  /** Of the list that was searched last: its names as one text, and what came of searches. */
  #version = -1;
  #names = '';
  readonly #searches = new Map<string, Promise<PatternSearch>>();
  /** Patterns that took too long once: on a busy machine any may, and nobody is to be refused for that. */
  readonly #slowOnce = new Set<string>();
  /** Each name once: what comes from another thread brings copies of its own. */
  #ownNames = new Map<string, string>();
  #keptMatches = 0;

  constructor(parts: TopicPatternsParts) {
    this.#parts = parts;
  }

  async search(patterns: readonly string[]): Promise<PatternSearch> {
    try {
      this.#turnTo(await this.#parts.topics.listAll());
      const found = await this.#shared(patterns);
      if (found.kind !== 'found') return found;
      const names = found.matches.flatMap(({ topics }) => topics);
      if (await this.#parts.topics.ensureKnown(names)) return found;
      // A topic that nobody could look at would be taken for missing, and cost the group its tasks.
      return { kind: 'failed', reason: 'Not all topics that match could be looked at' };
    } catch (cause) {
      return { kind: 'failed', reason: cause instanceof Error ? cause.message : String(cause) };
    }
  }

  #turnTo({ version, names }: TopicList): void {
    if (version === this.#version) return;
    this.#version = version;
    this.#names = names.join('\n');
    this.#ownNames = new Map(names.map((name) => [name, name]));
    this.#forget();
  }

  #forget(): void {
    this.#searches.clear();
    this.#slowOnce.clear();
    this.#keptMatches = 0;
  }

  #shared(patterns: readonly string[]): Promise<PatternSearch> {
    const key = JSON.stringify(patterns);
    const known = this.#searches.get(key);
    if (known !== undefined) return known;
    const kept = this.#searches.size + this.#slowOnce.size;
    if (kept >= KEPT_MAX || this.#keptMatches >= KEPT_MATCHES_MAX) this.#forget();
    const version = this.#version;
    const ownNames = this.#ownNames;
    const search = this.#parts.match(patterns, this.#names).then((outcome) => {
      if (outcome.status === 'slow' && !this.#slowOnce.has(key)) {
        this.#slowOnce.add(key);
        throw new Error('The source topic patterns took too long to match');
      }
      if (outcome.status !== 'matched') return resultOf(patterns, outcome, version);
      const matches = outcome.matches.map((topics) =>
        topics.map((name) => ownNames.get(name) ?? name),
      );
      if (version === this.#version) {
        this.#keptMatches += matches.reduce((count, { length }) => count + length, 0);
      }
      return resultOf(patterns, { ...outcome, matches }, version);
    });
    this.#searches.set(key, search);
    // What failed may be tried again.
    search.catch(() => this.#searches.get(key) === search && this.#searches.delete(key));
    return search;
  }
}

function resultOf(
  patterns: readonly string[],
  outcome: PatternOutcome,
  topicsVersion: number,
): PatternSearch {
  switch (outcome.status) {
    case 'matched': {
      const matches = patterns.map((pattern, at) => ({
        pattern,
        topics: outcome.matches[at] ?? [],
      }));
      return { kind: 'found', topicsVersion, matches };
    }
    case 'invalid':
      return {
        kind: 'refused',
        error: 'INVALID_REGULAR_EXPRESSION',
        reason: `source topic pattern ${JSON.stringify(outcome.pattern)} is not taken: ${outcome.reason}`,
      };
    case 'noRe2':
      return {
        kind: 'refused',
        error: 'INVALID_REQUEST',
        reason: 'source topic patterns need the package re2, which is not installed here',
      };
    case 'tooMany':
      return {
        kind: 'unusable',
        reason: `pattern ${outcome.pattern} matches ${outcome.count} topics, wanted at most ${outcome.max}`,
      };
    case 'slow':
      return {
        kind: 'refused',
        error: 'INVALID_REGULAR_EXPRESSION',
        reason: 'the source topic patterns take too long to match',
      };
  }
}
