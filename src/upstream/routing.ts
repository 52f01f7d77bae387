import { apiByKey } from '../wire/apis.ts';
import type { VersionRange } from './broker-versions.ts';

/**
 * What becomes of a request in the gateway:
 * `local` answered here, `offsets` checked here for streams groups and then stored upstream, `split` part here and
 * part upstream, `guard` refused for streams groups, otherwise passed on, `rewrite` passed on, addresses in the
 * answer replaced, `observe` passed on, the topics are looked at afterwards, `opaque` passed on.
 */
export type Treatment = 'local' | 'offsets' | 'split' | 'guard' | 'rewrite' | 'observe' | 'opaque';

export type Route = {
  readonly treatment: Treatment;
  /** No other versions, even if upstream has them. */
  readonly range: VersionRange;
};

const treatments: Readonly<Record<Treatment, readonly number[]>> = {
  local: [18, 88, 89, 93],
  offsets: [8, 9, 28, 47],
  split: [15, 16, 32, 33, 42, 44, 69, 74],
  guard: [11, 68, 76],
  rewrite: [0, 3, 10, 60, 78, 79],
  observe: [19, 20, 37],
  opaque: [
    1, 2, 12, 13, 14, 21, 22, 23, 24, 25, 26, 29, 30, 31, 34, 35, 43, 45, 46, 48, 49, 50, 51, 55,
    57, 61, 64, 65, 66, 75, 77, 90, 91, 92,
  ],
};

/**
 * Versions that are not offered although both sides may know them.
 *
 * Fetch 16 on names brokers in its answers; the commit path goes by topic names, so that no id has to be looked up
 * while a commit waits; DescribeQuorum 2 shows the controllers' listeners (wire.md 4.2, 4.6).
 */
const caps: ReadonlyMap<number, number> = new Map([
  [1, 15],
  [8, 9],
  [9, 9],
  [28, 5],
  [55, 1],
]);

/** Treatments that read the request: only versions whose messages are known here. */
const reading: readonly Treatment[] = ['local', 'offsets', 'split', 'guard'];
const ANY_VERSION = 0x7fff;

/**
 * By API key; keys that are not here are not offered: delegation tokens, telemetry, keys between brokers and keys of
 * other vendors.
 *
 * Source: wire.md 4.4, 4.6.
 */
export const routes: ReadonlyMap<number, Route> = new Map(
  Object.entries(treatments).flatMap(([name, keys]) => {
    const treatment = name as Treatment;
    return keys.map((key) => [key, { treatment, range: rangeOf(key, treatment) }] as const);
  }),
);

function rangeOf(key: number, treatment: Treatment): VersionRange {
  const api = apiByKey(key);
  const min = api !== undefined && reading.includes(treatment) ? api.minVersion : 0;
  return { min, max: caps.get(key) ?? api?.maxVersion ?? ANY_VERSION };
}
