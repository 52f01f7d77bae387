import { foreignGroupConfigs } from './foreign-group-configs.ts';
import {
  type BrokerGroupSettings,
  type GroupConfig,
  type GroupConfigType,
  plainValue,
} from './group-config.ts';
import { byCodeUnits } from './ids.ts';
import type { Behaviour } from './profile.ts';
import { resolveGroupSettings } from './resolve-group-settings.ts';
import {
  HEARTBEAT_INTERVAL,
  SESSION_TIMEOUT,
  streamsGroupConfigs,
} from './streams-group-configs.ts';

/**
 * Every config a GROUP resource knows, by name, those of other group types included (GC-6).
 *
 * Source: records-and-configs 8.
 */
export const groupConfigs: ReadonlyMap<string, GroupConfig> = new Map(
  [...streamsGroupConfigs, ...foreignGroupConfigs].map((row) => [row.name, row]),
);

/** A value that cannot be taken, and what could be. */
export type ConfigFault = { readonly key: string; readonly seen: string; readonly wanted: string };

/**
 * Judges a change of a group's overrides: unknown names, wrong types, values out of bounds, tags named twice or empty, an
 * assignor that is not registered, and a session timeout that is not above the heartbeat interval.
 *
 * What is kept and not changed is not judged. It was right when it was set, and a restart with other bounds or without an
 * assignor must not lock the group's other configs; it counts as it is in force, and so does the broker's value where
 * nothing is set.
 *
 * @param overrides the complete set, as it would be after the change.
 * @param changed the configs that are set or taken away.
 * @returns every fault; nothing when the change can be made.
 *
 * Source: records-and-configs GC-2, GC-5, GC-6.
 */
export function validateGroupConfigs(
  overrides: ReadonlyMap<string, string>,
  broker: BrokerGroupSettings,
  changed: Pick<ReadonlySet<string>, 'has'>,
): readonly ConfigFault[] {
  const faults = [...overrides].flatMap(([key, seen]): ConfigFault[] => {
    if (!changed.has(key)) return [];
    const config = groupConfigs.get(key);
    const wanted =
      config === undefined ? 'a config that groups have' : config.wantedInstead(seen, broker);
    return wanted === undefined ? [] : [{ key, seen, wanted }];
  });
  if (faults.length > 0) return faults;
  if (!changed.has(SESSION_TIMEOUT) && !changed.has(HEARTBEAT_INTERVAL)) return [];
  const inForce = resolveGroupSettings(broker, overrides, () => {});
  if (inForce.sessionTimeoutMs > inForce.heartbeatIntervalMs) return [];
  const wanted = `more than ${HEARTBEAT_INTERVAL}, which is ${inForce.heartbeatIntervalMs}`;
  return [{ key: SESSION_TIMEOUT, seen: String(inForce.sessionTimeoutMs), wanted }];
}

/** Where a value comes from, in Kafka's words. */
export type ConfigSource =
  | 'GROUP_CONFIG'
  | 'DYNAMIC_BROKER_CONFIG'
  | 'DYNAMIC_DEFAULT_BROKER_CONFIG'
  | 'STATIC_BROKER_CONFIG'
  | 'DEFAULT_CONFIG';

export type ConfigSynonym = {
  readonly name: string;
  readonly value: string;
  readonly source: ConfigSource;
};

/** One row of DescribeConfigs; never read-only, never sensitive. */
export type DescribedConfig = {
  readonly name: string;
  readonly value: string;
  readonly type: GroupConfigType;
  readonly source: ConfigSource;
  /** The value in force first. */
  readonly synonyms: readonly ConfigSynonym[];
};

/**
 * The configs of a group, whether or not it exists, by name.
 *
 * @param input.names those asked for; null or none asks for all. Unknown names are left out.
 * @param input.brokerChain values the broker has for one of its configs, the one in force first; none for a config
 *   that it does not know, which is then shown with its default.
 *
 * Source: records-and-configs GC-7; without `listAllConfigs` four configs are listed only where the group or
 * the broker has a value for them, as Apache Kafka 4.4.0 does.
 */
export function describeGroupConfigs(input: {
  readonly overrides: ReadonlyMap<string, string>;
  readonly broker: BrokerGroupSettings;
  readonly brokerChain: (brokerConfig: string) => readonly ConfigSynonym[];
  readonly names: readonly string[] | null;
  readonly behaviour: Behaviour;
}): readonly DescribedConfig[] {
  const { overrides, broker, brokerChain, names, behaviour } = input;
  const asked = names === null || names.length === 0 ? undefined : new Set(names);
  return [...groupConfigs.values()]
    .filter(({ name }) => asked === undefined || asked.has(name))
    .sort((a, b) => byCodeUnits(a.name, b.name))
    .flatMap((config) => {
      const { name, type, brokerConfig } = config;
      const fallback = config.brokerValue(broker);
      const chain = brokerSynonyms(brokerConfig, fallback);
      const override = shownOverride(config, overrides.get(name));
      const own: readonly ConfigSynonym[] =
        override === undefined ? [] : [{ name, value: override, source: 'GROUP_CONFIG' }];
      const synonyms = [...own, ...chain];
      const source = synonyms[0]?.source ?? 'DEFAULT_CONFIG';
      const isListed =
        behaviour.listAllConfigs || !config.listedOnlyWhenSet || source !== 'DEFAULT_CONFIG';
      return isListed ? [{ name, value: override ?? fallback, type, source, synonyms }] : [];
    });

  function brokerSynonyms(brokerConfig: string, fallback: string): readonly ConfigSynonym[] {
    const chain = brokerChain(brokerConfig);
    if (chain.length > 0) return chain;
    return [{ name: brokerConfig, value: fallback, source: 'DEFAULT_CONFIG' }];
  }
}

/** As it is understood; Apache Kafka 4.4.0 shows those as they were written that it does not list otherwise. */
function shownOverride(
  { type, listedOnlyWhenSet }: GroupConfig,
  override: string | undefined,
): string | undefined {
  if (override === undefined || listedOnlyWhenSet) return override;
  return plainValue(override, type);
}
