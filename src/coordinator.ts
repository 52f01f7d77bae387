import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { GroupCoordinator } from '../actors/group-coordinator.ts';
import type { AssignorPort, Log } from '../actors/ports.ts';
import { Router } from '../actors/router.ts';
import { Shards } from '../actors/shards.ts';
import { AssignorModules } from '../workers/assignor-modules.ts';
import { PatternPool } from '../workers/pattern-pool.ts';
import { AssignorPool } from '../workers/pool.ts';
import { loadRe2 } from '../workers/re2.ts';
import { type AdminServer, openAdminServer } from './admin/server.ts';
import { systemClock } from './clock.ts';
import { Catalogue } from './cluster/catalogue.ts';
import { TopicConfigResources } from './cluster/topic-config-resources.ts';
import { TopicPatterns } from './cluster/topic-patterns.ts';
import type { Config } from './config/config.ts';
import type { HostPort } from './config/host-port.ts';
import { type Front, gatewayFront, standaloneFront } from './front.ts';
import { GroupSettingsInForce } from './group-settings.ts';
import { Listeners } from './listeners.ts';
import { createMetrics, type Metrics } from './observe/metrics.ts';
import { ProblemFolder } from './problem/problem-folder.ts';
import { ProblemKeeper } from './problem/problem-keeper.ts';
import { type Authorizer, allowAll } from './server/authorize.ts';
import { brokerConfigResources } from './server/broker-config-resources.ts';
import { createDispatch, type Dispatch } from './server/dispatch.ts';
import { groupConfigResources } from './server/group-config-resources.ts';
import type { ConfigResources } from './server/ports.ts';
import { createStandalone } from './server/standalone.ts';
import { openStorage, type Storage } from './storage.ts';
import { unlessAborted } from './unless-aborted.ts';
import { within } from './within.ts';

/** A coordinator that runs. */
export type RunningCoordinator = {
  /** Where clients connect. */
  readonly address: HostPort;
  /** Undefined when the admin server is off. */
  readonly adminAddress: HostPort | undefined;
  /** A gateway's addresses that stand for upstream nodes, by node id; empty without an upstream. */
  readonly nodeAddresses: ReadonlyMap<number, HostPort>;
  readonly coordinator: GroupCoordinator;
  readonly journal: Storage['journal'];
  /** Finishes what was taken, refuses what is new, closes. Takes at most `stop.timeout.ms`, then cuts off the rest. */
  stop(): Promise<void>;
};

/** Runs that wait for a thread of the pool, for each of its threads. */
const RUNS_WAITING_PER_THREAD = 1000;
/** Where problems at which the assignor failed are kept, below the data folder. */
const PROBLEMS_FOLDER = 'problems';
/** Partitions of a topic that asks for the default. */
const DEFAULT_PARTITION_COUNT = 1;

/**
 * Joins rooms and ports and starts the whole: store, shards, pool, listeners, admin server. Resolves when clients can be
 * served.
 *
 * @param parts.authorizer asked about every request; left out, everybody may do everything.
 * @param parts.assignorThread the compiled file that the assignor's threads run; another one only in tests of what they can do wrong.
 * @param parts.signal aborted before then, it ends the wait for own assignors, upstream and shards to load, and the promise
 *   rejects with its reason; afterwards it means nothing.
 * @throws `AssignorModuleError`, `StoreError`, `ListenError`, `AdminListenError`, `UpstreamError`: each with one clear line as its message;
 *   nothing is left open.
 */
export async function startCoordinator(
  config: Config,
  parts: {
    readonly log: Log;
    readonly signal?: AbortSignal | undefined;
    readonly authorizer?: Authorizer;
    readonly assignorThread?: URL;
  },
): Promise<RunningCoordinator> {
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const running = await start(config, parts, closers);
    return { ...running, stop: closeAll };
  } catch (cause) {
    await closeAll();
    throw cause;
  }
}

async function start(
  config: Config,
  { log, signal, authorizer = allowAll, assignorThread }: Parameters<typeof startCoordinator>[1],
  closers: (() => Promise<void>)[],
): Promise<Omit<RunningCoordinator, 'stop'>> {
  const metrics = createMetrics();
  const modules = await AssignorModules.open({
    modules: config.assignor.modules,
    timeoutMs: config.assignor.moduleTimeoutMs,
    memoryMaxBytes: config.assignor.moduleMemoryMaxBytes,
    signal,
    log,
    onIdleEnd: metrics.moduleEndedIdle,
  });
  closers.push(() => modules.close());
  const storage = await openStorage(config, log);
  closers.push(() => storage.close());
  const settings = new GroupSettingsInForce({
    config,
    overrides: storage.overrides,
    nodeId: storage.identity.nodeId,
    log,
  });

  // The two know each other: the gateway asks the coordinator about groups, and the coordinator looks at its topics.
  const late: { router?: Router; dispatch?: Dispatch } = {};
  const listeners = new Listeners({ config, dispatch: () => there(late.dispatch), metrics, log });
  const catalogue = await Catalogue.open({
    keyValues: storage.keyValues,
    random: randomBytes,
    defaultPartitionCount: DEFAULT_PARTITION_COUNT,
  });
  const front =
    config.upstream === undefined
      ? standaloneFront({ catalogue, nodeId: storage.identity.nodeId, log })
      : gatewayFront({
          config,
          upstream: config.upstream,
          addresses: storage.addresses,
          keepUpstream: (clusterId) => storage.keepUpstream(clusterId),
          openListener: (listen, nodeId) => listeners.open(listen, nodeId),
          coordinator: () => there(late.router),
          log,
        });
  closers.push(async () => front.close());
  const patternPool = new PatternPool({ matchesMax: config.patternTopicsMax });
  closers.push(() => patternPool.close());
  if (config.behaviour.resolveSourceTopicRegex) warnWithoutRe2(log);
  const patterns = new TopicPatterns({
    topics: front.topics,
    match: (wanted, names) => patternPool.match(wanted, names),
  });
  const { shards, router } = startShards(
    { config, log, storage, settings, front, modules, assignorThread, patterns, metrics },
    closers,
  );
  late.router = router;
  // What was taken is answered before the shards close.
  closers.push(() => listeners.stop(config.stopTimeoutMs));
  metrics.watchShards(() => router.shards());
  front.show(metrics);

  const configs = configResources(config, storage, settings);
  const standalone = createStandalone({
    coordinator: router,
    topics: front.topics,
    patterns,
    catalogue,
    configs: { ...configs, topic: new TopicConfigResources(catalogue) },
    identity: storage.identity,
    authorizer,
    behaviour: config.behaviour,
    streamsEnabled: config.streamsEnabled,
    carriesData: config.upstream !== undefined,
    log,
  });
  late.dispatch = createDispatch({
    handlers: front.handlers(standalone),
    versions: front.versions(standalone),
    log,
    tally: metrics.server,
  });
  const listener = await listeners.open(config.listen, front.nodeId);
  const parts = { router, storage, metrics, front, listeners, log };
  const admin = await startAdmin(config, parts, closers);
  // Clients that come now are told to try again; a shard answers as soon as it is loaded. From then on its members'
  // sessions run (LOAD-1): not while upstream is away, when they beat and nobody may hear them.
  const served = front.ready().then(() => shards.load());
  // Beside the loading of assignor modules the only waits whose end is not in our hands.
  await unlessAborted(served, signal);
  return {
    address: { host: listener.info.host, port: listener.info.port },
    adminAddress: admin?.address,
    nodeAddresses: listeners.nodeAddresses(),
    coordinator: router,
    journal: storage.journal,
  };
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('Asked for before it was made');
  return value;
}

function startShards(
  parts: {
    config: Config;
    log: Log;
    storage: Storage;
    settings: GroupSettingsInForce;
    front: Front;
    modules: AssignorModules;
    assignorThread: URL | undefined;
    patterns: TopicPatterns;
    metrics: Metrics;
  },
  closers: (() => Promise<void>)[],
): { shards: Shards; router: Router } {
  const { config, log, storage, settings, front, patterns, metrics } = parts;
  const assignor = startAssignor(parts, closers);
  const shared = {
    behaviour: config.behaviour,
    coordinator: config.coordinator,
    settings,
    topics: front.topics,
    metrics: metrics.runtime,
  };
  const shards = new Shards({
    ...shared,
    clock: systemClock,
    recordLog: storage.recordLog,
    assignor,
    patterns,
    topicCreator: front.topicCreator,
    journal: storage.journal,
    watcher: front.watcher,
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

/** The pool; where there is a folder, problems at which it fails are kept there. */
function startAssignor(
  parts: {
    readonly config: Config;
    readonly log: Log;
    readonly modules: AssignorModules;
    readonly assignorThread: URL | undefined;
  },
  closers: (() => Promise<void>)[],
): AssignorPort {
  const { config, log, modules, assignorThread } = parts;
  const { assignor, store, stopTimeoutMs } = config;
  const folder =
    store.kind === 'memory'
      ? undefined
      : new ProblemFolder({ folder: join(store.dataDir, PROBLEMS_FOLDER), log });
  if (folder !== undefined) {
    closers.push(async () => {
      await within(systemClock, stopTimeoutMs, folder.idle());
    });
  }
  const pool = new AssignorPool({
    threads: assignor.threads,
    queueMax: assignor.threads * RUNS_WAITING_PER_THREAD,
    log,
    modules,
    ...(assignorThread !== undefined && { threadFile: assignorThread }),
  });
  closers.push(() => pool.close());
  return new ProblemKeeper({ assignor: pool, folder, clock: systemClock, log });
}

/** The settings of this broker and of groups, as clients see and change them. */
function configResources(
  config: Config,
  storage: Storage,
  settings: GroupSettingsInForce,
): { broker: ConfigResources; group: ConfigResources } {
  const { overrides, identity } = storage;
  const { nodeId } = identity;
  const broker = brokerConfigResources({
    overrides,
    config,
    nodeId,
    standsForAll: config.upstream !== undefined,
  });
  const group = groupConfigResources({
    overrides,
    broker: () => settings.broker(),
    brokerChain: (name) => broker.chain(name),
    behaviour: config.behaviour,
  });
  return { broker, group };
}

async function startAdmin(
  config: Config,
  parts: {
    router: Router;
    storage: Storage;
    metrics: Metrics;
    front: Front;
    listeners: Listeners;
    log: Log;
  },
  closers: (() => Promise<void>)[],
): Promise<AdminServer | undefined> {
  if (config.admin === undefined) return undefined;
  const admin = await openAdminServer({
    listen: config.admin,
    coordinator: parts.router,
    journal: parts.storage.journal,
    metrics: parts.metrics,
    upstreamReached: () => parts.front.isReachable(),
    addresses: () => parts.listeners.addresses(),
    log: parts.log,
  });
  closers.push(() => admin.close());
  return admin;
}

/** Whoever installed without RE2 hears of it before an application does. */
function warnWithoutRe2(log: Log): void {
  loadRe2().catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    log.warn({ reason }, 'Source topic patterns will be refused: the package re2 is not installed');
  });
}
