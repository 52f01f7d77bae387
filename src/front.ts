import type { GroupCoordinator } from '../actors/group-coordinator.ts';
import type { GroupWatcher, Log, TopicCreatorPort, TopicsPort } from '../actors/ports.ts';
import { systemClock } from './clock.ts';
import type { Catalogue } from './cluster/catalogue.ts';
import { createInCatalogue } from './cluster/create-in-catalogue.ts';
import { TopicCreator } from './cluster/topic-creator.ts';
import type { Config, UpstreamConfig } from './config/config.ts';
import type { HostPort } from './config/host-port.ts';
import type { Metrics } from './observe/metrics.ts';
import type { Handler, ListenerInfo, VersionTable } from './server/dispatch.ts';
import type { Listener } from './server/listener.ts';
import type { Standalone } from './server/standalone.ts';
import type { KeptAddresses } from './store/kept-addresses.ts';
import { createGateway } from './upstream/gateway.ts';

/** How long the creation of internal topics may take (C-5). */
const CREATE_TOPICS_TIMEOUT_MS = 30_000;

/** What differs between a coordinator that is the only broker its clients see, and one in front of a cluster. */
export type Front = {
  readonly topics: TopicsPort;
  readonly topicCreator: TopicCreatorPort;
  readonly watcher: GroupWatcher;
  /** What clients reach at the first address. */
  readonly nodeId: ListenerInfo['nodeId'];
  handlers(local: Standalone): ReadonlyMap<number, Handler>;
  versions(local: Standalone): (listener: ListenerInfo) => VersionTable;
  /** Resolves when clients can be served. */
  ready(): Promise<void>;
  isReachable(): boolean;
  /** Lets the metrics show what is this front's alone. */
  show(metrics: Pick<Metrics, 'watchPlaceholders'>): void;
  close(): void;
};

/** Everything is here: topics are those of the catalogue. */
export function standaloneFront(parts: { catalogue: Catalogue; nodeId: number; log: Log }): Front {
  const { catalogue, nodeId, log } = parts;
  return {
    topics: catalogue,
    topicCreator: new TopicCreator({
      createTopics: createInCatalogue(catalogue),
      isThere: (name) => catalogue.view().topic(name) !== undefined,
      clock: systemClock,
      log,
      timeoutMs: CREATE_TOPICS_TIMEOUT_MS,
    }),
    watcher: { groupChanged() {} },
    nodeId,
    handlers: ({ handlers }) => handlers,
    versions:
      ({ abilities }) =>
      () =>
        abilities.versions,
    ready: () => Promise.resolve(),
    isReachable: () => true,
    show() {},
    close() {},
  };
}

/** Streams groups are coordinated here, everything else is the cluster's. */
export function gatewayFront(parts: {
  config: Config;
  upstream: UpstreamConfig;
  addresses: KeptAddresses;
  /** Rejects when what is kept here goes with another cluster. */
  keepUpstream: (clusterId: string) => Promise<void>;
  openListener: (listen: HostPort, nodeId: number) => Promise<Listener>;
  coordinator: () => GroupCoordinator;
  log: Log;
}): Front {
  const { config, upstream, openListener } = parts;
  const gateway = createGateway({
    bootstrap: upstream.bootstrapServers,
    addresses: upstream.gatewayAddresses,
    bootstrapPort: config.listen.port,
    metadataPollMs: upstream.metadataPollMs,
    topicListPollMs: upstream.topicListPollMs,
    createTimeoutMs: CREATE_TOPICS_TIMEOUT_MS,
    shardCount: config.shards.count,
    coordinator: parts.coordinator,
    addressBook: parts.addresses,
    openListener: async ({ nodeId, host, port }) => {
      const { info } = await openListener({ host: host ?? config.listen.host, port }, nodeId);
      return { host: info.host, port: info.port };
    },
    clock: systemClock,
    log: parts.log,
    chance: () => Math.random(),
  });
  return {
    topics: gateway.topics,
    topicCreator: gateway.topicCreator,
    watcher: gateway.groupWatcher,
    nodeId: 'bootstrap',
    handlers: ({ handlers }) => gateway.handlers(handlers),
    versions: () => (listener) => gateway.versions(listener),
    async ready() {
      await gateway.ready({ failFast: upstream.failFast });
      const clusterId = gateway.clusterId();
      if (clusterId !== null) await parts.keepUpstream(clusterId);
    },
    isReachable: () => gateway.isReachable(),
    show: (metrics) => metrics.watchPlaceholders(() => gateway.placeholders()),
    close: () => gateway.close(),
  };
}
