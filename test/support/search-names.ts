import type { PatternSearch } from '../../machines/model/patterns.ts';

/** What a search finds among these names, with JavaScript's patterns: good enough for plain ones. */
export function searchNames(
  patterns: readonly string[],
  names: Iterable<string>,
  topicsVersion: number,
): PatternSearch {
  const all = [...names].sort();
  const matches = patterns.map((pattern) => {
    const whole = new RegExp(`^(?:${pattern})$`);
    return { pattern, topics: all.filter((name) => whole.test(name)) };
  });
  return { kind: 'found', topicsVersion, matches };
}
