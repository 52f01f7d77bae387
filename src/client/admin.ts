import type { ResponseOf } from '../wire/apis.ts';
import { errorName, type WireErrorName } from '../wire/errors.ts';
import { ClientError } from './client-error.ts';
import {
  type BrokerAddress,
  ClientConnection,
  type ConnectionOptions,
  title,
} from './connection.ts';

export type AdminOptions = ConnectionOptions & {
  /** For how long, in waits between attempts, errors that pass by themselves are tried again; ms. */
  readonly retryForMs?: number;
  /** Resolves after that many ms; left out: by a timer. */
  readonly wait?: (ms: number) => Promise<void>;
};

export type ListedGroup = {
  readonly groupId: string;
  readonly groupState: string;
  readonly groupType: string;
  readonly protocolType: string;
};
export type DescribedGroup = ResponseOf<'StreamsGroupDescribe'>['groups'][number];
export type TopicPartition = { readonly topic: string; readonly partition: number };
export type CommittedOffset = TopicPartition & {
  readonly offset: bigint;
  readonly leaderEpoch: number;
  readonly metadata: string;
};
/** Where a log begins and ends; undefined where the partition does not exist or has no leader. */
export type LogBounds = TopicPartition & {
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
};
/** One setting of a group as the broker shows it; `source` is Kafka's number of where its value is from. */
export type GroupConfig = {
  readonly name: string;
  readonly value: string | null;
  readonly source: number;
};
export type DeletedGroup = {
  readonly groupId: string;
  readonly error: WireErrorName;
  readonly message: string | null;
};

type Node = BrokerAddress & { readonly nodeId: number };
type Metadata = ResponseOf<'Metadata'>;

const RETRY_FOR_MS = 15_000;
const CREATE_TIMEOUT_MS = 5_000;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 1_000;
/** Loading, not available, moved: by waiting, or by asking again who coordinates. */
const PASSING: readonly WireErrorName[] = [
  'COORDINATOR_LOAD_IN_PROGRESS',
  'COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR',
];
const GROUP_KEY_TYPE = 0;
const GROUP_RESOURCE = 32;
const SET = 0;
const DELETE = 1;
const LATEST = -1n;
const EARLIEST = -2n;
/** From this version on FindCoordinator takes several keys. */
const BATCHED_FIND_SINCE = 4;
/** From this version on OffsetFetch takes several groups; from 10 on topics go by id. */
const BATCHED_FETCH_SINCE = 8;
const FETCH_BY_NAME_MAX = 9;

/**
 * Looks at groups and deletes them, over the Kafka protocol alone: works against Headgate and against Kafka. Errors
 * that pass by themselves are tried again for a bounded time; all others reject with {@link ClientError}.
 */
export class AdminClient {
  readonly #options: AdminOptions;
  readonly #bootstrap: ClientConnection;
  readonly #connections = new Map<string, Promise<ClientConnection>>();

  private constructor(bootstrap: ClientConnection, options: AdminOptions) {
    this.#bootstrap = bootstrap;
    this.#options = options;
  }

  /** Connects to the first of the addresses that answers; rejects with what the last one said. */
  static async connect(
    addresses: readonly BrokerAddress[],
    options: AdminOptions,
  ): Promise<AdminClient> {
    let failure: unknown = new ClientError('unreachable', 'Cannot connect: no address is given');
    for (const address of addresses) {
      try {
        return new AdminClient(await ClientConnection.open(address, options), options);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  close(): void {
    this.#bootstrap.close();
    for (const opening of this.#connections.values()) {
      opening.then(
        (connection) => connection.close(),
        () => undefined,
      );
    }
  }

  /** The brokers that clients are told of. */
  async brokers(): Promise<readonly BrokerAddress[]> {
    return this.#nodes();
  }

  /** Groups of all brokers, ascending by id; `types` empty: of all types. */
  async listGroups(types: readonly string[]): Promise<readonly ListedGroup[]> {
    const nodes = await this.#nodes();
    const lists = await Promise.all(
      nodes.map(async (node) => {
        const connection = await this.#connectionTo(node);
        return this.#retrying('list groups', async () => {
          const answer = await connection.request('ListGroups', { typesFilter: [...types] });
          return { error: errorName(answer.errorCode), value: answer.groups };
        });
      }),
    );
    const byId = new Map(lists.flat().map((group) => [group.groupId, group]));
    return [...byId.values()].sort((a, b) => (a.groupId < b.groupId ? -1 : 1));
  }

  /** One group; rejects with `GROUP_ID_NOT_FOUND` for what is no streams group. */
  async describe(groupId: string): Promise<{ group: DescribedGroup; coordinator: Node }> {
    return this.#atCoordinator(groupId, 'describe', async (connection, coordinator) => {
      const answer = await connection.request('StreamsGroupDescribe', { groupIds: [groupId] });
      const group = theOne(answer.groups, 'StreamsGroupDescribe');
      const error = errorName(group.errorCode);
      return { error, message: group.errorMessage, value: { group, coordinator } };
    });
  }

  /** All committed offsets of a group, in the broker's order. */
  async committedOffsets(groupId: string): Promise<readonly CommittedOffset[]> {
    return this.#atCoordinator(groupId, 'fetch offsets of', async (connection) => {
      const version = connection.version('OffsetFetch', FETCH_BY_NAME_MAX);
      const body =
        version >= BATCHED_FETCH_SINCE
          ? { groups: [{ groupId, topics: null }] }
          : { groupId, topics: null };
      const answer = await connection.request('OffsetFetch', body, { version });
      const { topics, errorCode } =
        version >= BATCHED_FETCH_SINCE ? theOne(answer.groups, 'OffsetFetch') : answer;
      const value = topics.flatMap(({ name, partitions }) =>
        partitions
          .filter(({ committedOffset }) => committedOffset >= 0n)
          .map((partition) => ({
            topic: name,
            partition: partition.partitionIndex,
            offset: partition.committedOffset,
            leaderEpoch: partition.committedLeaderEpoch,
            metadata: partition.metadata ?? '',
          })),
      );
      return { error: errorName(errorCode), value };
    });
  }

  /** How many partitions each topic has; those that are not there are left out. */
  async partitionCounts(topics: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (topics.length === 0) return new Map();
    const known = (await this.#metadata(topics)).topics.filter(({ errorCode }) => errorCode === 0);
    return new Map(known.map(({ name, partitions }) => [name ?? '', partitions.length]));
  }

  /** Begin and end of partitions, asked of their leaders; in the order given. */
  async logBounds(partitions: readonly TopicPartition[]): Promise<readonly LogBounds[]> {
    if (partitions.length === 0) return [];
    const metadata = await this.#metadata([...new Set(partitions.map(({ topic }) => topic))]);
    const [starts, ends] = await Promise.all([
      this.#offsetsAt(partitions, EARLIEST, metadata),
      this.#offsetsAt(partitions, LATEST, metadata),
    ]);
    return partitions.map((one) => ({
      topic: one.topic,
      partition: one.partition,
      start: starts.get(partitionKey(one)),
      end: ends.get(partitionKey(one)),
    }));
  }

  /** Deletes one group; what became of it is in the answer, except for errors that passed. */
  async deleteGroup(groupId: string): Promise<DeletedGroup> {
    return this.#atCoordinator(groupId, 'delete', async (connection) => {
      const answer = await connection.request('DeleteGroups', { groupsNames: [groupId] });
      const { errorCode, errorMessage } = theOne(answer.results, 'DeleteGroups');
      const error = errorName(errorCode);
      const value = { groupId, error, message: errorMessage };
      return { error: PASSING.includes(error) ? error : 'NONE', value };
    });
  }

  /** All settings of a group, whether or not there is such a group, in the broker's order. */
  async groupConfigs(groupId: string): Promise<readonly GroupConfig[]> {
    return this.#retrying(`show the settings of group "${groupId}"`, async () => {
      const answer = await this.#bootstrap.request('DescribeConfigs', {
        resources: [
          { resourceType: GROUP_RESOURCE, resourceName: groupId, configurationKeys: null },
        ],
      });
      const { errorCode, errorMessage, configs } = theOne(answer.results, 'DescribeConfigs');
      const value = configs.map(({ name, value: text, configSource }) => ({
        name,
        value: text,
        source: configSource,
      }));
      return { error: errorName(errorCode), message: errorMessage, value };
    });
  }

  /** Sets values of a group, all or none; null takes one away. Rejects with what the broker said. */
  async alterGroupConfigs(
    groupId: string,
    changes: ReadonlyMap<string, string | null>,
  ): Promise<void> {
    const configs = [...changes].map(([name, value]) => ({
      name,
      value,
      configOperation: value === null ? DELETE : SET,
    }));
    await this.#retrying(`change the settings of group "${groupId}"`, async () => {
      const answer = await this.#bootstrap.request('IncrementalAlterConfigs', {
        resources: [{ resourceType: GROUP_RESOURCE, resourceName: groupId, configs }],
      });
      const { errorCode, errorMessage } = theOne(answer.responses, 'IncrementalAlterConfigs');
      return { error: errorName(errorCode), message: errorMessage, value: null };
    });
  }

  /** Creates a topic with one replica; rejects with what the controller said. */
  async createTopic(name: string, partitions: number): Promise<void> {
    const { brokers, controllerId } = await this.#metadata([]);
    const controller = brokers.find(({ nodeId }) => nodeId === controllerId);
    const connection =
      controller === undefined ? this.#bootstrap : await this.#connectionTo(controller);
    await this.#retrying(`create topic "${name}"`, async () => {
      const answer = await connection.request('CreateTopics', {
        topics: [{ name, numPartitions: partitions, replicationFactor: 1 }],
        timeoutMs: CREATE_TIMEOUT_MS,
      });
      const { errorCode, errorMessage } = theOne(answer.topics, 'CreateTopics');
      return { error: errorName(errorCode), message: errorMessage, value: null };
    });
  }

  async #nodes(): Promise<readonly Node[]> {
    return (await this.#metadata([])).brokers;
  }

  #metadata(topics: readonly string[]): Promise<Metadata> {
    return this.#bootstrap.request('Metadata', {
      topics: topics.map((name) => ({ name })),
      allowAutoTopicCreation: false,
    });
  }

  #connectionTo(node: BrokerAddress): Promise<ClientConnection> {
    const key = `${node.host}:${node.port}`;
    const known = this.#connections.get(key);
    if (known !== undefined) return known;
    const opening = ClientConnection.open(node, this.#options);
    this.#connections.set(key, opening);
    // One that failed is not kept: the next request tries anew.
    opening.catch(() => this.#connections.delete(key));
    return opening;
  }

  #atCoordinator<T>(
    groupId: string,
    what: string,
    ask: (connection: ClientConnection, coordinator: Node) => Promise<Outcome<T>>,
  ): Promise<T> {
    return this.#retrying(`${what} group "${groupId}"`, async () => {
      const found = await this.#findCoordinator(groupId);
      const { error, message, value: coordinator } = found;
      if (error !== 'NONE' || coordinator === undefined)
        return { error, message, asked: this.#bootstrap.address, value: undefined };
      const outcome = await ask(await this.#connectionTo(coordinator), coordinator);
      return { ...outcome, asked: coordinator };
    });
  }

  async #findCoordinator(groupId: string): Promise<Outcome<Node>> {
    const version = this.#bootstrap.version('FindCoordinator');
    const body =
      version >= BATCHED_FIND_SINCE
        ? { keyType: GROUP_KEY_TYPE, coordinatorKeys: [groupId] }
        : { keyType: GROUP_KEY_TYPE, key: groupId };
    const answer = await this.#bootstrap.request('FindCoordinator', body, { version });
    const { errorCode, errorMessage, nodeId, host, port } =
      version >= BATCHED_FIND_SINCE ? theOne(answer.coordinators, 'FindCoordinator') : answer;
    return { error: errorName(errorCode), message: errorMessage, value: { nodeId, host, port } };
  }

  async #offsetsAt(
    partitions: readonly TopicPartition[],
    timestamp: bigint,
    metadata: Metadata,
  ): Promise<ReadonlyMap<string, bigint>> {
    const byLeader = grouped(partitions, (partition) => leaderOf(partition, metadata));
    const offsets = new Map<string, bigint>();
    for (const [leader, led] of byLeader) {
      if (leader === undefined) continue;
      const connection = await this.#connectionTo(leader);
      const byTopic = grouped(led, ({ topic }) => topic);
      const topics = [...byTopic].map(([name, some]) => ({
        name,
        partitions: some.map(({ partition }) => ({ partitionIndex: partition, timestamp })),
      }));
      const answer = await connection.request('ListOffsets', { replicaId: -1, topics });
      for (const { name, partitions: told } of answer.topics) {
        for (const { partitionIndex, errorCode, offset } of told) {
          const key = partitionKey({ topic: name, partition: partitionIndex });
          if (errorCode === 0) offsets.set(key, offset);
        }
      }
    }
    return offsets;
  }

  async #retrying<T>(what: string, ask: () => Promise<Outcome<T>>): Promise<T> {
    const { retryForMs = RETRY_FOR_MS, wait = byTimer } = this.#options;
    let waitedMs = 0;
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(2 * waitMs, RETRY_LAST_MS)) {
      const outcome = await ask();
      if (outcome.error === 'NONE' && outcome.value !== undefined) return outcome.value;
      const isOver = waitedMs + waitMs > retryForMs;
      if (isOver || !PASSING.includes(outcome.error)) {
        const reason = outcome.message ?? 'the broker gives no reason';
        const place = outcome.asked === undefined ? '' : ` at ${title(outcome.asked)}`;
        throw new ClientError('refused', `Cannot ${what}${place}: ${outcome.error}: ${reason}`, {
          error: outcome.error,
        });
      }
      await wait(waitMs);
      waitedMs += waitMs;
    }
  }
}

function byTimer(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

type Outcome<T> = {
  readonly error: WireErrorName;
  readonly message?: string | null | undefined;
  /** Who gave it; left out where that is told anyway, or no matter. */
  readonly asked?: BrokerAddress;
  /** There when the error is NONE. */
  readonly value: T | undefined;
};

function theOne<T>(entries: readonly T[], api: string): T {
  const [first] = entries;
  if (first === undefined) {
    throw new ClientError('protocol', `Cannot use the answer to ${api}: it has no entry`);
  }
  return first;
}

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

function partitionKey({ topic, partition }: TopicPartition): string {
  return `${topic}:${partition}`;
}

function leaderOf({ topic, partition }: TopicPartition, { topics, brokers }: Metadata) {
  const leaderId = topics
    .find(({ name }) => name === topic)
    ?.partitions.find(({ partitionIndex }) => partitionIndex === partition)?.leaderId;
  return brokers.find(({ nodeId }) => nodeId === leaderId);
}
