import type { ApiName, ResponseOf } from '../wire/apis.ts';
import { apis } from '../wire/apis.ts';
import { UpstreamError } from './upstream-error.ts';

/** Both ends included. */
export type VersionRange = { readonly min: number; readonly max: number };

export type SupportedFeature = {
  readonly name: string;
  readonly minVersion: number;
  readonly maxVersion: number;
};

export type FinalizedFeature = {
  readonly name: string;
  readonly minVersionLevel: number;
  readonly maxVersionLevel: number;
};

/** What a broker said in answer to ApiVersions. */
export type BrokerVersions = {
  readonly ranges: ReadonlyMap<number, VersionRange>;
  readonly supportedFeatures: readonly SupportedFeature[];
  readonly finalizedFeatures: readonly FinalizedFeature[];
  /** -1 = it did not say. */
  readonly finalizedFeaturesEpoch: bigint;
};

/** Before a broker was asked. */
export const NO_VERSIONS: BrokerVersions = {
  ranges: new Map(),
  supportedFeatures: [],
  finalizedFeatures: [],
  finalizedFeaturesEpoch: -1n,
};

export function brokerVersions(answer: ResponseOf<'ApiVersions'>): BrokerVersions {
  return {
    ranges: new Map(
      answer.apiKeys.map((api) => [api.apiKey, { min: api.minVersion, max: api.maxVersion }]),
    ),
    supportedFeatures: answer.supportedFeatures,
    finalizedFeatures: answer.finalizedFeatures,
    finalizedFeaturesEpoch: answer.finalizedFeaturesEpoch,
  };
}

/** The versions in both ranges, or undefined where there is none. */
export function intersect(a: VersionRange, b: VersionRange): VersionRange | undefined {
  const min = Math.max(a.min, b.min);
  const max = Math.min(a.max, b.max);
  return min > max ? undefined : { min, max };
}

/**
 * The highest version of an API that the broker and this codec share.
 *
 * @param cap no version above it.
 * @throws UpstreamError (`unsupported`) when there is none.
 */
export function highestCommon(
  versions: BrokerVersions,
  name: ApiName,
  cap: number = Number.MAX_SAFE_INTEGER,
): number {
  const api = apis[name];
  const theirs = versions.ranges.get(api.key);
  const ours = { min: api.minVersion, max: Math.min(api.maxVersion, cap) };
  const common = theirs === undefined ? undefined : intersect(ours, theirs);
  if (common !== undefined) return common.max;
  const seen = theirs === undefined ? 'none' : `${theirs.min} to ${theirs.max}`;
  throw new UpstreamError(
    'unsupported',
    `Cannot ask upstream for ${name}: it has versions ${seen}, wanted ${ours.min} to ${ours.max}`,
  );
}
