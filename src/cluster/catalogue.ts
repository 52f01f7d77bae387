import type { TopicList, TopicsPort } from '../../actors/ports.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import { PersistentMap } from '../../machines/model/persistent-map.ts';
import type { TopicMetadata, TopicsView } from '../../machines/model/topics.ts';
import type {
  CatalogueTopic,
  ChangeOptions,
  NewTopic,
  TopicCatalogue,
  TopicOutcome,
} from '../server/ports.ts';
import { withChanges } from '../store/config-overrides.ts';
import { type Change, type KeyValues, keysUnder } from '../store/key-values.ts';
import { keyOf, prefixes, toJson } from '../store/layout.ts';
import { Serial } from '../store/serial.ts';
import { reasonOf } from '../store/store-error.ts';
import { makeUuid, type RandomBytes } from '../store/uuid.ts';
import type { WireErrorName } from '../wire/errors.ts';
import { faultOfTopicConfigs } from './topic-configs.ts';
import { faultOfTopicName } from './topic-name.ts';

/** A topic of the catalogue, with what was set on the topic itself. */
export type Topic = CatalogueTopic &
  TopicMetadata & { readonly configs: ReadonlyMap<string, string> };

/** What became of a change of the catalogue. */
export type CatalogueOutcome = TopicOutcome & { readonly topic: Topic | undefined };

/** More would make one topic's metadata larger than a frame. */
const PARTITIONS_MAX = 100_000;
const INTERNAL_NAMES: ReadonlySet<string> = new Set(['__consumer_offsets', '__transaction_state']);
const noRacks: readonly string[] = [];

/** A topic as it is kept under its name. */
type StoredTopic = {
  readonly topicId: string;
  readonly partitionCount: number;
  readonly configs: readonly (readonly [string, string])[];
};

/**
 * The topics of a coordinator that stands alone. Looks are from memory and show what is durable; changes go one after
 * the other, resolve once they are durable, and never reject.
 *
 * Source: design 1, standalone; wire.md 19, 20, 37.
 */
export class Catalogue implements TopicsPort, TopicCatalogue {
  readonly #keyValues: KeyValues;
  readonly #random: RandomBytes;
  readonly #defaultPartitionCount: number;
  readonly #changes = new Serial();
  readonly #listeners: ((names: readonly string[]) => void)[] = [];
  #names: PersistentMap<Topic>;
  #ids: PersistentMap<Topic>;
  #view: TopicsView;
  #list: readonly Topic[] | undefined;
  #version = 0;
  #nameList: TopicList | undefined;

  private constructor(options: CatalogueOptions, topics: readonly Topic[]) {
    this.#keyValues = options.keyValues;
    this.#random = options.random;
    this.#defaultPartitionCount = options.defaultPartitionCount;
    this.#names = PersistentMap.from(topics.map((topic) => [topic.name, topic]));
    this.#ids = PersistentMap.from(topics.map((topic) => [topic.topicId, topic]));
    this.#view = viewOf(this.#names);
  }

  /** Reads the topics kept; rejects with `StoreError`. */
  static async open(options: CatalogueOptions): Promise<Catalogue> {
    const topics: Topic[] = [];
    const prefix = keyOf(prefixes.topics);
    for await (const entries of options.keyValues.scan(keysUnder(prefix))) {
      for (const [key, value] of entries) {
        const stored: StoredTopic = JSON.parse(value.toString('utf8'));
        topics.push(
          makeTopic({
            name: key.toString('utf8', prefix.length),
            topicId: stored.topicId,
            partitionCount: stored.partitionCount,
            configs: new Map(stored.configs),
          }),
        );
      }
    }
    return new Catalogue(options, topics);
  }

  view(): TopicsView {
    return this.#view;
  }

  onChange(listener: (names: readonly string[]) => void): void {
    this.#listeners.push(listener);
  }

  /** Everything is known here. */
  ensureKnown(): Promise<boolean> {
    return Promise.resolve(true);
  }

  listAll(): Promise<TopicList> {
    this.#nameList ??= { version: this.#version, names: this.list().map(({ name }) => name) };
    return Promise.resolve(this.#nameList);
  }

  /** Ascending by name; the same list until something changes. */
  list(): readonly Topic[] {
    this.#list ??= [...this.#names.values()].sort((a, b) => byCodeUnits(a.name, b.name));
    return this.#list;
  }

  byName(name: string): Topic | undefined {
    return this.#names.get(name);
  }

  byId(topicId: string): Topic | undefined {
    return this.#ids.get(topicId);
  }

  /**
   * Makes a topic. Refuses an illegal name (INVALID_TOPIC_EXCEPTION), one that exists (TOPIC_ALREADY_EXISTS), a count
   * other than -1 or 1 and more (INVALID_PARTITIONS), a replication factor other than -1 or 1
   * (INVALID_REPLICATION_FACTOR), settings that are not known or not allowed (INVALID_CONFIG).
   */
  create(wanted: NewTopic, options: ChangeOptions): Promise<CatalogueOutcome> {
    return this.#change(options, () => this.#judgeNew(wanted));
  }

  /**
   * Makes several topics in one step: whoever watches sees all of them at once, or none. Those that are refused, as
   * {@link create} would, are left out. Never rejects; one outcome each, in their order.
   */
  async createTogether(wanted: readonly NewTopic[]): Promise<readonly CatalogueOutcome[]> {
    try {
      return await this.#changes.run(async () => {
        const named = new Set<string>();
        const decided = wanted.map((each) => {
          if (named.has(each.name)) return existsAlready(each.name);
          named.add(each.name);
          return this.#judgeNew(each);
        });
        const made = decided.flatMap(({ topic }) => (topic === undefined ? [] : [topic]));
        await this.#keep(made, 'put');
        this.#show(made, 'put');
        return decided.map(({ step: _, ...outcome }) => outcome);
      });
    } catch (thrown) {
      const message = reasonOf(thrown);
      return wanted.map(() => ({ error: 'UNKNOWN_SERVER_ERROR', message, topic: undefined }));
    }
  }

  #judgeNew(wanted: NewTopic): Decided {
    const { name, replicationFactor } = wanted;
    const nameFault = faultOfTopicName(name);
    if (nameFault !== undefined) return refused('INVALID_TOPIC_EXCEPTION', nameFault);
    if (this.#names.has(name)) return existsAlready(name);
    const partitionCount =
      wanted.partitionCount === -1 ? this.#defaultPartitionCount : wanted.partitionCount;
    if (partitionCount < 1 || partitionCount > PARTITIONS_MAX) {
      const text = `Create topic ${name}: ${partitionCount} partitions, wanted 1 to ${PARTITIONS_MAX}, or -1`;
      return refused('INVALID_PARTITIONS', text);
    }
    if (replicationFactor !== 1 && replicationFactor !== -1) {
      const text = `Create topic ${name}: replication factor ${replicationFactor}, wanted 1 or -1, as there is one node`;
      return refused('INVALID_REPLICATION_FACTOR', text);
    }
    const configs = new Map<string, string>();
    for (const [key, value] of wanted.configs) if (value !== null) configs.set(key, value);
    const configFault = faultOfTopicConfigs(configs);
    if (configFault !== undefined) return refused('INVALID_CONFIG', configFault);
    return put(makeTopic({ name, topicId: makeUuid(this.#random), partitionCount, configs }));
  }

  /** Removes a topic; its id is never used again. Refuses UNKNOWN_TOPIC_OR_PARTITION. */
  delete(name: string): Promise<CatalogueOutcome> {
    return this.#change({ validateOnly: false }, () => {
      const topic = this.#names.get(name);
      return topic === undefined ? unknown('Delete', name) : { ...done(topic), step: 'remove' };
    });
  }

  /** Raises the partition count. Refuses UNKNOWN_TOPIC_OR_PARTITION, and INVALID_PARTITIONS if it is no more. */
  grow(name: string, partitionCount: number, options: ChangeOptions): Promise<CatalogueOutcome> {
    return this.#change(options, () => {
      const topic = this.#names.get(name);
      if (topic === undefined) return unknown('Grow', name);
      if (partitionCount <= topic.partitionCount || partitionCount > PARTITIONS_MAX) {
        const text = `Grow topic ${name}: to ${partitionCount} partitions, wanted ${topic.partitionCount + 1} to ${PARTITIONS_MAX}`;
        return refused('INVALID_PARTITIONS', text);
      }
      return put(makeTopic({ ...topic, partitionCount }));
    });
  }

  /** Sets values of a topic (null takes one away). Refuses UNKNOWN_TOPIC_OR_PARTITION and INVALID_CONFIG. */
  alterConfigs(
    name: string,
    changes: ReadonlyMap<string, string | null>,
    options: ChangeOptions,
  ): Promise<CatalogueOutcome> {
    return this.#change(options, () => {
      const topic = this.#names.get(name);
      if (topic === undefined) return unknown('Configure', name);
      const configs = withChanges(topic.configs, changes);
      const fault = faultOfTopicConfigs(configs);
      return fault === undefined
        ? put(makeTopic({ ...topic, configs }))
        : refused('INVALID_CONFIG', fault);
    });
  }

  /** Judges when its turn has come, keeps what was decided, shows it, tells the listeners. */
  async #change(options: ChangeOptions, decide: () => Decided): Promise<CatalogueOutcome> {
    try {
      return await this.#changes.run(async () => {
        const { step, ...outcome } = decide();
        if (outcome.topic !== undefined && !options.validateOnly) {
          await this.#keep([outcome.topic], step);
          this.#show([outcome.topic], step);
        }
        return outcome;
      });
    } catch (thrown) {
      return { error: 'UNKNOWN_SERVER_ERROR', message: reasonOf(thrown), topic: undefined };
    }
  }

  async #keep(topics: readonly Topic[], step: Step): Promise<void> {
    const changes = topics.map((topic): Change => {
      const key = keyOf(prefixes.topics, Buffer.from(topic.name, 'utf8'));
      if (step === 'remove') return { type: 'del', key };
      const { topicId, partitionCount, configs } = topic;
      const stored: StoredTopic = { topicId, partitionCount, configs: [...configs] };
      return { type: 'put', key, value: toJson(stored) };
    });
    if (changes.length > 0) await this.#keyValues.write(changes, { sync: true });
  }

  #show(topics: readonly Topic[], step: Step): void {
    if (topics.length === 0) return;
    for (const topic of topics) {
      const { name, topicId } = topic;
      const isPut = step === 'put';
      this.#names = isPut ? this.#names.set(name, topic) : this.#names.delete(name);
      this.#ids = isPut ? this.#ids.set(topicId, topic) : this.#ids.delete(topicId);
    }
    this.#view = viewOf(this.#names);
    this.#list = undefined;
    this.#version += 1;
    this.#nameList = undefined;
    const names = topics.map((topic) => topic.name);
    for (const listener of this.#listeners) listener(names);
  }
}

/** What a {@link Catalogue} stands on. */
export type CatalogueOptions = {
  readonly keyValues: KeyValues;
  readonly random: RandomBytes;
  /** `num.partitions`: for topics that ask for -1. */
  readonly defaultPartitionCount: number;
};

type Step = 'put' | 'remove';
type Decided = CatalogueOutcome & { readonly step: Step };

function done(topic: Topic): CatalogueOutcome {
  return { error: 'NONE', message: null, topic };
}

function put(topic: Topic): Decided {
  return { ...done(topic), step: 'put' };
}

function refused(error: WireErrorName, message: string): Decided {
  return { error, message, topic: undefined, step: 'put' };
}

function existsAlready(name: string): Decided {
  return refused('TOPIC_ALREADY_EXISTS', `Create topic ${name}: it exists already`);
}

function unknown(action: string, name: string): Decided {
  return refused('UNKNOWN_TOPIC_OR_PARTITION', `${action} topic ${name}: there is no such topic`);
}

function makeTopic(from: Pick<Topic, 'name' | 'topicId' | 'partitionCount' | 'configs'>): Topic {
  const { name, topicId, partitionCount, configs } = from;
  const racks = new Array<readonly string[]>(partitionCount).fill(noRacks);
  return { name, topicId, partitionCount, racks, internal: INTERNAL_NAMES.has(name), configs };
}

function viewOf(names: PersistentMap<Topic>): TopicsView {
  return { topic: (name) => names.get(name) };
}
