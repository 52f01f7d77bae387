import type { KeyValues } from './key-values.ts';
import { keyOf, prefixes, toJson } from './layout.ts';
import { makeUuid, type RandomBytes } from './uuid.ts';

/** Who this node is, for as long as its store lives. */
export type Identity = { readonly clusterId: string; readonly nodeId: number };

/** Node id where the settings name none. */
const FIRST_NODE_ID = 1;

/**
 * Gives the identity kept in the store, made at the first call. What the settings name goes before what was kept and
 * is kept from then on.
 *
 * Source: records-and-configs 7.2, cluster.id and node.id.
 */
export async function keepIdentity(
  keyValues: KeyValues,
  options: {
    readonly random: RandomBytes;
    readonly clusterId?: string | undefined;
    readonly nodeId?: number | undefined;
  },
): Promise<Identity> {
  const key = keyOf(prefixes.identity);
  const stored = await keyValues.get(key);
  const kept: Identity | undefined =
    stored === undefined ? undefined : JSON.parse(stored.toString('utf8'));
  const identity = {
    clusterId: options.clusterId ?? kept?.clusterId ?? makeUuid(options.random),
    nodeId: options.nodeId ?? kept?.nodeId ?? FIRST_NODE_ID,
  };
  if (identity.clusterId !== kept?.clusterId || identity.nodeId !== kept.nodeId) {
    await keyValues.write([{ type: 'put', key, value: toJson(identity) }], { sync: true });
  }
  return identity;
}
