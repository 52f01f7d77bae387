import type { Context } from '../machines/decision.ts';
import type { Behaviour } from '../machines/model/profile.ts';
import type { CoordinatorSettings } from '../machines/model/settings.ts';
import type { CreatableTopic } from '../machines/model/topology.ts';
import type {
  AssignorPort,
  Clock,
  GroupWatcher,
  JournalPort,
  Log,
  PatternsPort,
  RecordLog,
  RuntimeMetrics,
  SettingsPort,
  TopicCreatorPort,
  TopicsPort,
} from './ports.ts';
import type { Turns } from './turns.ts';

/** The ports the core needs from outside, and the settings that hold for the whole process. */
export type ShardsOptions = {
  readonly clock: Clock;
  readonly recordLog: RecordLog;
  readonly assignor: AssignorPort;
  readonly topics: TopicsPort;
  readonly patterns: PatternsPort;
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
  readonly turns: Turns;
  /** Members told the hand-over interval now, in all shards (RSP-8). */
  readonly hurried: { count: number };
  /** Never the same number twice (OFF-2). */
  readonly nextIncarnation: () => number;
  readonly creationFailures: (topics: readonly CreatableTopic[]) => string | undefined;
};

/** What a decision on this group may look at now. */
export function contextOf(groupId: string, env: ShardEnvironment): Context {
  return {
    nowMs: env.clock.nowMs(),
    settings: env.settings.group(groupId),
    coordinator: env.coordinator,
    behaviour: env.behaviour,
    topics: env.topics.view(),
    freshIncarnation: env.nextIncarnation(),
    mayHurry: env.hurried.count < env.hurriedMembersMax,
    creationFailures: env.creationFailures,
  };
}
