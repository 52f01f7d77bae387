import type { AdminClient } from '../client/admin.ts';
import { ClientError } from '../client/client-error.ts';
import { nearestName } from '../config/nearest-name.ts';
import { CommandError } from './command-io.ts';
import type { Printing } from './groups.ts';
import { jsonText, table } from './table.ts';

/** Settings of other types of groups live on the same resource (GC-6). */
const OURS = 'streams.';

const ASSIGNOR_NAME = 'streams.assignor.name';
const DEFAULT = 'default';

/** Where a value is from, by Kafka's numbers, in the words of `headgate config`. */
const PLACES: ReadonlyMap<number, string> = new Map([
  [8, 'group'],
  [2, 'broker, set while it runs'],
  [3, 'all brokers, set while they run'],
  [4, 'broker'],
  [5, DEFAULT],
]);

export type GroupConfigFlags = {
  /** `key=value`, as it was typed. */
  readonly set: readonly string[];
  /** Names whose values are taken away. */
  readonly unset: readonly string[];
};

/** `groups config`: changes settings of a group, if asked to, and shows all of them with where they come from. */
export async function configureGroup(
  client: AdminClient,
  groupId: string,
  { set, unset, json, io }: Printing & GroupConfigFlags,
): Promise<void> {
  const changes = changesOf(set, unset);
  refuseUnknown(unset, new Set((await client.groupConfigs(groupId)).map(({ name }) => name)));
  if (changes.size > 0) await client.alterGroupConfigs(groupId, changes);
  const configs = (await client.groupConfigs(groupId))
    .filter(({ name }) => name.startsWith(OURS))
    .map(({ name, value, source }) => ({
      name,
      value,
      source: PLACES.get(source) ?? String(source),
    }));
  const shown = withAssignorInUse(configs, await assignorInUse(client, groupId));
  if (json) io.out(jsonText(shown));
  else {
    const lines = shown.map(({ name, value, source }) => [name, value || '-', source]);
    io.out(table(['SETTING', 'VALUE', 'FROM'], lines));
  }
}

type Shown = { readonly name: string; readonly value: string | null; readonly source: string };

/** The assignor of the group's next assignment; null where there is no such streams group. */
async function assignorInUse(client: AdminClient, groupId: string): Promise<string | null> {
  try {
    return (await client.describe(groupId)).group.assignorName;
  } catch (error) {
    if (error instanceof ClientError) return null;
    throw error;
  }
}

/** Without a selection the topology may decide otherwise than the setting's default, and what was selected may be missing. */
function withAssignorInUse(configs: readonly Shown[], inUse: string | null): readonly Shown[] {
  return configs.map((config) => {
    const { name, value, source } = config;
    if (name !== ASSIGNOR_NAME || inUse === null || inUse === value) return config;
    if (source === DEFAULT) return { name, value: inUse, source: `${DEFAULT}, by topology` };
    return { ...config, source: `${source}; it is missing, ${inUse} stands in` };
  });
}

/** To take away what does not exist is no error to Kafka, but a typing error to a person. */
function refuseUnknown(names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, [...known]);
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  throw new CommandError(`Cannot take ${unknown} away: groups have no such setting${hint}`);
}

function changesOf(
  set: readonly string[],
  unset: readonly string[],
): ReadonlyMap<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const text of set) {
    const at = text.indexOf('=');
    if (at < 1) throw new CommandError(`Cannot use --set ${text}: wanted key=value`);
    const name = text.slice(0, at).trim();
    if (changes.has(name)) throw new CommandError(`Cannot set ${name} twice at once`);
    changes.set(name, text.slice(at + 1));
  }
  for (const name of unset) {
    if (changes.has(name)) throw new CommandError(`Cannot set ${name} and take it away at once`);
    changes.set(name, null);
  }
  return changes;
}
