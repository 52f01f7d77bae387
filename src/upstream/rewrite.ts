import type { ApiName, ResponseOf } from '../wire/apis.ts';
import { encodeResponseFrame } from '../wire/headers.ts';
import type { ClusterMap } from './cluster-map.ts';
import type { Address } from './connection.ts';
import { decodeAnswer } from './decode-answer.ts';
import { UpstreamError } from './upstream-error.ts';

/** Where a broker stands in an answer. Id -1 means none. */
type Placed = Address & { readonly nodeId: number };

/** The APIs whose answers carry addresses of brokers (wire.md 4.2). */
export type RewrittenApi =
  | 'Metadata'
  | 'FindCoordinator'
  | 'DescribeCluster'
  | 'Produce'
  | 'ShareFetch'
  | 'ShareAcknowledge';

type Rewriters = {
  readonly [N in RewrittenApi]: (
    body: ResponseOf<N>,
    clusterMap: ClusterMap,
  ) => Promise<ResponseOf<N>>;
};

/** Produce answers name brokers from this version on (KIP-951). */
const PRODUCE_ENDPOINTS_SINCE = 10;

/**
 * Puts the gateway's addresses in the place of the cluster's.
 *
 * Fails closed: an id without an address of ours gets one first, and an answer for which that cannot be done is not
 * passed on. Fetch is not here: its versions end at 15, before its answers name brokers, so that they pass without
 * a look inside. Produce has to go up to 13 for transactions V2 (wire.md 4.6), and its answers are small.
 *
 * @param answer the frame without its length.
 * @returns the whole frame, or undefined when the answer holds no address: pass it on as it is.
 * @throws UpstreamError when an address cannot be opened or the answer does not decode.
 *
 * Source: wire.md 4.2, 4.3: ids stay as they are.
 */
export async function rewriteAnswer<N extends RewrittenApi>(
  name: N,
  version: number,
  answer: Buffer,
  clusterMap: ClusterMap,
): Promise<Buffer | undefined> {
  if (name === 'Produce' && version < PRODUCE_ENDPOINTS_SINCE) return undefined;
  const { correlationId, body } = decodeAnswer(name, version, answer);
  const rewriter: Rewriters[N] = rewriters[name];
  const rewritten = await rewriter(body, clusterMap);
  if (rewritten === body) return undefined;
  return encodeResponseFrame<ApiName>(name, version, correlationId, rewritten);
}

const rewriters: Rewriters = {
  async Metadata(body, clusterMap) {
    const { brokers: nodes, controllerId, clusterId } = body;
    await clusterMap.learn({ nodes, controllerId, clusterId });
    return { ...body, brokers: body.brokers.map((node) => moved(node, clusterMap)) };
  },

  async FindCoordinator(body, clusterMap) {
    const { coordinators } = body;
    await learn([body, ...coordinators], clusterMap);
    return {
      ...moved(body, clusterMap),
      coordinators: coordinators.map((node) => moved(node, clusterMap)),
    };
  },

  async DescribeCluster(body, clusterMap) {
    const nodes = body.brokers.map((broker) => ({ ...broker, nodeId: broker.brokerId }));
    await learn(nodes, clusterMap);
    return { ...body, brokers: nodes.map((node) => moved(node, clusterMap)) };
  },

  Produce: withEndpoints,
  ShareFetch: withEndpoints,
  ShareAcknowledge: withEndpoints,
};

async function withEndpoints<T extends { readonly nodeEndpoints: readonly Placed[] }>(
  body: T,
  clusterMap: ClusterMap,
): Promise<T> {
  const { nodeEndpoints } = body;
  if (nodeEndpoints.length === 0) return body;
  await learn(nodeEndpoints, clusterMap);
  return { ...body, nodeEndpoints: nodeEndpoints.map((node) => moved(node, clusterMap)) };
}

async function learn(nodes: readonly Placed[], clusterMap: ClusterMap): Promise<void> {
  await clusterMap.learnSome(nodes.filter(isSomeone));
}

/** "No coordinator" is id -1; version 0 to 3 of FindCoordinator leave a list empty and 4 on the top-level fields. */
function isSomeone(node: Placed): boolean {
  return node.nodeId >= 0 && node.host !== '';
}

function moved<T extends Placed>(node: T, clusterMap: ClusterMap): T {
  if (!isSomeone(node)) return node;
  const address = clusterMap.gatewayAddress(node.nodeId);
  if (address === undefined) {
    throw new UpstreamError('refused', `Upstream broker ${node.nodeId} has no address here`);
  }
  return { ...node, host: address.host, port: address.port };
}
