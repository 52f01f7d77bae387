import type { Log, SettingsPort } from '../actors/ports.ts';
import type { BrokerGroupSettings } from '../machines/model/group-config.ts';
import { resolveGroupSettings } from '../machines/model/resolve-group-settings.ts';
import type { GroupSettings } from '../machines/model/settings.ts';
import { brokerGroupSettings } from './config/broker-group-settings.ts';
import type { Config } from './config/config.ts';
import type { ConfigOverrides } from './store/config-overrides.ts';

/**
 * The settings of groups in force: what a group overrides, else the broker's (GC-1). Groups without overrides share one
 * object, so that to ask for every heartbeat costs a look-up.
 */
export class GroupSettingsInForce implements SettingsPort {
  readonly #overrides: ConfigOverrides;
  readonly #log: Log;
  readonly #makeBroker: () => BrokerGroupSettings;
  readonly #ofGroups = new Map<string, GroupSettings>();
  #broker: BrokerGroupSettings;
  #shared: GroupSettings;

  constructor(parts: { config: Config; overrides: ConfigOverrides; nodeId: number; log: Log }) {
    const { config, overrides, nodeId, log } = parts;
    this.#overrides = overrides;
    this.#log = log;
    const assignors = config.settings.find(({ name }) => name === 'group.streams.assignors');
    const assignorsExplicit = assignors !== undefined && assignors.source !== 'default';
    const dynamic = (name: string) =>
      overrides.of('broker', String(nodeId)).get(name) ?? overrides.of('broker', '').get(name);
    this.#makeBroker = () => {
      const broker = brokerGroupSettings(config.values, { assignorsExplicit });
      const interval = dynamic('group.streams.assignment.interval.ms');
      if (interval === undefined) return broker;
      const { assignmentIntervalMsMin: min, assignmentIntervalMsMax: max } = broker;
      // A dynamic value outside the bounds is brought back to them, not refused (BC-4).
      return { ...broker, assignmentIntervalMs: Math.min(Math.max(Number(interval), min), max) };
    };
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
