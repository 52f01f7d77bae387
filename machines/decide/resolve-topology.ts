import type { Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { PatternMatch, ResolvedPatterns } from '../model/patterns.ts';
import type { GroupSoft } from '../model/soft.ts';
import type { TopicsView } from '../model/topics.ts';
import type { CopartitionGroup, Subtopology, Topology } from '../model/topology.ts';
import { isKafkaTopic, mentionedTopics } from './topology.ts';

/** The source topic patterns of a topology, each once, in the order they come in. */
export function patternsOf(topology: Topology): readonly string[] {
  return [...new Set(topology.subtopologies.flatMap((one) => one.sourceTopicRegex))];
}

export function hasPatterns(topology: Topology): boolean {
  return topology.subtopologies.some((one) => one.sourceTopicRegex.length > 0);
}

/**
 * The group's topology as everything is to see it: with the topics that its patterns match among the sources. A
 * pattern that matches nothing, or of which nothing is known yet, is still there as a pattern.
 */
export function topologyInForce(group: Group, soft: GroupSoft): Topology | undefined {
  const { topology } = group;
  const { resolved } = soft.patterns;
  return resolved !== undefined && resolved.topologyEpoch === topology?.epoch
    ? resolved.topology
    : topology;
}

/** Whether the topics that a topology in force reads are not all known: one of its patterns was never searched for. */
export function isUnresolved(group: Group, soft: GroupSoft): boolean {
  const { topology } = group;
  if (topology === undefined || !hasPatterns(topology)) return false;
  return soft.patterns.resolved?.topologyEpoch !== topology.epoch;
}

/**
 * Puts what patterns match in their place. Topics of Kafka's own, and those that the topology names in any role, are no
 * match; neither are topics that are there no more. Indexes of copartition groups follow; a pattern that nothing
 * is left of stays.
 */
export function resolveTopology(
  topology: Topology,
  matches: readonly PatternMatch[],
  topics: TopicsView,
): Pick<ResolvedPatterns, 'topology' | 'clash'> {
  const named = new Set(mentionedTopics(topology));
  const isMatch = (name: string) =>
    !named.has(name) && !isKafkaTopic(name) && topics.topic(name) !== undefined;
  const found = new Map(
    matches.map(({ pattern, topics: names }) => [pattern, names.filter(isMatch)]),
  );
  const subtopologies = topology.subtopologies.map((one) => resolveSubtopology(one, found));
  return { topology: { ...topology, subtopologies }, clash: findClash(topology, found) };
}

function resolveSubtopology(
  one: Subtopology,
  found: ReadonlyMap<string, readonly string[]>,
): Subtopology {
  if (one.sourceTopicRegex.length === 0) return one;
  const matchesOf = (pattern: string) => found.get(pattern) ?? [];
  const matched = [...new Set(one.sourceTopicRegex.flatMap(matchesOf))].sort(byCodeUnits);
  const sourceTopics = [...one.sourceTopics, ...matched];
  const places = new Map(sourceTopics.map((name, at) => [name, at]));
  const resolveGroup = (group: CopartitionGroup): CopartitionGroup => ({
    ...group,
    sourceTopics: [
      ...group.sourceTopics,
      ...group.sourceTopicRegex.flatMap((index) =>
        matchesOf(one.sourceTopicRegex[index] ?? '').flatMap((name) => places.get(name) ?? []),
      ),
    ],
    sourceTopicRegex: [],
  });
  return {
    ...one,
    sourceTopics,
    sourceTopicRegex: one.sourceTopicRegex.filter((pattern) => matchesOf(pattern).length === 0),
    copartitionGroups: one.copartitionGroups.map(resolveGroup),
  };
}

/** The first topic, by name, that two subtopologies would read through patterns. */
function findClash(
  { subtopologies }: Topology,
  found: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  const readers = new Map<string, string>();
  const clashes = new Set<string>();
  for (const { subtopologyId, sourceTopicRegex } of subtopologies) {
    for (const name of sourceTopicRegex.flatMap((pattern) => found.get(pattern) ?? [])) {
      const reader = readers.get(name) ?? subtopologyId;
      readers.set(name, reader);
      if (reader !== subtopologyId) clashes.add(name);
    }
  }
  return [...clashes].sort(byCodeUnits)[0];
}
