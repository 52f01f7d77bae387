import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { BrokerGroupSettings } from '../../machines/model/group-config.ts';
import { type Behaviour, resolveBehaviour } from '../../machines/model/profile.ts';
import type { CoordinatorSettings } from '../../machines/model/settings.ts';
import { type AssignorModule, modulesIn } from './assignor-modules.ts';
import { brokerGroupSettings } from './broker-group-settings.ts';
import { rows, type SettingName, type SettingValues, settingNames } from './definitions.ts';
import type { GatewayAddresses } from './headgate-settings.ts';
import type { HostPort } from './host-port.ts';

/** Where a setting's value comes from, the strongest first (BC-8). */
export type ConfigSource = 'flag' | 'environment' | 'file' | 'default';

/** A setting as it was resolved, for people and for DescribeConfigs. */
export type ResolvedSetting = {
  readonly name: SettingName;
  /** Null: nothing is set. */
  readonly text: string | null;
  readonly source: ConfigSource;
};

/** Everything the process is told at its start: complete, checked, plain. Times in ms. */
export type Config = {
  readonly behaviour: Behaviour;
  /** Port 0: any that is free. */
  readonly listen: HostPort;
  /** What clients are told; undefined: as bound. */
  readonly advertised: {
    readonly host: string | undefined;
    readonly port: number | undefined;
  };
  /** Undefined: no admin server. */
  readonly admin: HostPort | undefined;
  /** The folder as an absolute path: so it is told of. */
  readonly store: { readonly kind: 'level' | 'memory'; readonly dataDir: string };
  /** Who a standalone coordinator is; a cluster id left out is made once and kept. */
  readonly identity: { readonly clusterId: string | undefined; readonly nodeId: number };
  /** Undefined: standalone. */
  readonly upstream: UpstreamConfig | undefined;
  readonly server: ServerConfig;
  readonly shards: ShardsConfig;
  readonly assignor: AssignorConfig;
  /** What groups have unless they override it. */
  readonly group: BrokerGroupSettings;
  readonly coordinator: CoordinatorSettings;
  readonly handoverMembersMax: number;
  /** A source topic pattern may match so many topics. */
  readonly patternTopicsMax: number;
  /** The streams protocol is among the group protocols served (FF-2). */
  readonly streamsEnabled: boolean;
  readonly journal: { readonly retentionMs: number; readonly bytesMax: number };
  readonly log: LogConfig;
  /** How long a graceful stop may take. */
  readonly stopTimeoutMs: number;
  /** All settings by name, typed. */
  readonly values: SettingValues;
  /** All settings in the order of the table. */
  readonly settings: readonly ResolvedSetting[];
};

export type UpstreamConfig = {
  readonly bootstrapServers: readonly HostPort[];
  readonly metadataPollMs: number;
  readonly topicListPollMs: number;
  readonly failFast: boolean;
  /** Upstream node ids whose address was chosen by hand. */
  readonly gatewayAddresses: GatewayAddresses;
};

export type AssignorConfig = {
  readonly threads: number;
  readonly runTimeoutMs: number;
  /** Assignors of the user's own, their paths absolute. */
  readonly modules: readonly AssignorModule[];
  readonly moduleTimeoutMs: number;
  readonly moduleMemoryMaxBytes: number;
};

/** Bounds of the server towards its clients. */
export type ServerConfig = {
  readonly connectionsMax: number;
  readonly connectionIdleMs: number;
  readonly requestsInFlightMax: number;
  readonly requestBytesMax: number;
};

export type ShardsConfig = {
  readonly count: number;
  readonly mailboxMax: number;
  readonly commitTimeoutMs: number;
  readonly retentionCheckIntervalMs: number;
};

export type LogConfig = {
  readonly level: SettingValues['log.level'];
  /** `auto`: when standard error is a terminal. */
  readonly pretty: SettingValues['log.pretty'];
};

/**
 * Puts resolved values into the shape that the rooms take.
 *
 * @param origin.sourceOf where each value came from.
 * @param origin.file the properties file, if there is one: paths in it count from its folder.
 */
export function buildConfig(
  values: SettingValues,
  origin: {
    readonly sourceOf: (name: SettingName) => ConfigSource;
    readonly file: string | undefined;
  },
): Config {
  const { sourceOf, file = '' } = origin;
  const modulesFrom = sourceOf('assignors.modules') === 'file' ? dirname(file) : '.';
  const adminPort = values['admin.port'];
  return {
    behaviour: resolveBehaviour(values['protocol.profile'], {
      fenceRemovesMember: values['fence.removes.member'],
      acceptStaleTopologyJoin: values['join.with.stale.topology'],
      resolveSourceTopicRegex: values['source.topic.regex'],
    }),
    listen: { host: values.host, port: values.port },
    advertised: { host: values['advertised.host'], port: values['advertised.port'] },
    admin: adminPort === 'off' ? undefined : { host: values['admin.host'], port: adminPort },
    store: { kind: values.store, dataDir: resolve(values['data.dir']) },
    identity: { clusterId: values['cluster.id'], nodeId: values['node.id'] },
    upstream: upstreamOf(values),
    server: {
      connectionsMax: values['connections.max'],
      connectionIdleMs: values['connection.idle.ms'],
      requestsInFlightMax: values['requests.in.flight.max'],
      requestBytesMax: values['socket.request.max.bytes'],
    },
    shards: {
      count: values['offsets.topic.num.partitions'],
      mailboxMax: values['mailbox.max'],
      commitTimeoutMs: values['offsets.commit.timeout.ms'],
      retentionCheckIntervalMs: values['offsets.retention.check.interval.ms'],
    },
    assignor: {
      threads: values['assignor.threads'] ?? Math.max(1, availableParallelism() - 1),
      runTimeoutMs: values['assignor.run.timeout.ms'],
      modules: modulesIn(modulesFrom, values['assignors.modules']),
      moduleTimeoutMs: values['assignor.module.timeout.ms'],
      moduleMemoryMaxBytes: values['assignor.module.memory.max.bytes'],
    },
    group: brokerGroupSettings(values, {
      assignorsExplicit: sourceOf('group.streams.assignors') !== 'default',
    }),
    coordinator: {
      maxGroupSize: values['group.streams.max.size'],
      assignorAnswerWaitMs: values['assignor.answer.wait.ms'],
      handoverHeartbeatIntervalMs: values['handover.heartbeat.interval.ms'],
      warmupWaitMaxMs: values['warmup.wait.max.ms'],
      offsetMetadataMaxBytes: values['offset.metadata.max.bytes'],
      offsetsRetentionMs: values['offsets.retention.minutes'] * 60_000,
      offsetsAreElsewhere: values['upstream.bootstrap.servers'] !== undefined,
    },
    handoverMembersMax: values['handover.members.max'],
    patternTopicsMax: values['source.topic.regex.topics.max'],
    streamsEnabled: values['group.coordinator.rebalance.protocols'].includes('streams'),
    journal: {
      retentionMs: values['journal.retention.ms'],
      bytesMax: values['journal.max.bytes'],
    },
    log: { level: values['log.level'], pretty: values['log.pretty'] },
    stopTimeoutMs: values['stop.timeout.ms'],
    values,
    settings: settingNames.map((name) => ({
      name,
      text: rows[name].format(values[name]),
      source: sourceOf(name),
    })),
  };
}

function upstreamOf(values: SettingValues): UpstreamConfig | undefined {
  const bootstrapServers = values['upstream.bootstrap.servers'];
  if (bootstrapServers === undefined) return undefined;
  return {
    bootstrapServers,
    metadataPollMs: values['upstream.metadata.poll.ms'],
    topicListPollMs: values['upstream.topic.list.poll.ms'],
    failFast: values['upstream.fail.fast'],
    gatewayAddresses: values['gateway.addresses'] ?? new Map(),
  };
}
