/** A topic that the application owns; `partitions` 0 = not fixed, `replicationFactor` 0 = the broker's default. */
export type TopicInfo = {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly topicConfigs: readonly KeyValue[];
};

export type KeyValue = { readonly key: string; readonly value: string };

/** Indexes into the arrays of the same name in the same subtopology. */
export type CopartitionGroup = {
  readonly sourceTopics: readonly number[];
  readonly sourceTopicRegex: readonly number[];
  readonly repartitionSourceTopics: readonly number[];
};

export type Subtopology = {
  readonly subtopologyId: string;
  readonly sourceTopics: readonly string[];
  readonly sourceTopicRegex: readonly string[];
  readonly stateChangelogTopics: readonly TopicInfo[];
  readonly repartitionSinkTopics: readonly string[];
  readonly repartitionSourceTopics: readonly TopicInfo[];
  readonly copartitionGroups: readonly CopartitionGroup[];
};

/** What the client sent, in the order sent (SC-13); also the value of the topology record. */
export type Topology = {
  readonly epoch: number;
  readonly subtopologies: readonly Subtopology[];
};

/** The problems that keep a topology from being ready, in order of precedence (TOP-9). */
export type TopologyProblem = {
  readonly status:
    | 'MISSING_SOURCE_TOPICS'
    | 'INCORRECTLY_PARTITIONED_TOPICS'
    | 'MISSING_INTERNAL_TOPICS';
  /** Sent as the status detail. */
  readonly detail: string;
};

/** An internal topic to create (topology-and-admin 6.9); `replicationFactor` -1 = the broker's default. */
export type CreatableTopic = {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly configs: readonly KeyValue[];
};

/** One subtopology with every partition count decided. */
export type ConfiguredSubtopology = {
  readonly subtopologyId: string;
  /** Tasks are 0 to `taskCount` - 1. */
  readonly taskCount: number;
  /** It has at least one changelog topic (6.11). */
  readonly stateful: boolean;
  /** Sorted. */
  readonly sourceTopics: readonly string[];
  /** Sorted. */
  readonly repartitionSinkTopics: readonly string[];
  /** Sorted by name, counts decided. */
  readonly stateChangelogTopics: readonly TopicInfo[];
  readonly repartitionSourceTopics: readonly TopicInfo[];
};

/** A topology held against the topics that exist; memory only, made anew after a load. */
export type ConfiguredTopology = {
  readonly topologyEpoch: number;
  /** Of the topics it was configured with (H-3). */
  readonly metadataHash: bigint;
  /** Undefined = ready. */
  readonly problem: TopologyProblem | undefined;
  /** Sorted by id. Empty for the first two problems; kept for missing internal topics (6.8). */
  readonly subtopologies: readonly ConfiguredSubtopology[];
  /** Internal topics to create; empty unless that is the problem. */
  readonly missingInternalTopics: readonly CreatableTopic[];
};
