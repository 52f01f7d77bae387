import { type TopicMetadata, type TopicsView, UNKNOWN_TOPIC } from '../../machines/model/topics.ts';
import type {
  CopartitionGroup,
  Subtopology,
  TopicInfo,
  Topology,
} from '../../machines/model/topology.ts';

/** A topic of the application's own, with what is said otherwise. */
export function info(name: string, overrides: Partial<TopicInfo> = {}): TopicInfo {
  return { name, partitions: 0, replicationFactor: 0, topicConfigs: [], ...overrides };
}

/** A copartition group with what is said. */
export function copartition(group: Partial<CopartitionGroup>): CopartitionGroup {
  return { sourceTopics: [], sourceTopicRegex: [], repartitionSourceTopics: [], ...group };
}

/** A subtopology that reads and writes nothing but what is said. */
export function subtopology(
  subtopologyId: string,
  overrides: Partial<Omit<Subtopology, 'subtopologyId'>> = {},
): Subtopology {
  return {
    subtopologyId,
    sourceTopics: [],
    sourceTopicRegex: [],
    stateChangelogTopics: [],
    repartitionSinkTopics: [],
    repartitionSourceTopics: [],
    copartitionGroups: [],
    ...overrides,
  };
}

/** A subtopology that reads `in` and whatever is said. */
export function reading(id: string, overrides: Partial<Subtopology> = {}): Subtopology {
  return subtopology(id, { sourceTopics: ['in'], ...overrides });
}

/** A topology of epoch 0. */
export function topology(...subtopologies: readonly Subtopology[]): Topology {
  return { epoch: 0, subtopologies };
}

/** Topics by name and number of partitions; ids are made from the names. */
export function topicsOf(counts: Readonly<Record<string, number>>): TopicsView {
  const topics = new Map(
    Object.entries(counts).map(([name, partitionCount]): [string, TopicMetadata] => [
      name,
      { name, topicId: topicIdOf(name), partitionCount, racks: Array(partitionCount).fill([]) },
    ]),
  );
  return { topic: (name) => topics.get(name) };
}

export function topicIdOf(name: string): string {
  return (name.replaceAll(/[^A-Za-z0-9]/g, '_') + UNKNOWN_TOPIC).slice(0, UNKNOWN_TOPIC.length);
}

/** One subtopology reads `in`, no state. */
export const STATELESS: Topology = topology(subtopology('0', { sourceTopics: ['in'] }));

/** As STATELESS, with a store. */
export const STATEFUL: Topology = topology(
  subtopology('0', {
    sourceTopics: ['in'],
    stateChangelogTopics: [info('app-store-changelog')],
  }),
);

/** `0` reads `in` and writes a repartition topic; `1` reads that and keeps state. */
export const REPARTITIONED: Topology = topology(
  subtopology('0', { sourceTopics: ['in'], repartitionSinkTopics: ['app-r-repartition'] }),
  subtopology('1', {
    repartitionSourceTopics: [info('app-r-repartition')],
    stateChangelogTopics: [info('app-agg-changelog')],
  }),
);
