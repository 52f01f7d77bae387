import { unreachable } from './refusal.ts';

/** The broker's own values of what a group may override, with their bounds. All times in ms. */
export type BrokerGroupSettings = {
  readonly sessionTimeoutMs: number;
  readonly sessionTimeoutMsMin: number;
  readonly sessionTimeoutMsMax: number;
  readonly heartbeatIntervalMs: number;
  readonly heartbeatIntervalMsMin: number;
  readonly heartbeatIntervalMsMax: number;
  readonly numStandbyReplicas: number;
  readonly numStandbyReplicasMax: number;
  readonly initialRebalanceDelayMs: number;
  readonly assignmentIntervalMs: number;
  readonly assignmentIntervalMsMin: number;
  readonly assignmentIntervalMsMax: number;
  readonly assignorOffload: boolean;
  readonly taskOffsetIntervalMs: number;
  readonly taskOffsetIntervalMsMin: number;
  readonly numWarmupReplicas: number;
  readonly numWarmupReplicasMax: number;
  readonly acceptableRecoveryLag: bigint;
  readonly rackAwareAssignmentTags: readonly string[];
  /** Names of the registered assignors, at least one; the first is the default. */
  readonly assignors: readonly string[];
  /** `group.streams.assignors` was set by somebody, so its first entry counts as selected (SC-2). */
  readonly assignorsExplicit: boolean;
};

/** Kafka's types of config values. */
export type GroupConfigType = 'boolean' | 'int' | 'long' | 'string' | 'list';

/** One setting of a group: a row of the tables of configs. */
export type GroupConfig = {
  readonly name: string;
  readonly type: GroupConfigType;
  /** The broker config it overrides; its own name where there is none, as Kafka names the default's synonym. */
  readonly brokerConfig: string;
  /** The broker's value as text. */
  readonly brokerValue: (broker: BrokerGroupSettings) => string;
  /** What would be accepted in place of `value`, in words; undefined when it is accepted. */
  readonly wantedInstead: (value: string, broker: BrokerGroupSettings) => string | undefined;
  /** Apache Kafka 4.4.0 lists it only where a group or the broker has a value for it. */
  readonly listedOnlyWhenSet: boolean;
};

const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** Inclusive; open ends reach as far as the type. */
export type Bounds = {
  readonly min?: number | bigint | undefined;
  readonly max?: number | bigint | undefined;
};

/** Says what is wanted when `value` is no whole number of the type, or out of bounds. */
export function wantedNumber(
  value: string,
  type: 'int' | 'long',
  bounds: Bounds,
): string | undefined {
  const widest = type === 'int' ? INT32 : INT64;
  const min = BigInt(bounds.min ?? widest.min);
  const max = BigInt(bounds.max ?? widest.max);
  const number = wholeNumber(value);
  if (number !== undefined && number >= min && number <= max) return undefined;
  return `a whole number from ${min} to ${max}`;
}

/** Says what is wanted when `value` is not a boolean; letter case does not count. */
export function wantedBoolean(value: string): string | undefined {
  return ['true', 'false'].includes(value.trim().toLowerCase()) ? undefined : 'true or false';
}

/** Says what is wanted when a list has an empty entry or one entry twice. */
export function wantedDistinct(value: string): string | undefined {
  const entries = listEntries(value);
  const isFine = !entries.includes('') && new Set(entries).size === entries.length;
  return isFine ? undefined : 'names, none of them empty and none twice, separated by commas';
}

/** Says what is wanted when `value` is none of the words, exactly but for blanks around it. */
export function wantedOneOf(value: string, words: readonly string[]): string | undefined {
  return words.includes(value.trim()) ? undefined : `one of ${words.join(', ')}`;
}

/** A value that can be taken, as it is understood and shown: without blanks, a number without needless signs. */
export function plainValue(value: string, type: GroupConfigType): string {
  switch (type) {
    case 'int':
    case 'long':
      return String(wholeNumber(value) ?? value);
    case 'boolean':
      return value.trim().toLowerCase();
    case 'list':
      return listEntries(value).join(',');
    case 'string':
      return value.trim();
    default:
      return unreachable(type);
  }
}

/** The entries of a list as Kafka writes it: split on commas, blanks trimmed; no text is no entry. */
export function listEntries(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((entry) => entry.trim());
}

/** Reads a whole number, blanks trimmed; undefined when it is none. */
export function wholeNumber(text: string): bigint | undefined {
  return /^[+-]?[0-9]+$/.test(text.trim()) ? BigInt(text.trim()) : undefined;
}
