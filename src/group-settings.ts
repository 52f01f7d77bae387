import type { Log, SettingsPort } from '../actors/ports.ts';
import type { BrokerGroupSettings } from '../machines/model/group-config.ts';
import { resolveGroupSettings } from '../machines/model/resolve-group-settings.ts';
import type { GroupSettings } from '../machines/model/settings.ts';
import { brokerGroupSettings } from './config/broker-group-settings.ts';
import type { Config } from './config/config.ts';
import { rows, type SettingName, type SettingValues, settingNames } from './config/definitions.ts';
import type { ConfigOverrides } from './store/config-overrides.ts';

const INTERVAL = 'group.streams.assignment.interval.ms';
/** The name that stands for all brokers. */
const ALL_BROKERS = '';

/**
 * The settings of groups in force: what a group overrides, else the broker's (GC-1). Groups without overrides share one
 * object, so that to ask for every heartbeat costs a look-up.
 */
export class GroupSettingsInForce implements SettingsPort {
  readonly #config: Config;
  readonly #overrides: ConfigOverrides;
  readonly #nodeId: string;
  readonly #log: Log;
  readonly #ofGroups = new Map<string, GroupSettings>();
  #broker: BrokerGroupSettings;
  #shared: GroupSettings;

  constructor(parts: { config: Config; overrides: ConfigOverrides; nodeId: number; log: Log }) {
    const { config, overrides, nodeId, log } = parts;
    this.#config = config;
    this.#overrides = overrides;
    this.#nodeId = String(nodeId);
    this.#log = log;
    this.#broker = this.#makeBroker();
    this.#shared = this.#resolve(new Map());
    for (const groupId of overrides.names('group')) this.#take(groupId);
    overrides.onChange((kind, name) => {
      if (kind === 'group') this.#take(name);
      else this.#takeBroker();
    });
  }

  group(groupId: string): GroupSettings {
    return this.#ofGroups.get(groupId) ?? this.#shared;
  }

  /** The broker's own values in force. */
  broker(): BrokerGroupSettings {
    return this.#broker;
  }

  /** The values of the start, below the dynamic ones that were set since. */
  #makeBroker(): BrokerGroupSettings {
    const { values, group } = this.#config;
    const broker = brokerGroupSettings({ ...values, ...this.#dynamicValues() }, group);
    const { assignmentIntervalMs, assignmentIntervalMsMin, assignmentIntervalMsMax } = broker;
    const inBounds = Math.min(
      Math.max(assignmentIntervalMs, assignmentIntervalMsMin),
      assignmentIntervalMsMax,
    );
    if (inBounds === assignmentIntervalMs) return broker;
    // Brought back to its bounds, not refused (BC-4).
    this.#warn(`${INTERVAL} is ${assignmentIntervalMs}, out of bounds: ${inBounds} is used`);
    return { ...broker, assignmentIntervalMs: inBounds };
  }

  /** Set on this node, else on all; what a later version does not take any more counts as not set. */
  #dynamicValues(): Partial<SettingValues> {
    const found = settingNames.flatMap((name): [SettingName, unknown][] => {
      if (!rows[name].dynamic) return [];
      const ofNode = this.#overrides.of('broker', this.#nodeId).get(name);
      const text = ofNode ?? this.#overrides.of('broker', ALL_BROKERS).get(name);
      if (text === undefined) return [];
      const parsed = rows[name].parse(text.trim());
      if (parsed !== undefined) return [[name, parsed.value]];
      this.#warn(`${name} is "${text}", wanted ${rows[name].allowed}: it counts as not set`);
      return [];
    });
    // Each value was made by its own row, which is what the type says.
    return Object.fromEntries(found) as Partial<SettingValues>;
  }

  #warn(text: string): void {
    this.#log.warn({}, `Setting of the broker: ${text}`);
  }

  #takeBroker(): void {
    this.#broker = this.#makeBroker();
    this.#shared = this.#resolve(new Map());
    for (const groupId of this.#overrides.names('group')) this.#take(groupId);
  }

  #take(groupId: string): void {
    const own = this.#overrides.of('group', groupId);
    if (own.size === 0) this.#ofGroups.delete(groupId);
    else this.#ofGroups.set(groupId, this.#resolve(own, groupId));
  }

  #resolve(own: ReadonlyMap<string, string>, groupId?: string): GroupSettings {
    return resolveGroupSettings(this.#broker, own, (text) =>
      this.#log.warn({ groupId }, `Setting of a group: ${text}`),
    );
  }
}
