import type { WireErrorName } from '../wire/errors.ts';

/** A topic of the standalone catalogue. Every partition has one replica, on this node. */
export type CatalogueTopic = {
  readonly name: string;
  /** URL-safe base64 of the 16 bytes, 22 characters; never all zero, never used again. */
  readonly topicId: string;
  readonly partitionCount: number;
  /** A topic of the cluster itself, such as `__consumer_offsets`. */
  readonly internal: boolean;
};

/** A topic asked for; -1 for either number means the default. */
export type NewTopic = {
  readonly name: string;
  readonly partitionCount: number;
  readonly replicationFactor: number;
  /** By name, in the order given; a null value means the default. */
  readonly configs: ReadonlyMap<string, string | null>;
};

/** What became of one change; `message` is null when `error` is NONE. */
export type Outcome = { readonly error: WireErrorName; readonly message: string | null };

/** As {@link Outcome}, with the topic as it is now, or as it would be with `validateOnly`. */
export type TopicOutcome = Outcome & { readonly topic: CatalogueTopic | undefined };

/** `validateOnly`: judge as always, change nothing. */
export type ChangeOptions = { readonly validateOnly: boolean };

/**
 * The topics a standalone coordinator shows its clients. Looks are cheap and show what is durable; changes resolve
 * once they are durable and never reject: what went wrong is in the outcome.
 */
export interface TopicCatalogue {
  /** Ascending by name. */
  list(): readonly CatalogueTopic[];
  byName(name: string): CatalogueTopic | undefined;
  byId(topicId: string): CatalogueTopic | undefined;
  /** Refuses with 17 (name), 36 (exists), 37 (count), 38 (replication other than 1 or -1), 40 (configs). */
  create(topic: NewTopic, options: ChangeOptions): Promise<TopicOutcome>;
  /** Makes several in one step, leaving out what is refused; one outcome each, in their order. */
  createTogether(topics: readonly NewTopic[]): Promise<readonly TopicOutcome[]>;
  /** Refuses with 3; otherwise the topic of the outcome is the one that is gone. */
  delete(name: string): Promise<TopicOutcome>;
  /** Raises the partition count to `partitionCount`. Refuses with 3, and with 37 a count that is not higher. */
  grow(name: string, partitionCount: number, options: ChangeOptions): Promise<TopicOutcome>;
}

/** Where a setting's value comes from, in Kafka's words; their numbers are in `handlers/describe-configs.ts`. */
export type ConfigSource =
  | 'TOPIC_CONFIG'
  | 'DYNAMIC_BROKER_CONFIG'
  | 'DYNAMIC_DEFAULT_BROKER_CONFIG'
  | 'STATIC_BROKER_CONFIG'
  | 'DEFAULT_CONFIG'
  | 'GROUP_CONFIG';

export type ConfigType =
  | 'boolean'
  | 'string'
  | 'int'
  | 'short'
  | 'long'
  | 'double'
  | 'list'
  | 'class'
  | 'password';

export type ConfigSynonym = {
  readonly name: string;
  readonly value: string | null;
  readonly source: ConfigSource;
};

/** One setting as DescribeConfigs shows it. */
export type ConfigEntry = {
  readonly name: string;
  readonly value: string | null;
  readonly source: ConfigSource;
  readonly type: ConfigType;
  readonly readOnly: boolean;
  /** The value is never shown. */
  readonly sensitive: boolean;
  /** Where else a value is set, the one in force first. */
  readonly synonyms: readonly ConfigSynonym[];
  readonly documentation: string | null;
};

/** The settings of one kind of resource: of topics, of this broker or of groups. */
export interface ConfigResources {
  /** Every setting of the resource, or undefined where there is no such resource. A group need not exist (GC-7). */
  describe(name: string): readonly ConfigEntry[] | undefined;
  /** The values set on the resource itself; empty when there are none. */
  overrides(name: string): ReadonlyMap<string, string>;
  /**
   * Sets values (null takes one away), all or none: the complete set after the change is judged (GC-2). Resolves once
   * it is durable and in force; never rejects.
   */
  alter(
    name: string,
    changes: ReadonlyMap<string, string | null>,
    options: ChangeOptions,
  ): Promise<Outcome>;
  /** Names of resources that have values of their own, ascending. */
  overridden(): readonly string[];
}

/** Values that were set on single resources and are kept: of this broker, of all brokers (name ''), of groups. */
export interface OverrideStore {
  /** Empty when there is nothing. */
  of(kind: 'broker' | 'group', name: string): ReadonlyMap<string, string>;
  /** Names of resources with values of their own, ascending. */
  names(kind: 'broker' | 'group'): readonly string[];
  /**
   * Sets values (null takes one away), all or none. `judge` sees the complete set as it would be; what it returns other
   * than undefined is given back and nothing is changed. Rejects when the change could not be kept.
   */
  alter<TRefusal>(
    kind: 'broker' | 'group',
    name: string,
    changes: ReadonlyMap<string, string | null>,
    options: {
      readonly judge: (wanted: ReadonlyMap<string, string>) => TRefusal | undefined;
      readonly validateOnly: boolean;
    },
  ): Promise<TRefusal | undefined>;
}

/** Settings that clients may look at and change, by kind of resource. */
export type ConfigStore = {
  readonly topic: ConfigResources;
  /** Its names: this node's id in decimal, or '' for the default of all brokers. */
  readonly broker: ConfigResources;
  readonly group: ConfigResources;
};

/** Who this node is. Its address is the listener's. */
export type ClusterIdentity = { readonly clusterId: string; readonly nodeId: number };

/** Numbers about the server. Calls are cheap and never throw. */
export interface ServerMetrics {
  connectionOpened(): void;
  connectionClosed(): void;
  connectionRefused(): void;
  /** Ms from the whole request taken to its answer ready. */
  requestAnswered(apiKey: number, ms: number): void;
}
