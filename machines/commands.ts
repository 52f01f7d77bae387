import type { Endpoint } from './model/member.ts';
import type { PatternSearch } from './model/patterns.ts';
import type { ErrorName } from './model/refusal.ts';
import type { TaskIds, TaskList, TaskOffset } from './model/tasks.ts';
import type { KeyValue, Topology } from './model/topology.ts';

/** Who is asking, as the edge knows it. */
export type Client = {
  readonly clientId: string;
  /** Java's address text with its leading slash, as `/127.0.0.1`. */
  readonly clientHost: string;
  readonly apiVersion: number;
  /** Which of these topics it may not create as things are now (C-3); left out, it may create all. */
  readonly mayNotCreate?: ((names: readonly string[]) => readonly string[]) | undefined;
};

/** StreamsGroupHeartbeat as it came; all but the last field are the wire's request. Null means "not sent" (FLD-1). */
export type HeartbeatRequest = {
  readonly groupId: string;
  readonly memberId: string;
  readonly memberEpoch: number;
  readonly endpointInformationEpoch: number;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly rebalanceTimeoutMs: number;
  readonly topology: Topology | null;
  readonly activeTasks: readonly TaskIds[] | null;
  readonly standbyTasks: readonly TaskIds[] | null;
  readonly warmupTasks: readonly TaskIds[] | null;
  readonly processId: string | null;
  readonly userEndpoint: Endpoint | null;
  readonly clientTags: readonly KeyValue[] | null;
  readonly taskOffsets: readonly TaskOffset[] | null;
  readonly taskEndOffsets: readonly TaskOffset[] | null;
  readonly shutdownApplication: boolean;
  /** What the topology's source topic patterns stand for, as the edge had it searched; undefined: there are none. */
  readonly patternSearch?: PatternSearch | undefined;
};

export type StatusName =
  | 'STALE_TOPOLOGY'
  | 'MISSING_SOURCE_TOPICS'
  | 'INCORRECTLY_PARTITIONED_TOPICS'
  | 'MISSING_INTERNAL_TOPICS'
  | 'SHUTDOWN_APPLICATION'
  | 'ASSIGNMENT_DELAYED'
  | 'MISSING_CLIENT_TAGS';

export type Status = { readonly status: StatusName; readonly detail: string };

export type TopicPartitions = { readonly topic: string; readonly partitions: readonly number[] };

export type EndpointToPartitions = {
  readonly userEndpoint: Endpoint;
  readonly activePartitions: readonly TopicPartitions[];
  readonly standbyPartitions: readonly TopicPartitions[];
};

/** The answer to a heartbeat. With an error, everything else has the wire's default. */
export type HeartbeatAnswer = {
  readonly error: ErrorName;
  readonly errorMessage: string | null;
  readonly memberId: string;
  readonly memberEpoch: number;
  readonly heartbeatIntervalMs: number;
  /** -1 where the answer carries none (a leave, an error). The edge narrows it for version 0 (X25). */
  readonly acceptableRecoveryLag: bigint;
  readonly taskOffsetIntervalMs: number;
  readonly statuses: readonly Status[];
  /** All three null or all three set. */
  readonly activeTasks: TaskList | null;
  readonly standbyTasks: TaskList | null;
  readonly warmupTasks: TaskList | null;
  readonly endpointInformationEpoch: number;
  readonly partitionsByUserEndpoint: readonly EndpointToPartitions[] | null;
  readonly topologyDescriptionRequired: boolean;
};

/** A group as StreamsGroupDescribe shows it (topology-and-admin 12.4). */
export type DescribedGroup = {
  readonly error: ErrorName;
  readonly errorMessage: string | null;
  readonly groupId: string;
  readonly groupState: string;
  readonly groupEpoch: number;
  readonly assignmentEpoch: number;
  readonly topology: DescribedTopology | null;
  readonly members: readonly DescribedMember[];
  readonly assignorName: string | null;
};

export type DescribedTopology = {
  readonly epoch: number;
  readonly subtopologies: readonly DescribedSubtopology[];
};

export type DescribedSubtopology = {
  readonly subtopologyId: string;
  readonly sourceTopics: readonly string[];
  readonly repartitionSinkTopics: readonly string[];
  readonly stateChangelogTopics: readonly DescribedTopicInfo[];
  readonly repartitionSourceTopics: readonly DescribedTopicInfo[];
};

export type DescribedTopicInfo = {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly topicConfigs: readonly KeyValue[];
};

export type DescribedAssignment = {
  readonly activeTasks: TaskList;
  readonly standbyTasks: TaskList;
  readonly warmupTasks: TaskList;
};

export type DescribedMember = {
  readonly memberId: string;
  readonly memberEpoch: number;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly topologyEpoch: number;
  readonly processId: string;
  readonly userEndpoint: Endpoint | null;
  readonly clientTags: readonly KeyValue[];
  readonly taskOffsets: readonly TaskOffset[];
  readonly taskEndOffsets: readonly TaskOffset[];
  readonly assignment: DescribedAssignment;
  readonly targetAssignment: DescribedAssignment;
  readonly isClassic: boolean;
};

/** One line of ListGroups. */
export type ListedGroup = {
  readonly groupId: string;
  readonly protocolType: string;
  readonly groupState: string;
  readonly groupType: 'streams' | 'classic';
};

/** A commit of one group, plain or transactional; topics by name (the edge resolved ids). */
export type CommitRequest = {
  readonly groupId: string;
  readonly memberId: string;
  readonly memberEpoch: number;
  readonly instanceId: string | null;
  readonly transactional: boolean;
  readonly apiVersion: number;
  /** How long the offsets are to be kept, 0 or more; undefined = as the settings say. Only old clients say so. */
  readonly retentionMs?: number | undefined;
  readonly topics: readonly {
    readonly name: string;
    /** All zero = unknown. */
    readonly topicId: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly offset: bigint;
      readonly leaderEpoch: number;
      readonly metadata: string;
    }[];
  }[];
};

/** One error per partition, in the order of the request. */
export type CommitAnswer = {
  readonly topics: readonly {
    readonly name: string;
    readonly partitions: readonly { readonly partition: number; readonly error: ErrorName }[];
  }[];
};

/** A fetch of one group's offsets; `topics` null = everything committed. */
export type OffsetFetchRequest = {
  readonly groupId: string;
  readonly memberId: string | null;
  readonly memberEpoch: number;
  readonly topics: readonly PartitionsAsked[] | null;
};

export type OffsetFetchAnswer = {
  readonly error: ErrorName;
  readonly topics: readonly {
    readonly name: string;
    readonly partitions: readonly {
      readonly partition: number;
      /** -1 = none. */
      readonly offset: bigint;
      readonly leaderEpoch: number;
      readonly metadata: string;
      readonly error: ErrorName;
    }[];
  }[];
};

/** Partitions of one topic. */
export type PartitionsAsked = { readonly name: string; readonly partitions: readonly number[] };

/** By topic, then partition, in the order in which they were asked for; -1 = nobody has committed. */
export type FurthestOffsets = readonly (readonly bigint[])[];

export type OffsetDeleteRequest = {
  readonly groupId: string;
  readonly topics: readonly PartitionsAsked[];
};

export type OffsetDeleteAnswer = {
  readonly error: ErrorName;
  readonly topics: readonly {
    readonly name: string;
    readonly partitions: readonly { readonly partition: number; readonly error: ErrorName }[];
  }[];
};
