import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { Clock, GroupWatcher, Log, TopicCreatorPort, TopicsPort } from '../../actors/ports.ts';
import { topologyInForce } from '../../machines/decide/resolve-topology.ts';
import { requiredTopics } from '../../machines/decide/topology.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { TopicCreator } from '../cluster/topic-creator.ts';
import { UpstreamTopics } from '../cluster/upstream-topics.ts';
import type { Handler, ListenerInfo, VersionTable } from '../server/dispatch.ts';
import { apis } from '../wire/apis.ts';
import type { AddressBook, OpenListener } from './cluster-map.ts';
import { ClusterMap } from './cluster-map.ts';
import { ConfigSplits } from './config-splits.ts';
import type { Address } from './connection.ts';
import { createUpstream } from './create-upstream.ts';
import { GatewayAbilities } from './gateway-abilities.ts';
import { GroupGuards } from './group-guards.ts';
import { HeartbeatGuard } from './heartbeat-guard.ts';
import { KeyedLocks } from './keyed-locks.ts';
import { OffsetCommits } from './offset-commits.ts';
import { offsetDeleteHandler } from './offset-deletes.ts';
import { offsetFetchHandler } from './offset-fetches.ts';
import { PassOn } from './pass-on.ts';
import { type Hold, Placeholders } from './placeholders.ts';
import { UpstreamPool } from './pool.ts';
import { routes } from './routing.ts';
import { Splits } from './splits.ts';
import { allTopicsLook, topicLook } from './topic-look.ts';
import { reasonOf, UpstreamError } from './upstream-error.ts';

export type GatewayParts = {
  /** `upstream.bootstrap.servers`. */
  readonly bootstrap: readonly Address[];
  /** `gateway.addresses`, by node id. */
  readonly addresses: ReadonlyMap<number, Address>;
  /** Of the bootstrap listener as configured; 0 = any. */
  readonly bootstrapPort: number;
  /** `upstream.metadata.poll.ms`. */
  readonly metadataPollMs: number;
  /** `upstream.topic.list.poll.ms`. */
  readonly topicListPollMs: number;
  /** How long the controller may take to create topics, ms. */
  readonly createTimeoutMs: number;
  readonly shardCount: number;
  /** The coordinator of the streams groups; first asked for when the gateway is {@link Gateway.ready}. */
  readonly coordinator: () => GroupCoordinator;
  readonly addressBook: AddressBook;
  readonly openListener: OpenListener;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 to 1, for jitter. */
  readonly chance: () => number;
};

/** A gateway in front of a cluster: what the edge and the core need of it. */
export interface Gateway {
  readonly topics: TopicsPort;
  readonly topicCreator: TopicCreatorPort;
  readonly groupWatcher: GroupWatcher;
  /**
   * The handlers of all keys that are offered. `local`: those that a standalone coordinator has for StreamsGroup…,
   * group and config APIs (11, 15, 16, 32, 33, 42, 44, 68, 69, 74, 76, 88, 89, 93).
   */
  handlers(local: ReadonlyMap<number, Handler>): ReadonlyMap<number, Handler>;
  /** What is offered on an address. Cheap. */
  versions(listener: ListenerInfo): VersionTable;
  /**
   * Opens the addresses that were given out before, then reaches for upstream until it answers, and starts to look
   * after topics and placeholders. With `failFast` the first failure rejects with UpstreamError.
   */
  ready(options: { readonly failFast: boolean }): Promise<void>;
  /** Of the cluster upstream; null: not known. */
  clusterId(): string | null;
  /** Whether upstream answered when it was asked last. */
  isReachable(): boolean;
  /** How many groups are held upstream, and how many are not for which reason. */
  placeholders(): ReadonlyMap<Hold, number>;
  /** Ends all connections of the gateway itself; placeholders stay for whoever comes next. */
  close(): void;
}

const RETRY_FIRST_MS = 200;
const RETRY_MAX_MS = 5_000;
/** Keys that this process answers itself, in every version it knows. */
const localVersions: VersionTable = new Map(
  [
    apis.ApiVersions,
    apis.StreamsGroupHeartbeat,
    apis.StreamsGroupDescribe,
    apis.StreamsGroupTopologyDescriptionUpdate,
  ].map(({ key, minVersion: min, maxVersion: max }) => [key, { min, max }]),
);

/** Puts a gateway together. Nothing is opened or asked before {@link Gateway.ready}. */
export function createGateway(parts: GatewayParts): Gateway {
  const { coordinator, clock, log } = parts;
  const clusterMap = new ClusterMap(parts);
  const pool = new UpstreamPool({ bootstrap: parts.bootstrap, clusterMap, clock, log });
  const abilities = new GatewayAbilities({ pool, clusterMap, clock, localVersions });
  const passOn = new PassOn({ pool, clusterMap, clock, log });
  const topics = new UpstreamTopics({
    look: topicLook(pool, clusterMap),
    lookAtAll: allTopicsLook(pool, clusterMap),
    clock,
    log,
    pollMs: parts.metadataPollMs,
    listPollMs: parts.topicListPollMs,
    chance: parts.chance,
    namesInUse: () => namesInUse(coordinator()),
  });
  const topicCreator = new TopicCreator({
    createTopics: createUpstream(pool, () => topics.poke()),
    isThere: (name) => topics.view().topic(name) !== undefined,
    clock,
    log,
    timeoutMs: parts.createTimeoutMs,
  });
  const placeholders = new Placeholders({
    pool,
    locks: new KeyedLocks(),
    clock,
    log,
    shardCount: parts.shardCount,
    stateOf: (groupId) => coordinator().view(groupId)?.group.state,
  });
  let isReachable = false;
  let isClosed = false;
  let cancelTimer = (): void => undefined;

  function handlers(local: ReadonlyMap<number, Handler>): ReadonlyMap<number, Handler> {
    const shared = { coordinator, passOn, pool, clusterMap, placeholders, topics, log };
    const offsets = { ...shared, locks: new KeyedLocks() };
    const commits = new OffsetCommits(offsets);
    const guards = new GroupGuards({ ...shared, clock, local });
    const heartbeats = local.get(apis.StreamsGroupHeartbeat.key);
    if (heartbeats === undefined) throw new Error('No handler here for StreamsGroupHeartbeat');
    const guard = new HeartbeatGuard({ ...shared, clock, local: heartbeats });
    const table = new Map<number, Handler>();
    for (const [key, { treatment }] of routes) {
      const ours = local.get(key);
      if (treatment === 'opaque') table.set(key, passOn.opaque());
      else if (treatment === 'observe')
        table.set(
          key,
          passOn.observed(() => topics.poke()),
        );
      else if (treatment === 'local' && ours !== undefined) table.set(key, ours);
    }
    const looked: readonly (readonly [number, Handler])[] = [
      [apis.ApiVersions.key, abilities.handler()],
      [apis.StreamsGroupHeartbeat.key, guard.handler()],
      [apis.Metadata.key, passOn.rewritten('Metadata')],
      [
        apis.FindCoordinator.key,
        passOn.findCoordinator((id) => coordinator().view(id) !== undefined),
      ],
      [apis.DescribeCluster.key, passOn.describeCluster()],
      [apis.Produce.key, passOn.produce()],
      [apis.ShareFetch.key, passOn.rewritten('ShareFetch')],
      [apis.ShareAcknowledge.key, passOn.rewritten('ShareAcknowledge')],
      [apis.OffsetCommit.key, commits.handler('OffsetCommit')],
      [apis.TxnOffsetCommit.key, commits.handler('TxnOffsetCommit')],
      [apis.OffsetFetch.key, offsetFetchHandler(offsets)],
      [apis.OffsetDelete.key, offsetDeleteHandler(shared)],
      ...guards.handlers(),
      ...new Splits({ ...shared, local }).handlers(),
      ...new ConfigSplits({ passOn, local }).handlers(),
    ];
    for (const [key, handler] of looked) table.set(key, handler);
    return table;
  }

  async function reach(): Promise<void> {
    try {
      await pool.refresh();
      if (!isReachable) log.info({ brokers: clusterMap.aliveIds }, 'Upstream is reachable');
      isReachable = true;
    } catch (error) {
      if (isReachable) log.warn({ reason: reasonOf(error) }, 'Upstream cannot be reached');
      isReachable = false;
      throw error;
    }
    await pool.reachAll();
  }

  async function reachUntilThere(failFast: boolean): Promise<void> {
    for (let attempt = 0; !isClosed; attempt++) {
      try {
        await reach();
        return;
      } catch (error) {
        if (failFast || isClosed || !(error instanceof UpstreamError)) throw error;
        const waitMs = Math.min(RETRY_FIRST_MS * 2 ** attempt, RETRY_MAX_MS);
        if (attempt === 0) log.warn({ reason: error.message }, 'Upstream cannot be reached yet');
        await new Promise<void>((resolve) => {
          cancelTimer = clock.after(waitMs, resolve);
        });
      }
    }
  }

  /** Looks after brokers and placeholders for as long as the gateway is open. */
  function lookAfter(): void {
    if (isClosed) return;
    cancelTimer = clock.after(parts.metadataPollMs, () => {
      const settled = (): void => {
        placeholders.sweep(coordinator().groupIds());
        lookAfter();
      };
      reach().then(settled, settled);
    });
  }

  return {
    topics,
    topicCreator,
    groupWatcher: placeholders,
    handlers,
    versions: (listener) => abilities.of(listener).versions,
    async ready({ failFast }) {
      await clusterMap.openKept();
      await reachUntilThere(failFast);
      if (isClosed) return;
      topics.start();
      lookAfter();
    },
    clusterId: () => clusterMap.clusterId,
    isReachable: () => isReachable,
    placeholders: () => placeholders.counts(),
    close() {
      isClosed = true;
      cancelTimer();
      topics.stop();
      placeholders.close();
      pool.close();
    },
  };
}

const namesByTopology = new WeakMap<Topology, readonly string[]>();

/** The topics that live topologies read or write. */
function* namesInUse(coordinator: GroupCoordinator): Iterable<string> {
  for (const groupId of coordinator.groupIds()) {
    const view = coordinator.view(groupId);
    const topology = view && topologyInForce(view.group, view.soft);
    if (topology === undefined) continue;
    const names = namesByTopology.get(topology) ?? requiredTopics(topology);
    namesByTopology.set(topology, names);
    yield* names;
  }
}
