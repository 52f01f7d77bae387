import type { Profile } from '../../machines/model/profile.ts';
import type { ResolvedSetting } from '../config/config.ts';
import type { SettingName } from '../config/definitions.ts';
import { isSettingName, rows } from '../config/definitions.ts';
import { alterOverrides } from './alter-overrides.ts';
import type { BrokerSynonym } from './group-config-resources.ts';
import type { ConfigEntry, ConfigResources, Outcome, OverrideStore } from './ports.ts';

export type BrokerConfigParts = {
  readonly overrides: OverrideStore;
  /** As resolved at the start. */
  readonly settings: readonly ResolvedSetting[];
  readonly profile: Profile;
  readonly nodeId: number;
};

/** The name that stands for all brokers. */
const ALL_BROKERS = '';

export type BrokerConfigResources = ConfigResources & {
  /** Where a setting of this broker has a value from, the one in force first; empty where nothing is set. */
  chain(name: string): readonly BrokerSynonym[];
};

/**
 * The settings of this node: those of the start, and above them the dynamic ones that were set since, on this node or
 * on all. Only dynamic ones can be changed, to values that are allowed (42 otherwise, as Kafka has it); a name that no
 * setting has is 40.
 *
 * Source: records-and-configs 7, BC-4; wire.md key 32.
 */
export function brokerConfigResources(parts: BrokerConfigParts): BrokerConfigResources {
  const { overrides, settings, profile } = parts;
  const thisNode = String(parts.nodeId);
  const resolved = new Map<string, ResolvedSetting>(settings.map((one) => [one.name, one]));

  function chain(name: string): readonly BrokerSynonym[] {
    if (!isSettingName(name)) return [];
    const start = resolved.get(name);
    const fixed = start?.source === 'default' ? null : (start?.text ?? null);
    const row = rows[name];
    const links = [
      { value: overrides.of('broker', thisNode).get(name), source: 'DYNAMIC_BROKER_CONFIG' },
      {
        value: overrides.of('broker', ALL_BROKERS).get(name),
        source: 'DYNAMIC_DEFAULT_BROKER_CONFIG',
      },
      { value: fixed, source: 'STATIC_BROKER_CONFIG' },
      { value: row.format(row.defaultFor(profile)), source: 'DEFAULT_CONFIG' },
    ] as const;
    return links.flatMap(({ value, source }) =>
      value === undefined || value === null ? [] : [{ name, value, source }],
    );
  }

  function entry(name: SettingName): ConfigEntry {
    const { type, dynamic, about } = rows[name];
    const synonyms = chain(name);
    return {
      name,
      value: synonyms[0]?.value ?? null,
      source: synonyms[0]?.source ?? 'DEFAULT_CONFIG',
      type,
      readOnly: !dynamic,
      sensitive: false,
      synonyms,
      documentation: about,
    };
  }

  /** Of all brokers only what was set on all is told. */
  function entryOfAll([name, value]: readonly [string, string]): ConfigEntry[] {
    if (!isSettingName(name)) return [];
    const source = 'DYNAMIC_DEFAULT_BROKER_CONFIG';
    return [{ ...entry(name), value, source, synonyms: [{ name, value, source }] }];
  }

  return {
    chain,
    describe: (name) => {
      if (name === ALL_BROKERS) return [...overrides.of('broker', name)].flatMap(entryOfAll);
      return name === thisNode ? settings.map((one) => entry(one.name)) : undefined;
    },
    overrides: (name) => overrides.of('broker', name),
    alter: async (name, changes, { validateOnly }) => {
      for (const key of changes.keys()) {
        if (!isSettingName(key)) return unknownSetting(key);
        if (!rows[key].dynamic) return invalidRequest(`${key} takes effect at the start alone`);
      }
      return alterOverrides(overrides, { kind: 'broker', name, changes, validateOnly, judge });
    },
    overridden: () => overrides.names('broker'),
  };
}

function judge(wanted: ReadonlyMap<string, string>): Outcome | undefined {
  for (const [key, value] of wanted) {
    if (isSettingName(key) && rows[key].parse(value) === undefined) {
      return invalidRequest(`${key} is "${value}", wanted ${rows[key].allowed}`);
    }
  }
  return undefined;
}

function unknownSetting(key: string): Outcome {
  const message = `Cannot alter configs: there is no setting "${key}"`;
  return { error: 'INVALID_CONFIG', message };
}

function invalidRequest(what: string): Outcome {
  return { error: 'INVALID_REQUEST', message: `Cannot alter configs: ${what}` };
}
