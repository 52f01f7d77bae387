import type { Topology } from './topology.ts';

/** The topics that a source topic pattern matches, ascending. */
export type PatternMatch = { readonly pattern: string; readonly topics: readonly string[] };

/** What a search among all topics for those that patterns match came to. */
export type PatternSearch =
  | {
      readonly kind: 'found';
      /** Of the names that were searched; a later list has a higher one. */
      readonly topicsVersion: number;
      readonly matches: readonly PatternMatch[];
    }
  /** The patterns are none that can be matched here. */
  | {
      readonly kind: 'refused';
      readonly error: 'INVALID_REGULAR_EXPRESSION' | 'INVALID_REQUEST';
      readonly reason: string;
    }
  /** What they match cannot be taken. */
  | { readonly kind: 'unusable'; readonly reason: string }
  /** It could not be found out now; to be tried again. */
  | { readonly kind: 'failed'; readonly reason: string };

/** What a shard asks to be searched for a group; the tags come back with the result. */
export type PatternQuery = {
  readonly incarnation: number;
  readonly topologyEpoch: number;
  readonly patterns: readonly string[];
};

/** What became of a query. */
export type SearchOutcome = {
  readonly incarnation: number;
  readonly topologyEpoch: number;
  readonly search: PatternSearch;
};

/** What the patterns of a topology stand for, by the last search that could tell. */
export type ResolvedPatterns = {
  readonly topologyEpoch: number;
  readonly topicsVersion: number;
  readonly matches: readonly PatternMatch[];
  /** Why nothing could be matched; undefined when it could. */
  readonly fault: string | undefined;
  /** The topology with the matched topics among its sources, as of the last look at the topics. */
  readonly topology: Topology;
  /** A topic that patterns of two subtopologies match. */
  readonly clash: string | undefined;
};

/** A group's patterns beside the log; gone after a load. */
export type GroupPatterns = {
  /** While another search is out, the last one counts. */
  readonly resolved: ResolvedPatterns | undefined;
  /** Topics may have been created or deleted since the last search began. */
  readonly due: boolean;
  /** A search is out. */
  readonly searching: boolean;
  /** Wall clock, ms, at which the last search began. */
  readonly searchedAtMs: number | undefined;
  /** The last search failed. */
  readonly failed: boolean;
};

export const NO_PATTERNS: GroupPatterns = {
  resolved: undefined,
  due: false,
  searching: false,
  searchedAtMs: undefined,
  failed: false,
};
