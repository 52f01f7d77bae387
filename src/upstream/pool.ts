import { setMaxListeners } from 'node:events';
import type { Clock, Log } from '../../actors/ports.ts';
import { VERSION } from '../version.ts';
import type { ResponseOf } from '../wire/apis.ts';
import type { BrokerVersions } from './broker-versions.ts';
import { highestCommon } from './broker-versions.ts';
import type { ClusterMap } from './cluster-map.ts';
import type { Address, ConnectionOptions, Software } from './connection.ts';
import { UpstreamConnection } from './connection.ts';
import { reasonOf, UpstreamError } from './upstream-error.ts';

export type PoolParts = {
  readonly bootstrap: readonly Address[];
  readonly clusterMap: ClusterMap;
  readonly clock: Clock;
  readonly log: Log;
};

const CLIENT_ID = 'headgate';
const SOFTWARE: Software = { name: 'headgate', version: VERSION };
const CONNECT_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Of the gateway itself on one connection. */
const IN_FLIGHT_MAX = 1_000;
/** The server takes no more than this from one client (requests.in.flight.max is at most as high). */
const CLIENT_IN_FLIGHT_MAX = 10_000;
const BACK_OFF_FIRST_MS = 100;
const BACK_OFF_MAX_MS = 5_000;
const COORDINATORS_MAX = 100_000;
const GROUP_KEY = 0;

/** A place that is being connected to, is connected, or must not be tried again yet. */
type Place = {
  connection: UpstreamConnection | undefined;
  connecting: Promise<UpstreamConnection> | undefined;
  failures: number;
  /** On the monotonic clock. */
  retryAtMs: number;
  lastError: UpstreamError | undefined;
};

/**
 * The gateway's own connections, one for each broker, shared by all its questions; and the making of others.
 *
 * A broker that cannot be reached is left alone for a while (100 ms, doubled up to 5 s); until then asking for it
 * fails at once with what went wrong last.
 *
 * Source: wire.md 4.1, 4.6.
 */
export class UpstreamPool {
  private readonly parts: PoolParts;
  private readonly places = new Map<string, Place>();
  private readonly versionsById = new Map<number, BrokerVersions>();
  private readonly coordinators = new Map<string, number>();
  /** Given out by {@link open} and not closed yet. */
  private readonly lent = new Set<UpstreamConnection>();
  private refreshing: Promise<void> | undefined;
  private readonly closing = new AbortController();

  constructor(parts: PoolParts) {
    this.parts = parts;
    // One listener for each connection being made, which is no leak.
    setMaxListeners(0, this.closing.signal);
  }

  /** What a broker offered when it was last connected to; undefined before that. */
  versionsOf(nodeId: number): BrokerVersions | undefined {
    return this.versionsById.get(nodeId);
  }

  /** The gateway's connection to a broker. @throws UpstreamError */
  async node(nodeId: number): Promise<UpstreamConnection> {
    const connection = await this.at(this.addressOf(nodeId));
    this.versionsById.set(nodeId, connection.versions);
    return connection;
  }

  /** A connection to any broker that answers: known brokers first, then the bootstrap addresses. @throws UpstreamError */
  async any(): Promise<UpstreamConnection> {
    return this.firstOf((address) => this.at(address));
  }

  /** A connection to the controller, or to whom stands for it. @throws UpstreamError */
  async controller(): Promise<UpstreamConnection> {
    const { clusterMap } = this.parts;
    if (clusterMap.node(clusterMap.controllerId) === undefined) await this.refresh();
    const { controllerId } = clusterMap;
    return clusterMap.node(controllerId) === undefined ? this.any() : this.node(controllerId);
  }

  /**
   * Which broker coordinates a group upstream; asked once and kept until {@link forgetCoordinator}.
   *
   * @throws UpstreamError (`refused` when upstream has no coordinator for it now).
   */
  async coordinatorId(groupId: string): Promise<number> {
    const known = this.coordinators.get(groupId);
    if (known !== undefined && this.parts.clusterMap.node(known) !== undefined) return known;
    const asked = await this.any();
    const batched = highestCommon(asked.versions, 'FindCoordinator') >= 4;
    const answer = await asked.request('FindCoordinator', {
      keyType: GROUP_KEY,
      ...(batched ? { coordinatorKeys: [groupId] } : { key: groupId }),
    });
    const found = batched ? answer.coordinators[0] : answer;
    if (found === undefined || found.errorCode !== 0) {
      const code = found?.errorCode ?? -1;
      throw new UpstreamError('refused', `No coordinator upstream for "${groupId}": error ${code}`);
    }
    await this.parts.clusterMap.learnSome([found]);
    // A bound on memory; what is lost is asked again.
    if (this.coordinators.size >= COORDINATORS_MAX) this.coordinators.clear();
    this.coordinators.set(groupId, found.nodeId);
    return found.nodeId;
  }

  /** After 15, 16 or a lost connection: the next look-up asks again. */
  forgetCoordinator(groupId: string): void {
    this.coordinators.delete(groupId);
  }

  /** Asks for the list of brokers; one question at a time. @throws UpstreamError */
  async refresh(): Promise<void> {
    this.refreshing ??= this.refreshNow().finally(() => {
      this.refreshing = undefined;
    });
    await this.refreshing;
  }

  /** Takes in the brokers of a Metadata answer, opening addresses as needed. @throws UpstreamError */
  async learn(answer: ResponseOf<'Metadata'>): Promise<void> {
    await this.parts.clusterMap.learn({
      nodes: answer.brokers,
      controllerId: answer.controllerId,
      clusterId: answer.clusterId,
    });
  }

  /** Keeps a connection to every live broker, and so knows its versions; one that cannot be reached is passed over. */
  async reachAll(): Promise<void> {
    await Promise.allSettled(this.parts.clusterMap.aliveIds.map((id) => this.node(id)));
  }

  /** A connection of its own to one broker; the caller closes it. @throws UpstreamError */
  async open(nodeId: number): Promise<UpstreamConnection> {
    const connection = await UpstreamConnection.open(this.addressOf(nodeId), this.ownOptions());
    if (this.closing.signal.aborted) connection.close();
    this.lent.add(connection);
    connection.onClose(() => this.lent.delete(connection));
    return connection;
  }

  /**
   * A connection for one client, to the broker it wants or (undefined) to any that answers; the caller closes it.
   *
   * @throws UpstreamError
   */
  async openFor(nodeId: number | undefined, software: Software): Promise<UpstreamConnection> {
    const options = {
      ...this.ownOptions(),
      inFlightMax: CLIENT_IN_FLIGHT_MAX,
      software: software.name === '' ? SOFTWARE : software,
    };
    if (nodeId === undefined) {
      return this.firstOf((address) => UpstreamConnection.open(address, options));
    }
    // A restarted gateway knows the addresses it gave out before it knows the brokers behind them.
    if (this.parts.clusterMap.node(nodeId) === undefined) await this.refresh();
    const connection = await UpstreamConnection.open(this.addressOf(nodeId), options);
    this.versionsById.set(nodeId, connection.versions);
    return connection;
  }

  /** Closes all connections but those of clients, also those being made; what is outstanding is rejected. */
  close(): void {
    this.closing.abort();
    for (const { connection } of this.places.values()) connection?.close();
    for (const connection of this.lent) connection.close();
  }

  private ownOptions(): ConnectionOptions {
    return {
      clock: this.parts.clock,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      inFlightMax: IN_FLIGHT_MAX,
      clientId: CLIENT_ID,
      software: SOFTWARE,
      signal: this.closing.signal,
    };
  }

  private addressOf(nodeId: number): Address {
    const node = this.parts.clusterMap.node(nodeId);
    if (node !== undefined) return node;
    throw new UpstreamError('unreachable', `Upstream broker ${nodeId} is not known`);
  }

  private async refreshNow(): Promise<void> {
    const connection = await this.any();
    await this.learn(await connection.request('Metadata', { topics: [] }));
  }

  /** Tries the known brokers that are alive, then the bootstrap addresses. */
  private async firstOf(
    make: (address: Address) => Promise<UpstreamConnection>,
  ): Promise<UpstreamConnection> {
    const { clusterMap, bootstrap } = this.parts;
    const alive = clusterMap.aliveIds.map((id) => this.addressOf(id));
    let last: unknown;
    for (const address of [...alive, ...bootstrap]) {
      try {
        return await make(address);
      } catch (error) {
        last = error;
      }
    }
    const text = `No broker upstream can be reached: ${reasonOf(last)}`;
    throw new UpstreamError('unreachable', text, { cause: last });
  }

  private async at(address: Address): Promise<UpstreamConnection> {
    if (this.closing.signal.aborted) {
      throw new UpstreamError('lost', 'The gateway is being closed');
    }
    const place = this.placeOf(`${address.host}:${address.port}`);
    if (place.connection?.isOpen) return place.connection;
    if (place.connecting !== undefined) return place.connecting;
    if (place.lastError !== undefined && this.parts.clock.monotonicMs() < place.retryAtMs) {
      throw place.lastError;
    }
    place.connecting = this.connect(place, address).finally(() => {
      place.connecting = undefined;
    });
    return place.connecting;
  }

  private placeOf(title: string): Place {
    const known = this.places.get(title);
    if (known !== undefined) return known;
    const place: Place = {
      connection: undefined,
      connecting: undefined,
      failures: 0,
      retryAtMs: 0,
      lastError: undefined,
    };
    this.places.set(title, place);
    return place;
  }

  private async connect(place: Place, address: Address): Promise<UpstreamConnection> {
    try {
      const connection = await UpstreamConnection.open(address, this.ownOptions());
      if (this.closing.signal.aborted) connection.close();
      place.connection = connection;
      place.failures = 0;
      place.lastError = undefined;
      return connection;
    } catch (error) {
      const backOffMs = Math.min(BACK_OFF_FIRST_MS * 2 ** place.failures, BACK_OFF_MAX_MS);
      place.failures = Math.min(place.failures + 1, 16);
      place.retryAtMs = this.parts.clock.monotonicMs() + backOffMs;
      place.lastError = new UpstreamError('unreachable', reasonOf(error), { cause: error });
      this.parts.log.debug(
        { ...address, reason: reasonOf(error), backOffMs },
        'Upstream not reached',
      );
      throw place.lastError;
    }
  }
}
