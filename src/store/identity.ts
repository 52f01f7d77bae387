import type { KeyValues } from './key-values.ts';
import { keyOf, prefixes, toJson } from './layout.ts';
import { StoreError } from './store-error.ts';
import { makeUuid, type RandomBytes } from './uuid.ts';

/** What a store is for: a coordinator on its own, or one in front of a cluster. */
export type Mode = 'standalone' | 'gateway';

/** Who this node is, for as long as its store lives. */
export type Identity = {
  readonly clusterId: string;
  readonly nodeId: number;
  readonly mode: Mode;
};

/** Node id where the settings name none. */
const FIRST_NODE_ID = 1;

/**
 * Gives the identity kept in the store, made at the first call. What the settings name goes before what was kept and
 * is kept from then on; but the mode stays: topics and offsets of groups lie here in one, upstream in the other.
 *
 * @param options.place what a refusal calls the store.
 * @throws `StoreError` `wrongMode`; nothing was written.
 *
 * Source: records-and-configs 7.2, cluster.id and node.id.
 */
export async function keepIdentity(
  keyValues: KeyValues,
  options: {
    readonly random: RandomBytes;
    readonly mode: Mode;
    readonly place: string;
    readonly clusterId?: string | undefined;
    readonly nodeId?: number | undefined;
  },
): Promise<Identity> {
  const { mode, place } = options;
  const key = keyOf(prefixes.identity);
  const stored = await keyValues.get(key);
  // A store of before modes were kept takes the one it is opened in.
  const kept: Partial<Identity> = stored === undefined ? {} : JSON.parse(stored.toString('utf8'));
  if (kept.mode !== undefined && kept.mode !== mode) {
    const reason = `it belongs to a ${kept.mode} coordinator, and this is a ${mode} one`;
    const text = `Open the store in ${place}: ${reason}; give it a folder of its own (--data-dir)`;
    throw new StoreError('wrongMode', text);
  }
  const identity = {
    clusterId: options.clusterId ?? kept.clusterId ?? makeUuid(options.random),
    nodeId: options.nodeId ?? kept.nodeId ?? FIRST_NODE_ID,
    mode,
  };
  const isNew = (Object.keys(identity) as (keyof Identity)[]).some(
    (name) => identity[name] !== kept[name],
  );
  if (isNew) {
    const value = toJson({ ...kept, ...identity });
    await keyValues.write([{ type: 'put', key, value }], { sync: true });
  }
  return identity;
}

/**
 * Keeps which cluster a gateway's store goes with: groups here have their topics and offsets there.
 *
 * @param options.place what a refusal calls the store.
 * @throws `StoreError` `wrongCluster` for another cluster than the first; nothing was written.
 */
export async function keepUpstream(
  keyValues: KeyValues,
  { clusterId, place }: { readonly clusterId: string; readonly place: string },
): Promise<void> {
  const key = keyOf(prefixes.identity);
  const stored = await keyValues.get(key);
  const kept = stored === undefined ? {} : JSON.parse(stored.toString('utf8'));
  if (kept.upstream === clusterId) return;
  if (kept.upstream !== undefined) {
    const reason = `it goes with the cluster ${kept.upstream}, and upstream is ${clusterId}`;
    const text = `Use the store in ${place}: ${reason}; give it a folder of its own (--data-dir)`;
    throw new StoreError('wrongCluster', text);
  }
  const value = toJson({ ...kept, upstream: clusterId });
  await keyValues.write([{ type: 'put', key, value }], { sync: true });
}
