import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { CommitAnswer, CommitRequest } from '../../machines/commands.ts';
import { newSoft } from '../../machines/model/empty.ts';
import type { Group, GroupState } from '../../machines/model/group.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { createDispatch, type ListenerInfo } from '../../src/server/dispatch.ts';
import type { Listener } from '../../src/server/listener.ts';
import { openListener } from '../../src/server/listener.ts';
import { createStandalone } from '../../src/server/standalone.ts';
import type { AddressBook, KeptAddress } from '../../src/upstream/cluster-map.ts';
import type { Gateway, GatewayParts } from '../../src/upstream/gateway.ts';
import { createGateway } from '../../src/upstream/gateway.ts';
import { IDLE_ANSWER } from './fake-group-coordinator.ts';
import { KeptLog } from './kept-log.ts';
import type { ManualClock } from './manual-clock.ts';
import { TEST_LIMITS } from './open-server.ts';
import { standaloneParts } from './standalone-parts.ts';
import { WireClient } from './wire-client.ts';

/** Streams groups as a test says they are; what members may do is scripted. */
export class ScriptedGroups {
  readonly states = new Map<string, GroupState>();
  readonly topologies = new Map<string, Topology>();
  readonly deleted: string[] = [];
  readonly gaveWay: string[] = [];
  /** Groups that cannot be ended for now. */
  readonly stuck = new Set<string>();
  readonly heartbeats: { readonly groupId: string; readonly memberEpoch: number }[] = [];
  /** Members that spoke while nothing could be judged. */
  readonly heard: (readonly [groupId: string, memberId: string])[] = [];
  readonly judged: CommitRequest[] = [];
  /** A shard error answers everything. */
  shardError: ErrorName = 'NONE';
  judgeCommit: (request: CommitRequest) => ErrorName = () => 'NONE';
  judgeFetch: () => ErrorName = () => 'NONE';
  judgeDelete: (topic: string) => ErrorName = () => 'NONE';

  answers(): Partial<GroupCoordinator> {
    return {
      heartbeat: async (request) => {
        this.heartbeats.push({ groupId: request.groupId, memberEpoch: request.memberEpoch });
        return { ...IDLE_ANSWER, memberId: request.memberId };
      },
      heard: (groupId, memberId) => void this.heard.push([groupId, memberId]),
      streamsGroup: async (groupId) => ({
        error: this.shardError,
        state: this.states.get(groupId),
      }),
      view: (groupId) => {
        const state = this.states.get(groupId);
        if (state === undefined) return undefined;
        const group = { groupId, state, topology: this.topologies.get(groupId) };
        return { group: group as unknown as Group, soft: newSoft(1) };
      },
      groupIds: () => [...this.states.keys()].sort(),
      judgeCommit: async (request) => {
        this.judged.push(request);
        return this.commitAnswer(request, this.judgeCommit(request));
      },
      judgeFetch: async () => this.judgeFetch(),
      judgeOffsetDelete: async ({ topics }) => ({
        error: 'NONE',
        topics: topics.map(({ name, partitions }) => ({
          name,
          partitions: partitions.map((partition) => ({
            partition,
            error: this.judgeDelete(name),
          })),
        })),
      }),
      list: async ({ types }) => ({
        error: this.shardError,
        groups: (types.includes('classic') ? [] : [...this.states]).map(
          ([groupId, groupState]) => ({
            groupId,
            protocolType: 'streams',
            groupState,
            groupType: 'streams',
          }),
        ),
      }),
      giveWay: async (groupId) => {
        if (this.stuck.has(groupId)) await new Promise(() => {});
        const state = this.states.get(groupId);
        if (state === undefined) return 'GROUP_ID_NOT_FOUND';
        if (state !== 'Empty') return 'INCONSISTENT_GROUP_PROTOCOL';
        this.states.delete(groupId);
        this.gaveWay.push(groupId);
        return 'NONE';
      },
      delete: async (groupIds) =>
        groupIds.map((groupId) => {
          const state = this.states.get(groupId);
          if (state !== 'Empty') return { groupId, error: 'NON_EMPTY_GROUP', message: null };
          this.states.delete(groupId);
          this.deleted.push(groupId);
          return { groupId, error: 'NONE', message: null };
        }),
    };
  }

  private commitAnswer({ topics }: CommitRequest, error: ErrorName): CommitAnswer {
    return {
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partition }) => ({ partition, error })),
      })),
    };
  }
}

export class KeptAddresses implements AddressBook {
  readonly entries: KeptAddress[] = [];
  async load(): Promise<readonly KeptAddress[]> {
    return [...this.entries];
  }
  async save(address: KeptAddress): Promise<void> {
    this.entries.push(address);
  }
}

/** A gateway on real sockets in front of a cluster, mostly a fake one. */
export class OpenGateway {
  readonly gateway: Gateway;
  readonly groups: ScriptedGroups;
  readonly log: KeptLog;
  readonly listeners = new Map<ListenerInfo['nodeId'], Listener>();
  private readonly clients: WireClient[] = [];
  private readonly clock: ManualClock;

  constructor(gateway: Gateway, groups: ScriptedGroups, log: KeptLog, clock: ManualClock) {
    this.gateway = gateway;
    this.groups = groups;
    this.log = log;
    this.clock = clock;
  }

  port(nodeId: ListenerInfo['nodeId']): number {
    const listener = this.listeners.get(nodeId);
    if (listener === undefined) throw new Error(`No address for ${nodeId}`);
    return listener.port;
  }

  async client(nodeId: ListenerInfo['nodeId'] = 1): Promise<WireClient> {
    const client = await WireClient.connect(this.port(nodeId));
    this.clients.push(client);
    return client;
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.destroy();
    this.gateway.close();
    const stopped = [...this.listeners.values()].map((listener) => listener.stop(0));
    await this.clock.pass(0);
    await Promise.all(stopped);
  }
}

export type OpenGatewayOptions = Partial<
  Pick<
    GatewayParts,
    'addresses' | 'addressBook' | 'metadataPollMs' | 'topicListPollMs' | 'bootstrap'
  >
> & {
  readonly groups?: ScriptedGroups;
  /** Do not wait for upstream. */
  readonly notReady?: boolean;
};

export async function openGateway(
  cluster: { readonly brokers: readonly { readonly port: number }[] },
  clock: ManualClock,
  options: OpenGatewayOptions = {},
): Promise<OpenGateway> {
  const groups = options.groups ?? new ScriptedGroups();
  const parts = await standaloneParts(groups.answers(), { standsForAll: true });
  const log = new KeptLog();
  const listen = async (nodeId: ListenerInfo['nodeId'], host: string, port: number) => {
    const listener = await openListener({
      host,
      port,
      info: (bound) => ({ nodeId, ...bound }),
      dispatch: { handle: (frame, connection) => dispatch.handle(frame, connection) },
      limits: TEST_LIMITS,
      clock,
      log,
    });
    open.listeners.set(nodeId, listener);
    return { host: listener.info.host, port: listener.info.port };
  };
  const gateway = createGateway({
    bootstrap: cluster.brokers.slice(0, 1).map(({ port }) => ({ host: '127.0.0.1', port })),
    addresses: new Map(),
    bootstrapPort: 0,
    metadataPollMs: 5_000,
    topicListPollMs: 30_000,
    createTimeoutMs: 30_000,
    shardCount: 50,
    coordinator: () => parts.coordinator,
    addressBook: new KeptAddresses(),
    openListener: ({ nodeId, host, port }) => listen(nodeId, host ?? '127.0.0.1', port),
    clock,
    log,
    chance: () => 0.5,
    ...options,
  });
  const open = new OpenGateway(gateway, groups, log, clock);
  const local = createStandalone({ ...parts, topics: gateway.topics });
  const dispatch = createDispatch({
    handlers: gateway.handlers(local.handlers),
    versions: (listener) => gateway.versions(listener),
    log,
  });
  await listen('bootstrap', '127.0.0.1', 0);
  if (options.notReady !== true) await gateway.ready({ failFast: true });
  return open;
}
