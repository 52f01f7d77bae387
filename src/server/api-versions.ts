import type { ResponseInput } from '../wire/apis.ts';
import { apis } from '../wire/apis.ts';
import type { WireErrorName } from '../wire/errors.ts';
import { errorCode } from '../wire/errors.ts';
import { decodeBody, reply } from './answering.ts';
import type { Answer, Handler, IncomingRequest, ListenerInfo, VersionTable } from './dispatch.ts';

/** A feature of the cluster with the levels that exist and the one in force. */
export type Feature = {
  readonly name: string;
  /** Levels this cluster could run at. */
  readonly supported: { readonly min: number; readonly max: number };
  /** The level in force; 0 = off. */
  readonly level: number;
};

/** What the clients of one listener are told of the cluster's abilities. */
export type Abilities = {
  readonly versions: VersionTable;
  readonly features: readonly Feature[];
  /** Clients keep the list with the highest; below 0 the levels count as unknown. */
  readonly featuresEpoch: bigint;
  /** Undefined while it is not known: then no client's claim is checked. */
  readonly clusterId: string | undefined;
};

const FIRST_FLEXIBLE = 3;
const FIRST_WITH_ZERO_FEATURES = 4;
const FIRST_WITH_CLUSTER_CHECK = 5;
const NO_NODE = -1;
const SOFTWARE_WORD = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/**
 * Answers ApiVersions: in any version, at any time on a connection, before anyone said who they are.
 *
 * A version that is not known here is answered in the layout of version 0, with UNSUPPORTED_VERSION and the range that
 * is, so that the client comes again; its body is not read. What the client calls itself is kept on the connection.
 *
 * Source: wire.md 1.6, 2.4; KIP-511, KIP-1242.
 */
export function apiVersionsHandler(abilities: (listener: ListenerInfo) => Abilities): Handler {
  return (request) => {
    const known = abilities(request.connection.listener);
    const { key } = apis.ApiVersions;
    const range = known.versions.get(key) ?? { min: 0, max: 0 };
    const { apiVersion } = request;
    if (apiVersion < range.min || apiVersion > range.max) {
      return frame(request, 0, {
        errorCode: errorCode('UNSUPPORTED_VERSION'),
        apiKeys: [{ apiKey: key, minVersion: range.min, maxVersion: range.max }],
      });
    }
    const error = refusal(request, known.clusterId);
    const body = error === 'NONE' ? describe(known, apiVersion) : { errorCode: errorCode(error) };
    return frame(request, apiVersion, body);
  };
}

/** Judges what the client says of itself and of where it thinks it is; keeps the former. */
function refusal(request: IncomingRequest, clusterId: string | undefined): WireErrorName {
  const { apiVersion, connection } = request;
  const body = decodeBody('ApiVersions', request);
  if (apiVersion < FIRST_FLEXIBLE) return 'NONE';
  const { clientSoftwareName: name, clientSoftwareVersion: version } = body;
  if (!SOFTWARE_WORD.test(name) || !SOFTWARE_WORD.test(version)) return 'INVALID_REQUEST';
  connection.software = { name, version };
  if (apiVersion < FIRST_WITH_CLUSTER_CHECK) return 'NONE';
  const saysCluster = body.clusterId !== null;
  const saysNode = body.nodeId !== NO_NODE;
  if (saysCluster !== saysNode) return 'INVALID_REQUEST';
  if (!saysCluster || clusterId === undefined) return 'NONE';
  const { nodeId } = connection.listener;
  const isHere = body.clusterId === clusterId && (nodeId === 'bootstrap' || body.nodeId === nodeId);
  return isHere ? 'NONE' : 'REBOOTSTRAP_REQUIRED';
}

function describe(known: Abilities, apiVersion: number): ResponseInput<'ApiVersions'> {
  const apiKeys = [...known.versions]
    .sort(([a], [b]) => a - b)
    .map(([apiKey, { min, max }]) => ({ apiKey, minVersion: min, maxVersion: max }));
  if (apiVersion < FIRST_FLEXIBLE) return { apiKeys };
  // Clients before version 4 cannot read a feature whose lowest level is 0.
  const supported = known.features.filter(
    ({ supported: { min } }) => apiVersion >= FIRST_WITH_ZERO_FEATURES || min > 0,
  );
  const finalized = known.features.filter(({ level }) => level > 0);
  return {
    apiKeys,
    supportedFeatures: supported.map(({ name, supported: { min, max } }) => ({
      name,
      minVersion: min,
      maxVersion: max,
    })),
    finalizedFeaturesEpoch: known.featuresEpoch,
    finalizedFeatures: finalized.map(({ name, level }) => ({
      name,
      maxVersionLevel: level,
      minVersionLevel: level,
    })),
  };
}

function frame(
  request: IncomingRequest,
  version: number,
  body: ResponseInput<'ApiVersions'>,
): Answer {
  return reply('ApiVersions', { ...request, apiVersion: version }, body);
}
