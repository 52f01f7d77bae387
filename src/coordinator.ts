import { randomBytes } from 'node:crypto';
import type { GroupCoordinator } from '../actors/group-coordinator.ts';
import type { GroupWatcher, Log, TopicCreatorPort, TopicsPort } from '../actors/ports.ts';
import { Router } from '../actors/router.ts';
import { Shards } from '../actors/shards.ts';
import { AssignorPool } from '../workers/pool.ts';
import { type AdminServer, openAdminServer } from './admin/server.ts';
import { systemClock } from './clock.ts';
import { Catalogue } from './cluster/catalogue.ts';
import { createInCatalogue } from './cluster/create-in-catalogue.ts';
import { TopicConfigResources } from './cluster/topic-config-resources.ts';
import { TopicCreator } from './cluster/topic-creator.ts';
import type { Config } from './config/config.ts';
import type { HostPort } from './config/host-port.ts';
import { GroupSettingsInForce } from './group-settings.ts';
import { createMetrics, type Metrics } from './observe/metrics.ts';
import { allowAll } from './server/authorize.ts';
import { brokerConfigResources } from './server/broker-config-resources.ts';
import { createDispatch, type Dispatch, type ListenerInfo } from './server/dispatch.ts';
import { groupConfigResources } from './server/group-config-resources.ts';
import { type Listener, openListener } from './server/listener.ts';
import type { ConfigResources } from './server/ports.ts';
import { createStandalone } from './server/standalone.ts';
import { openStorage, type Storage } from './storage.ts';

/** A coordinator that runs. */
export type RunningCoordinator = {
  /** Where clients connect. */
  readonly address: HostPort;
  /** Undefined when the admin server is off. */
  readonly adminAddress: HostPort | undefined;
  /** A gateway's own addresses for upstream nodes, by node id. */
  readonly nodeAddresses: ReadonlyMap<number, HostPort>;
  readonly coordinator: GroupCoordinator;
  readonly journal: Storage['journal'];
  /** Finishes what was taken, refuses what is new, closes. Takes at most `stop.timeout.ms`, then cuts off the rest. */
  stop(): Promise<void>;
};

/** What the shards stand on beside the store: the part that differs between standalone and gateway. */
export type Surroundings = {
  readonly topics: TopicsPort;
  readonly topicCreator: TopicCreatorPort;
  readonly watcher: GroupWatcher;
};

/** Runs that wait for a thread of the pool, for each of its threads. */
const RUNS_WAITING_PER_THREAD = 1000;
/** Answers a client may leave unread before it is not listened to any more. */
const UNSENT_BYTES_MAX = 8 * 1024 * 1024;
const FRAME_COMPLETION_MS = 30_000;
/** How long the creation of internal topics may take (C-5). */
const CREATE_TOPICS_TIMEOUT_MS = 30_000;
/** Partitions of a topic that asks for the default. */
const DEFAULT_PARTITION_COUNT = 1;

/**
 * Joins rooms and ports and starts the whole: store, shards, pool, listeners, admin server. Resolves when clients can be
 * served.
 *
 * @throws `StoreError`, `ListenError`, `AdminListenError`, `UpstreamError`: each with one clear line as its message;
 *   nothing is left open.
 */
export async function startCoordinator(
  config: Config,
  { log }: { readonly log: Log },
): Promise<RunningCoordinator> {
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const running = await start(config, log, closers);
    return { ...running, stop: closeAll };
  } catch (cause) {
    await closeAll();
    throw cause;
  }
}

async function start(
  config: Config,
  log: Log,
  closers: (() => Promise<void>)[],
): Promise<Omit<RunningCoordinator, 'stop'>> {
  const metrics = createMetrics();
  const storage = await openStorage(config, log);
  closers.push(() => storage.close());
  const settings = new GroupSettingsInForce({
    config,
    overrides: storage.overrides,
    nodeId: storage.identity.nodeId,
    log,
  });

  const catalogue = await Catalogue.open({
    keyValues: storage.keyValues,
    random: randomBytes,
    defaultPartitionCount: DEFAULT_PARTITION_COUNT,
  });
  const surroundings: Surroundings = {
    topics: catalogue,
    topicCreator: new TopicCreator({
      createTopics: createInCatalogue(catalogue),
      clock: systemClock,
      log,
      timeoutMs: CREATE_TOPICS_TIMEOUT_MS,
    }),
    watcher: { groupChanged() {} },
  };
  const { shards, router } = startShards(
    { config, log, storage, settings, surroundings, metrics },
    closers,
  );
  metrics.watchShards(() => router.shards());

  const configs = configResources(config, storage, settings);
  const standalone = createStandalone({
    coordinator: router,
    topics: catalogue,
    catalogue,
    configs: { ...configs, topic: new TopicConfigResources(catalogue) },
    identity: storage.identity,
    authorizer: allowAll,
    behaviour: config.behaviour,
    streamsEnabled: config.streamsEnabled,
    log,
  });
  const dispatch = createDispatch({
    handlers: standalone.handlers,
    versions: () => standalone.abilities.versions,
    log,
  });
  const listener = await openOn(config.listen, storage.identity.nodeId, {
    config,
    dispatch,
    metrics,
    log,
  });
  closers.push(() => listener.stop(config.stopTimeoutMs));
  // Clients that come now are told to try again; a shard answers as soon as it is loaded.
  const loaded = shards.load();
  const admin = await startAdmin(config, { router, storage, metrics, log }, closers);
  await loaded;
  return {
    address: { host: listener.info.host, port: listener.info.port },
    adminAddress: admin?.address,
    nodeAddresses: new Map(),
    coordinator: router,
    journal: storage.journal,
  };
}

function startShards(
  parts: {
    config: Config;
    log: Log;
    storage: Storage;
    settings: GroupSettingsInForce;
    surroundings: Surroundings;
    metrics: Metrics;
  },
  closers: (() => Promise<void>)[],
): { shards: Shards; router: Router } {
  const { config, log, storage, settings, surroundings, metrics } = parts;
  const assignor = new AssignorPool({
    threads: config.assignor.threads,
    queueMax: config.assignor.threads * RUNS_WAITING_PER_THREAD,
    log,
  });
  closers.push(() => assignor.close());
  const shared = {
    behaviour: config.behaviour,
    coordinator: config.coordinator,
    settings,
    topics: surroundings.topics,
    metrics: metrics.runtime,
  };
  const shards = new Shards({
    ...shared,
    clock: systemClock,
    recordLog: storage.recordLog,
    assignor,
    topicCreator: surroundings.topicCreator,
    journal: storage.journal,
    watcher: surroundings.watcher,
    log,
    shardCount: config.shards.count,
    mailboxMax: config.shards.mailboxMax,
    commitTimeoutMs: config.shards.commitTimeoutMs,
    assignorRunTimeoutMs: config.assignor.runTimeoutMs,
    hurriedMembersMax: config.handoverMembersMax,
    offsetsRetentionCheckMs: config.shards.retentionCheckIntervalMs,
  });
  closers.push(() => shards.close(config.stopTimeoutMs));
  return { shards, router: new Router(shards, shared) };
}

/** The settings of this broker and of groups, as clients see and change them. */
function configResources(
  config: Config,
  storage: Storage,
  settings: GroupSettingsInForce,
): { broker: ConfigResources; group: ConfigResources } {
  const { overrides, identity } = storage;
  const { profile } = config.behaviour;
  const { nodeId } = identity;
  const broker = brokerConfigResources({ overrides, settings: config.settings, profile, nodeId });
  const group = groupConfigResources({
    overrides,
    broker: () => settings.broker(),
    brokerChain: (name) => broker.chain(name),
    behaviour: config.behaviour,
  });
  return { broker, group };
}

function openOn(
  listen: HostPort,
  nodeId: ListenerInfo['nodeId'],
  parts: { config: Config; dispatch: Dispatch; metrics: Metrics; log: Log },
): Promise<Listener> {
  const { config, dispatch, metrics, log } = parts;
  const { advertised, server } = config;
  return openListener({
    host: listen.host,
    port: listen.port,
    info: (bound) => ({
      nodeId,
      host: advertised.host ?? bound.host,
      port: advertised.port ?? bound.port,
    }),
    dispatch,
    limits: {
      connectionsMax: server.connectionsMax,
      requestsInFlightMax: server.requestsInFlightMax,
      requestBytesMax: server.requestBytesMax,
      unsentBytesMax: UNSENT_BYTES_MAX,
      idleMs: server.connectionIdleMs,
      frameCompletionMs: FRAME_COMPLETION_MS,
    },
    clock: systemClock,
    log,
    metrics: metrics.server,
  });
}

async function startAdmin(
  config: Config,
  parts: { router: Router; storage: Storage; metrics: Metrics; log: Log },
  closers: (() => Promise<void>)[],
): Promise<AdminServer | undefined> {
  if (config.admin === undefined) return undefined;
  const admin = await openAdminServer({
    listen: config.admin,
    coordinator: parts.router,
    journal: parts.storage.journal,
    metrics: parts.metrics,
    upstreamReached: () => true,
    log: parts.log,
  });
  closers.push(() => admin.close());
  return admin;
}
