import type { Clock } from '../../actors/ports.ts';
import type { Abilities, Feature } from '../server/api-versions.ts';
import { apiVersionsHandler } from '../server/api-versions.ts';
import type { Handler, ListenerInfo, VersionTable } from '../server/dispatch.ts';
import { apis } from '../wire/apis.ts';
import { within } from '../within.ts';
import type { BrokerVersions, VersionRange } from './broker-versions.ts';
import { intersect } from './broker-versions.ts';
import type { ClusterMap } from './cluster-map.ts';
import type { UpstreamPool } from './pool.ts';
import { routes } from './routing.ts';

export type GatewayAbilitiesParts = {
  readonly pool: UpstreamPool;
  readonly clusterMap: ClusterMap;
  readonly clock: Clock;
  /** What this process answers itself, by key: StreamsGroupHeartbeat and its kin. */
  readonly localVersions: VersionTable;
};

/** Split APIs whose local part does not need upstream to have the version (74 and the types filter of 16). */
const VERSIONS_OF_OUR_OWN: readonly number[] = [apis.ListGroups.key, apis.ListConfigResources.key];
/** The versions without which a producer cannot speak transactions V2 (wire.md 4.6). */
const TRANSACTIONS_V2: ReadonlyMap<number, number> = new Map([
  [apis.Produce.key, 12],
  [apis.EndTxn.key, 5],
  [apis.TxnOffsetCommit.key, 5],
]);
const TRANSACTION_FEATURE = 'transaction.version';
const STREAMS: Feature = { name: 'streams.version', supported: { min: 0, max: 1 }, level: 1 };
/** How long a client's first question waits for its broker before the last known answer is given. */
const PATIENCE_MS = 2_000;

/**
 * What the clients of each address are told: what their broker upstream offers as far as the gateway can pass it on,
 * and the streams protocol on top. The bootstrap address offers what all known brokers have in common.
 *
 * Features are upstream's, with `streams.version` 1 and, where a version that transactions V2 need is missing on any
 * known broker, `transaction.version` at most 1: all addresses tell the same story.
 *
 * Source: wire.md 2.4, 4.6.
 */
export class GatewayAbilities {
  private readonly parts: GatewayAbilitiesParts;
  private readonly known = new Map<number | 'bootstrap', Abilities>();
  /** Of each live broker, as far as they are known. */
  private basedOn: readonly (BrokerVersions | undefined)[] = [];
  private clusterId: string | null = null;

  constructor(parts: GatewayAbilitiesParts) {
    this.parts = parts;
  }

  /** Cheap: made anew only when a broker offers something else than before. */
  of(listener: ListenerInfo): Abilities {
    this.forgetIfChanged();
    const { nodeId } = listener;
    const known = this.known.get(nodeId);
    if (known !== undefined) return known;
    const made = this.make(nodeId);
    this.known.set(nodeId, made);
    return made;
  }

  /** The handler of ApiVersions: asks the broker behind the address if need be, never passes the request on. */
  handler(): Handler {
    const answer = apiVersionsHandler((listener) => this.of(listener));
    return async (request) => {
      const { nodeId } = request.connection.listener;
      await this.refreshed(nodeId);
      // Nothing was ever heard of that broker: nothing can be offered.
      const isKnown = nodeId === 'bootstrap' ? this.hasHeard() : this.versionsOf(nodeId);
      return isKnown ? answer(request) : 'close';
    };
  }

  /** Asks again where there is no connection; a broker that is away leaves what was known. */
  private async refreshed(nodeId: number | 'bootstrap'): Promise<void> {
    const { pool, clock } = this.parts;
    const asked =
      nodeId === 'bootstrap' ? pool.refresh().then(() => pool.reachAll()) : pool.node(nodeId);
    await within<unknown>(clock, PATIENCE_MS, asked).catch(() => undefined);
    this.forgetIfChanged();
  }

  private versionsOf(nodeId: number): BrokerVersions | undefined {
    return this.parts.pool.versionsOf(nodeId);
  }

  private hasHeard(): boolean {
    return this.basedOn.some((versions) => versions !== undefined);
  }

  private forgetIfChanged(): void {
    if (this.isCurrent()) return;
    const { clusterMap } = this.parts;
    this.basedOn = clusterMap.aliveIds.map((id) => this.versionsOf(id));
    this.clusterId = clusterMap.clusterId;
    this.known.clear();
  }

  /** Asked with every request of every client. */
  private isCurrent(): boolean {
    const { aliveIds, clusterId } = this.parts.clusterMap;
    if (aliveIds.length !== this.basedOn.length || clusterId !== this.clusterId) return false;
    for (let at = 0; at < aliveIds.length; at++) {
      if (this.versionsOf(aliveIds[at] as number) !== this.basedOn[at]) return false;
    }
    return true;
  }

  private make(nodeId: number | 'bootstrap'): Abilities {
    const heard = this.basedOn.filter((versions) => versions !== undefined);
    const common = heard.map((versions) => this.offered(versions));
    const own = nodeId === 'bootstrap' ? undefined : this.versionsOf(nodeId);
    const versions = own === undefined ? inAll(common) : this.offered(own);
    const story = heard.reduce<BrokerVersions | undefined>(newest, own);
    return {
      versions,
      features: featuresOf(story, speaksTransactionsV2([...common, versions])),
      featuresEpoch:
        story === undefined || story.finalizedFeaturesEpoch < 0n
          ? 0n
          : story.finalizedFeaturesEpoch,
      clusterId: this.clusterId ?? undefined,
    };
  }

  private offered(upstream: BrokerVersions): VersionTable {
    const table = new Map<number, VersionRange>();
    for (const [key, { treatment, range }] of routes) {
      const local = treatment === 'local' ? this.parts.localVersions.get(key) : undefined;
      const theirs = upstream.ranges.get(key);
      if (local !== undefined) table.set(key, local);
      else if (VERSIONS_OF_OUR_OWN.includes(key)) table.set(key, range);
      else if (treatment !== 'local' && theirs !== undefined) {
        const common = intersect(range, theirs);
        if (common !== undefined) table.set(key, common);
      }
    }
    return table;
  }
}

function newest(a: BrokerVersions | undefined, b: BrokerVersions): BrokerVersions {
  return a === undefined || b.finalizedFeaturesEpoch > a.finalizedFeaturesEpoch ? b : a;
}

/** What every table has. */
function inAll(tables: readonly VersionTable[]): VersionTable {
  const [first, ...others] = tables;
  const common = new Map<number, VersionRange>();
  for (const [key, range] of first ?? []) {
    const shared = others.reduce<VersionRange | undefined>((so, table) => {
      const theirs = table.get(key);
      return so === undefined || theirs === undefined ? undefined : intersect(so, theirs);
    }, range);
    if (shared !== undefined) common.set(key, shared);
  }
  return common;
}

function speaksTransactionsV2(tables: readonly VersionTable[]): boolean {
  return tables.every((table) =>
    [...TRANSACTIONS_V2].every(([key, least]) => (table.get(key)?.max ?? -1) >= least),
  );
}

function featuresOf(
  story: BrokerVersions | undefined,
  hasTransactionsV2: boolean,
): readonly Feature[] {
  if (story === undefined) return [STREAMS];
  const levels = new Map(
    story.finalizedFeatures.map((feature) => [feature.name, feature.maxVersionLevel]),
  );
  const copied = story.supportedFeatures
    .filter(({ name }) => name !== STREAMS.name)
    .map(({ name, minVersion: min, maxVersion: max }): Feature => {
      const level = levels.get(name) ?? 0;
      const isTooHigh = name === TRANSACTION_FEATURE && level > 1 && !hasTransactionsV2;
      return { name, supported: { min, max }, level: isTooHigh ? 1 : level };
    });
  return [...copied, STREAMS];
}
