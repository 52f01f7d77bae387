import { byCodeUnits } from '../../machines/model/ids.ts';
import { type KeyValues, keysUnder } from './key-values.ts';
import { keyOf, prefixes, toJson } from './layout.ts';
import { Serial } from './serial.ts';

/** Kinds of resources whose settings are kept here; a topic's are kept with the topic. */
export type OverrideKind = 'broker' | 'group';

/** The byte on disk is the protocol's number of the resource type. */
const kindBytes: Readonly<Record<OverrideKind, number>> = { broker: 4, group: 32 };

const none: ReadonlyMap<string, string> = new Map();

/** Settings as texts, by name. */
export type Overrides = ReadonlyMap<string, string>;

/**
 * The values that were set on single resources: this broker, all brokers (name ''), groups. They outlive the group and
 * may be there before it. Looks are from memory and show what is durable.
 *
 * Source: records-and-configs 8 and 7.2; GC-2, GC-9.
 */
export class ConfigOverrides {
  readonly #keyValues: KeyValues;
  readonly #changes = new Serial();
  readonly #values: Readonly<Record<OverrideKind, Map<string, Overrides>>>;
  readonly #listeners: ((kind: OverrideKind, name: string) => void)[] = [];

  private constructor(
    keyValues: KeyValues,
    values: Readonly<Record<OverrideKind, Map<string, Overrides>>>,
  ) {
    this.#keyValues = keyValues;
    this.#values = values;
  }

  /** Reads everything kept; rejects with `StoreError`. */
  static async open(keyValues: KeyValues): Promise<ConfigOverrides> {
    return new ConfigOverrides(keyValues, {
      broker: await readKind(keyValues, 'broker'),
      group: await readKind(keyValues, 'group'),
    });
  }

  /** What was set on the resource; the same map until that changes, empty when there is nothing. */
  of(kind: OverrideKind, name: string): Overrides {
    return this.#values[kind].get(name) ?? none;
  }

  /** Names of the resources that have values of their own, ascending. */
  names(kind: OverrideKind): readonly string[] {
    return [...this.#values[kind].keys()].sort(byCodeUnits);
  }

  /**
   * Sets values (null takes one away), all or none. `judge` sees the complete set after the change, with no other
   * change between its look and the write; what it returns other than undefined is given back and nothing is changed.
   * Taking away the last value removes the resource (GC-9). Rejects with `StoreError` when it could not be kept.
   */
  alter<TRefusal>(
    kind: OverrideKind,
    name: string,
    changes: ReadonlyMap<string, string | null>,
    options: {
      readonly judge: (wanted: Overrides) => TRefusal | undefined;
      readonly validateOnly: boolean;
    },
  ): Promise<TRefusal | undefined> {
    return this.#changes.run(async () => {
      const wanted = withChanges(this.of(kind, name), changes);
      const refusal = options.judge(wanted);
      if (refusal !== undefined || options.validateOnly) return refusal;
      await this.#keep(kind, name, wanted);
      for (const listener of this.#listeners) listener(kind, name);
      return undefined;
    });
  }

  /** `listener` is told after {@link of} shows the change. */
  onChange(listener: (kind: OverrideKind, name: string) => void): void {
    this.#listeners.push(listener);
  }

  async #keep(kind: OverrideKind, name: string, wanted: Overrides): Promise<void> {
    const key = keyOf(prefixes.overrides, Buffer.of(kindBytes[kind]), Buffer.from(name, 'utf8'));
    if (wanted.size === 0) {
      await this.#keyValues.write([{ type: 'del', key }], { sync: true });
      this.#values[kind].delete(name);
    } else {
      const value = toJson([...wanted]);
      await this.#keyValues.write([{ type: 'put', key, value }], { sync: true });
      this.#values[kind].set(name, wanted);
    }
  }
}

/** The set after a change: null takes a value away. */
export function withChanges(
  before: Overrides,
  changes: ReadonlyMap<string, string | null>,
): Overrides {
  const after = new Map(before);
  for (const [name, value] of changes) {
    if (value === null) after.delete(name);
    else after.set(name, value);
  }
  return after;
}

async function readKind(keyValues: KeyValues, kind: OverrideKind): Promise<Map<string, Overrides>> {
  const prefix = keyOf(prefixes.overrides, Buffer.of(kindBytes[kind]));
  const values = new Map<string, Overrides>();
  for await (const entries of keyValues.scan(keysUnder(prefix))) {
    for (const [key, value] of entries) {
      const pairs: [string, string][] = JSON.parse(value.toString('utf8'));
      values.set(key.toString('utf8', prefix.length), new Map(pairs));
    }
  }
  return values;
}
