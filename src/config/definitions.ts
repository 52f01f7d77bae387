import { headgateSettings } from './headgate-settings.ts';
import { brokerSettings, streamsSettings } from './kafka-settings.ts';
import type { Setting } from './setting.ts';

/** A part of the table of settings. */
export type SettingSection = {
  readonly title: string;
  readonly settings: Readonly<Record<string, Setting<unknown>>>;
};

/** The one table of settings: validation, help, docs and DescribeConfigs are made from it. */
export const definitions = { ...headgateSettings, ...streamsSettings, ...brokerSettings } as const;

export type SettingName = keyof typeof definitions;

/** Every setting's value, typed by its row. */
export type SettingValues = {
  readonly [Name in SettingName]: (typeof definitions)[Name] extends Setting<infer T> ? T : never;
};

/** The rows without their types, for code that treats all alike. */
export const rows: Readonly<Record<SettingName, Setting<unknown>>> = definitions;

export const settingNames = Object.keys(definitions) as readonly SettingName[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(definitions, name);
}

/** The table in the order of the docs. */
export const sections: readonly SettingSection[] = [
  { title: "Headgate's own", settings: headgateSettings },
  { title: 'Streams groups', settings: streamsSettings },
  { title: 'Broker', settings: brokerSettings },
];
