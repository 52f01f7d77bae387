import { groupConfigs } from '../../machines/model/group-configs.ts';
import type { Profile } from '../../machines/model/profile.ts';
import { buildConfig, type Config, type ConfigSource } from './config.ts';
import {
  isSettingName,
  rows,
  type SettingName,
  type SettingValues,
  settingNames,
} from './definitions.ts';
import { foreignNames, isForeignName } from './foreign-names.ts';
import { nearestName } from './nearest-name.ts';
import { PropertiesError, parseProperties } from './properties.ts';
import { contradictionsIn } from './relations.ts';

/** Everything a configuration is made from. */
export type ConfigInput = {
  /**
   * From the command line, `--set` and the flags of their own, under the names of the settings. Of one that is given
   * twice the later counts.
   */
  readonly flags?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  /** The process's environment; only `HEADGATE_…` counts. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** A properties file's text; `file` is what messages call it. */
  readonly properties?: { readonly file: string; readonly text: string };
};

/** One thing that is wrong. */
export type ConfigFault = {
  /** The setting, as it was written. */
  readonly key: string;
  /** Where it was written: `command line`, `environment`, the file's name, or `default`. */
  readonly where: string;
  /** Null for what has no value. */
  readonly seen: string | null;
} & (
  | {
      /** What would be right, as a sentence's end. */
      readonly wanted: string;
      /** Where only a part of the value is wrong: that part, and what is the matter with it. */
      readonly wrongPart?: string | undefined;
    }
  | {
      /** What is the matter, where no other value is to be named. */
      readonly reason: string;
    }
);

/** A configuration that cannot be used, with all that is wrong in it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly ConfigFault[];
  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(faultText).join('\n'));
    this.faults = faults;
  }
}

/** A fault in one line: the key, the value seen, the values allowed. */
export function faultText(fault: ConfigFault): string {
  const { key, where, seen } = fault;
  const value = seen === null ? '' : ` = ${JSON.stringify(seen)}`;
  return `${key}${value} (${where}): ${'reason' in fault ? fault.reason : wantedText(fault)}`;
}

function wantedText({
  wanted,
  wrongPart,
}: Pick<Extract<ConfigFault, { wanted: string }>, 'wanted' | 'wrongPart'>): string {
  return wrongPart === undefined ? `wanted ${wanted}` : `${wrongPart}; wanted ${wanted}`;
}

/**
 * Makes the one configuration from all places it can come from: command line, then environment, then file, then
 * default (BC-8).
 *
 * @returns the configuration, and warnings for the log: keys of Kafka's that mean nothing here.
 * @throws {ConfigError} with every fault: unknown keys with the nearest known one, values that are not allowed,
 *   settings that contradict each other (BC-1).
 */
export function resolveConfig(input: ConfigInput): {
  readonly config: Config;
  readonly warnings: readonly string[];
} {
  const faults: ConfigFault[] = [];
  const foreign = new Set<string>();
  const found = new Map<SettingName, Entry>();
  // The strongest place comes last and overwrites, but every place is checked: a fault that another place hides
  // today is a surprise later.
  for (const entry of [
    ...fileEntries(input.properties, faults),
    ...environmentEntries(input.environment ?? {}),
    ...flagEntries(input.flags ?? {}),
  ]) {
    if (isSettingName(entry.name)) found.set(entry.name, checked(entry, entry.name, faults));
    else if (isForeignName(entry.name)) foreign.add(entry.key);
    else faults.push(unknownFault(entry));
  }
  const values = valuesFrom(found);
  faults.push(...contradictions(values, found));
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    config: buildConfig(values, {
      sourceOf: (name) => found.get(name)?.source ?? 'default',
      file: input.properties?.file,
    }),
    warnings: foreign.size === 0 ? [] : [`Settings without effect here: ${sorted(foreign)}`],
  };
}

/** A setting as it was written somewhere. */
type Entry = {
  readonly name: string;
  readonly key: string;
  readonly text: string;
  readonly source: ConfigSource;
  readonly where: string;
  /** Undefined until checked, and for a text that is not allowed. */
  readonly parsed?: { readonly value: unknown } | undefined;
};

function* fileEntries(
  properties: ConfigInput['properties'],
  faults: ConfigFault[],
): Iterable<Entry> {
  if (properties === undefined) return;
  const { file, text } = properties;
  try {
    for (const [name, value] of parseProperties(text)) {
      yield { name, key: name, text: value, source: 'file', where: file };
    }
  } catch (error) {
    if (!(error instanceof PropertiesError)) throw error;
    const where = `${file}, line ${error.line}`;
    faults.push({ key: error.message, where, seen: null, wanted: 'a Java properties file' });
  }
}

const PREFIX = 'HEADGATE_';

function environmentKey(name: string): string {
  return PREFIX + name.toUpperCase().replaceAll('.', '_');
}

const nameByEnvironmentKey = new Map<string, string>(
  [...foreignNames, ...settingNames].map((name) => [environmentKey(name), name]),
);

function* environmentEntries(
  environment: NonNullable<ConfigInput['environment']>,
): Iterable<Entry> {
  for (const [key, text] of Object.entries(environment)) {
    if (!key.startsWith(PREFIX) || text === undefined) continue;
    const guess = key.slice(PREFIX.length).toLowerCase().replaceAll('_', '.');
    const name = nameByEnvironmentKey.get(key) ?? guess;
    yield { name, key, text, source: 'environment', where: 'environment' };
  }
}

function* flagEntries(flags: NonNullable<ConfigInput['flags']>): Iterable<Entry> {
  const entries = Symbol.iterator in flags ? flags : Object.entries(flags);
  for (const [name, text] of entries) {
    yield { name, key: name, text, source: 'flag', where: 'command line' };
  }
}

function checked(entry: Entry, name: SettingName, faults: ConfigFault[]): Entry {
  const row = rows[name];
  const parsed = row.parse(entry.text.trim());
  if (parsed === undefined) {
    const { key, where, text } = entry;
    const unit = row.unit === undefined ? '' : ` (${row.unit})`;
    const wrongPart = row.wrongPart?.(text.trim());
    faults.push({ key, where, seen: text, wanted: row.allowed + unit, wrongPart });
  }
  return { ...entry, parsed };
}

/** The beginnings that names have in common, as `group.streams.`. */
const families: readonly string[] = [
  ...new Set(settingNames.flatMap((name) => /^.+?\..+?\./.exec(name) ?? [])),
].filter((family) => settingNames.filter((name) => name.startsWith(family)).length > 1);

function unknownFault({ key, name, where, text, source }: Entry): ConfigFault {
  const ofGroups = groupConfigs.get(name);
  if (ofGroups !== undefined) {
    const { brokerConfig } = ofGroups;
    const forAll = isSettingName(brokerConfig) ? `, and for all groups ${brokerConfig}` : '';
    const reason = `it is a setting of a group, wanted headgate groups config GROUP --set${forAll}`;
    return { key, where, seen: text, reason };
  }
  const written = source === 'environment' ? environmentKey : (known: string) => known;
  const nearest = nearestName(name, settingNames) ?? nearestName(name, foreignNames);
  const family = nearestName(/^.+?\..+?\./.exec(name)?.[0] ?? '', families);
  const hint =
    nearest !== undefined
      ? `; the nearest is ${written(nearest)}`
      : family !== undefined
        ? `; names like it begin with ${written(family)}`
        : '';
  return { key, where, seen: text, wanted: `a setting that exists${hint}` };
}

/** The default stands in for what could not be parsed, so that the profile is known whatever else is wrong. */
function valuesFrom(found: ReadonlyMap<SettingName, Entry>): SettingValues {
  const profile = (found.get('protocol.profile')?.parsed?.value ?? 'kip') as Profile;
  const values = settingNames.map((name) => {
    const parsed = found.get(name)?.parsed;
    return [name, parsed === undefined ? rows[name].defaultFor(profile) : parsed.value];
  });
  // Each value was made by its own row, which is what the type says.
  const resolved = Object.fromEntries(values) as SettingValues;
  return found.has(ASSIGNORS_KEY) ? resolved : withOwnAssignors(resolved);
}

const ASSIGNORS_KEY = 'group.streams.assignors';

/** Where nobody said which assignors there are, one's own are among them. */
function withOwnAssignors(values: SettingValues): SettingValues {
  const own = values['assignors.modules']?.map(({ name }) => name) ?? [];
  return { ...values, [ASSIGNORS_KEY]: [...values[ASSIGNORS_KEY], ...own] };
}

function* contradictions(
  values: SettingValues,
  found: ReadonlyMap<SettingName, Entry>,
): Iterable<ConfigFault> {
  const isUnusable = (name: SettingName) => {
    const entry = found.get(name);
    return entry !== undefined && entry.parsed === undefined;
  };
  for (const { keys, seen, wanted, wrongPart } of contradictionsIn(values)) {
    if (keys.some(isUnusable)) continue;
    const [name] = keys;
    const entry = found.get(name);
    const [key, where] = [entry?.key ?? name, entry?.where ?? 'default'];
    yield { key, where, seen, wanted, wrongPart };
  }
}

function sorted(names: ReadonlySet<string>): string {
  return [...names].sort().join(', ');
}
