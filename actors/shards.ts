import type { Behaviour } from '../machines/model/profile.ts';
import type { CoordinatorSettings } from '../machines/model/settings.ts';
import type { CreatableTopic } from '../machines/model/topology.ts';
import type {
  AssignorPort,
  Clock,
  GroupWatcher,
  JournalPort,
  Log,
  RecordLog,
  RuntimeMetrics,
  SettingsPort,
  TopicCreatorPort,
  TopicsPort,
} from './ports.ts';
import { ShardActor } from './shard-actor.ts';

/** The ports the core needs from outside, and the settings that hold for the whole process. */
export type ShardsOptions = {
  readonly clock: Clock;
  readonly recordLog: RecordLog;
  readonly assignor: AssignorPort;
  readonly topics: TopicsPort;
  readonly topicCreator: TopicCreatorPort;
  readonly settings: SettingsPort;
  readonly journal: JournalPort;
  readonly watcher: GroupWatcher;
  readonly metrics: RuntimeMetrics;
  readonly log: Log;
  readonly behaviour: Behaviour;
  readonly coordinator: CoordinatorSettings;
  /** `offsets.topic.num.partitions` */
  readonly shardCount: number;
  /** `mailbox.max` */
  readonly mailboxMax: number;
  /** `assignor.run.timeout.ms` */
  readonly assignorRunTimeoutMs: number;
  /** `offsets.commit.timeout.ms` */
  readonly commitTimeoutMs: number;
  /** `handover.members.max` */
  readonly hurriedMembersMax: number;
  /** `offsets.retention.check.interval.ms` */
  readonly offsetsRetentionCheckMs: number;
};

/** What every shard of a process shares. */
export type ShardEnvironment = ShardsOptions & {
  /** Members told the hand-over interval now, in all shards (RSP-8). */
  readonly hurried: { count: number };
  /** Never the same number twice (OFF-2). */
  readonly nextIncarnation: () => number;
  readonly creationFailures: (topics: readonly CreatableTopic[]) => string | undefined;
};

/** Shards loaded side by side. A load is disk and decoding, so a few at a time fill both. */
const LOADS_AT_A_TIME = 4;

/** All shards of the process: made, loaded, told about topics and closed together. */
export class Shards {
  readonly all: readonly ShardActor[];
  readonly #options: ShardsOptions;

  constructor(options: ShardsOptions) {
    this.#options = options;
    let incarnations = 0;
    const env: ShardEnvironment = {
      ...options,
      hurried: { count: 0 },
      nextIncarnation: () => ++incarnations,
      creationFailures: (topics) => options.topicCreator.failures(topics),
    };
    this.all = Array.from({ length: options.shardCount }, (_, shard) => new ShardActor(shard, env));
    options.topics.onChange((names) => {
      const changed = new Set(names);
      for (const shard of this.all) shard.tell({ kind: 'topicsChanged', names: changed });
    });
  }

  /** Loads every shard. One that fails is logged and answers 16; the others serve. Never rejects. */
  async load(): Promise<void> {
    const waiting = [...this.all];
    const loadNext = async (): Promise<void> => {
      for (let shard = waiting.shift(); shard !== undefined; shard = waiting.shift())
        await shard.load();
    };
    await Promise.all(Array.from({ length: LOADS_AT_A_TIME }, loadNext));
  }

  get idle(): boolean {
    return this.all.every((shard) => shard.idle);
  }

  /** Waits until what was taken is answered, at most `graceMs`, then closes every shard. */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.monotonicMs() + graceMs;
    while (!this.idle && clock.monotonicMs() < deadline) {
      await new Promise<void>((resolve) => clock.after(5, resolve));
    }
    for (const shard of this.all) shard.close();
  }
}
