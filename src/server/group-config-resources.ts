import type { BrokerGroupSettings } from '../../machines/model/group-config.ts';
import {
  describeGroupConfigs,
  groupConfigs,
  validateGroupConfigs,
} from '../../machines/model/group-configs.ts';
import type { Behaviour } from '../../machines/model/profile.ts';
import { nearestName } from '../config/nearest-name.ts';
import { alterOverrides } from './alter-overrides.ts';
import type { ConfigResources, ConfigSynonym, Outcome, OverrideStore } from './ports.ts';

export type GroupConfigParts = {
  readonly overrides: OverrideStore;
  /** The broker's values in force. */
  readonly broker: () => BrokerGroupSettings;
  /** Values of a broker's setting, the one in force first; its sources are never a topic's or a group's. */
  readonly brokerChain: (name: string) => readonly BrokerSynonym[];
  readonly behaviour: Behaviour;
};

/** A value that a broker's setting has from somewhere. */
export type BrokerSynonym = ConfigSynonym & {
  readonly value: string;
  readonly source:
    | 'DYNAMIC_BROKER_CONFIG'
    | 'DYNAMIC_DEFAULT_BROKER_CONFIG'
    | 'STATIC_BROKER_CONFIG'
    | 'DEFAULT_CONFIG';
};

/**
 * The settings of groups: any id is a resource, whether or not there is such a group.
 *
 * Source: records-and-configs 8, GC-1 to GC-9.
 */
export function groupConfigResources(parts: GroupConfigParts): ConfigResources {
  const { overrides, broker, brokerChain, behaviour } = parts;

  function judge(
    wanted: ReadonlyMap<string, string>,
    changes: ReadonlyMap<string, string | null>,
  ): Outcome | undefined {
    const faults = validateGroupConfigs(wanted, broker(), changes);
    if (faults.length === 0) return undefined;
    const texts = faults.map(({ key, seen, wanted }) =>
      groupConfigs.has(key) ? `${key} is "${seen}", wanted ${wanted}` : noSuchConfig(key),
    );
    return { error: 'INVALID_CONFIG', message: `Cannot alter configs: ${texts.join('; ')}` };
  }

  return {
    describe: (name) =>
      describeGroupConfigs({
        overrides: overrides.of('group', name),
        broker: broker(),
        brokerChain,
        names: null,
        behaviour,
      }).map((row) => ({ ...row, readOnly: false, sensitive: false, documentation: null })),
    overrides: (name) => overrides.of('group', name),
    alter: (name, changes, { validateOnly }) =>
      alterOverrides(overrides, {
        kind: 'group',
        name,
        changes,
        validateOnly,
        judge: (wanted) => judge(wanted, changes),
      }),
    overridden: () => overrides.names('group'),
  };
}

/** Blames the name, whatever the value. */
function noSuchConfig(key: string): string {
  const own = [...groupConfigs.values()].find(({ brokerConfig }) => brokerConfig === key)?.name;
  if (own !== undefined)
    return `groups have no config "${key}" (it is the broker's: wanted ${own})`;
  const nearest = nearestName(key, [...groupConfigs.keys()]);
  const hint = nearest === undefined ? '' : ` (the nearest is ${nearest})`;
  return `groups have no config "${key}"${hint}`;
}
