import type { Config, ResolvedSetting } from '../config/config.ts';
import type { SettingName, SettingValues } from '../config/definitions.ts';
import { isSettingName, rows, settingNames } from '../config/definitions.ts';
import { nearestName } from '../config/nearest-name.ts';
import { contradictionsIn } from '../config/relations.ts';
import { alterOverrides } from './alter-overrides.ts';
import type { BrokerSynonym } from './group-config-resources.ts';
import type { ConfigEntry, ConfigResources, Outcome, OverrideStore } from './ports.ts';

export type BrokerConfigParts = {
  readonly overrides: OverrideStore;
  /** As resolved at the start. */
  readonly config: Pick<Config, 'settings' | 'values' | 'behaviour'>;
  readonly nodeId: number;
  /** A gateway stands for every broker of its cluster: what is set on one is set on all. */
  readonly standsForAll: boolean;
};

/** The name that stands for all brokers. */
const ALL_BROKERS = '';

export type BrokerConfigResources = ConfigResources & {
  /** Where a setting of this broker has a value from, the one in force first; empty where nothing is set. */
  chain(name: string): readonly BrokerSynonym[];
};

/**
 * The settings of this node: those of the start, and above them the dynamic ones that were set since, on this node or
 * on all. Only dynamic ones can be changed, to values that are allowed and go with the others (42 otherwise, as Kafka has
 * it); a name that no setting has is 40.
 *
 * Source: records-and-configs 7, BC-1; wire.md key 32.
 */
export function brokerConfigResources(parts: BrokerConfigParts): BrokerConfigResources {
  const { overrides, standsForAll } = parts;
  const { settings, values, behaviour } = parts.config;
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
      { value: row.format(row.defaultFor(behaviour.profile)), source: 'DEFAULT_CONFIG' },
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
      value: plainValue(name, synonyms[0]?.value),
      source: synonyms[0]?.source ?? 'DEFAULT_CONFIG',
      type,
      readOnly: !dynamic,
      sensitive: false,
      synonyms,
      documentation: about,
    };
  }

  function isListed({ name, source }: ConfigEntry): boolean {
    const onlyWhenSet = isSettingName(name) && rows[name].listedOnlyWhenSet;
    return behaviour.listAllConfigs || !onlyWhenSet || source !== 'DEFAULT_CONFIG';
  }

  /** Of all brokers only what was set on all is told. */
  function entryOfAll([name, value]: readonly [string, string]): ConfigEntry[] {
    if (!isSettingName(name)) return [];
    const source = 'DYNAMIC_DEFAULT_BROKER_CONFIG';
    return [{ ...entry(name), value, source, synonyms: [{ name, value, source }] }];
  }

  /** The name that a resource is kept under. */
  function keptName(name: string): string {
    return standsForAll && name !== ALL_BROKERS ? thisNode : name;
  }

  return {
    chain,
    describe: (resource) => {
      const name = keptName(resource);
      if (name === ALL_BROKERS) return [...overrides.of('broker', name)].flatMap(entryOfAll);
      if (name !== thisNode) return undefined;
      return settings.map((one) => entry(one.name)).filter(isListed);
    },
    overrides: (resource) => overrides.of('broker', keptName(resource)),
    alter: async (resource, changes, { validateOnly }) => {
      const name = keptName(resource);
      for (const key of changes.keys()) {
        if (!isSettingName(key)) return unknownSetting(key);
        if (!rows[key].dynamic) return invalidRequest(`${key} takes effect at the start alone`);
      }
      // What is not set on one node is what is set on all.
      const below = name === ALL_BROKERS ? [] : [...overrides.of('broker', ALL_BROKERS)];
      return alterOverrides(overrides, {
        kind: 'broker',
        name,
        changes,
        validateOnly,
        judge: (wanted) => judge(new Map([...below, ...wanted]), values, changes),
      });
    },
    overridden: () => overrides.names('broker'),
  };
}

/** A value as it is understood, without blanks and needless signs. */
function plainValue(name: SettingName, text: string | undefined): string | null {
  if (text === undefined) return null;
  const parsed = rows[name].parse(text.trim());
  return parsed === undefined ? text : rows[name].format(parsed.value);
}

/**
 * The refusal of a change of the values above those of the start, if any: a changed one that is not allowed, or that others
 * do not bear (BC-1). What was kept before is not judged: settings of the start may have changed below it since.
 */
function judge(
  wanted: ReadonlyMap<string, string>,
  start: SettingValues,
  changes: ReadonlyMap<string, string | null>,
): Outcome | undefined {
  const values: Record<string, unknown> = { ...start };
  for (const [key, text] of wanted) {
    if (!isSettingName(key)) continue;
    const parsed = rows[key].parse(text.trim());
    if (parsed === undefined) {
      if (!changes.has(key)) continue;
      return invalidRequest(`${key} is "${text}", wanted ${rows[key].allowed}`);
    }
    values[key] = parsed.value;
  }
  // Each value was made by its own row, which is what the type says.
  const broken = contradictionsIn(values as SettingValues).find(({ keys }) =>
    keys.some((key) => changes.has(key)),
  );
  if (broken === undefined) return undefined;
  return invalidRequest(`${broken.keys[0]} is "${broken.seen}", wanted ${broken.wanted}`);
}

function unknownSetting(key: string): Outcome {
  const nearest = nearestName(key, settingNames);
  const hint = nearest === undefined ? '' : `; the nearest is ${nearest}`;
  const message = `Cannot alter configs: there is no setting "${key}"${hint}`;
  return { error: 'INVALID_CONFIG', message };
}

function invalidRequest(what: string): Outcome {
  return { error: 'INVALID_REQUEST', message: `Cannot alter configs: ${what}` };
}
