import type { Profile } from '../../machines/model/profile.ts';

/** The types as Kafka's DescribeConfigs names them. */
export type SettingType = 'boolean' | 'int' | 'long' | 'string' | 'list' | 'class';

/**
 * One row of the table of settings: everything that validation, help and docs need to know about it. `T` is the
 * value inside the program.
 */
export type Setting<T> = {
  readonly type: SettingType;
  /** Undefined: the text is not an allowed value. */
  readonly parse: (text: string) => { readonly value: T } | undefined;
  /** Of a text that is not allowed: which part is wrong, and why; undefined where `allowed` says enough. */
  readonly wrongPart: ((text: string) => string | undefined) | undefined;
  /** The text that parses to this value; null where nothing is set. */
  format(value: T): string | null;
  /** What may be written, in words: completes "wanted …". */
  readonly allowed: string;
  readonly defaultFor: (profile: Profile) => T;
  readonly unit: string | undefined;
  /** It may be changed while the process runs, with IncrementalAlterConfigs on the broker. */
  readonly dynamic: boolean;
  /** Known and checked because Kafka has it, without any effect here. */
  readonly inert: boolean;
  /** Checked, kept and told; but what it steers is not built yet. */
  readonly notYet: boolean;
  /** Apache Kafka 4.4.0 lists it only where somebody set it. */
  readonly listedOnlyWhenSet: boolean;
  /** One sentence. */
  readonly about: string;
};

/** What a row may say beside its default, its bound and its sentence. */
type Extras = {
  readonly unit?: string;
  readonly dynamic?: boolean;
  readonly inert?: boolean;
  readonly notYet?: boolean;
  readonly listedOnlyWhenSet?: boolean;
};

const INT_MAX = 2 ** 31 - 1;
const LONG_MAX = 2n ** 63n - 1n;

/** A default that differs between the profiles. */
export type ByProfile<T> = { readonly kip: T; readonly kafka: T };

function isByProfile<T>(value: T | ByProfile<T>): value is ByProfile<T> {
  return typeof value === 'object' && value !== null && 'kip' in value && 'kafka' in value;
}

function row<T>(
  shape: Pick<Setting<T>, 'type' | 'parse' | 'format' | 'allowed' | 'about'> &
    Partial<Pick<Setting<T>, 'wrongPart'>>,
  fallback: T | ByProfile<T>,
  extras: Extras,
): Setting<T> {
  return {
    wrongPart: undefined,
    ...shape,
    defaultFor: (profile) => (isByProfile(fallback) ? fallback[profile] : fallback),
    unit: extras.unit,
    dynamic: extras.dynamic ?? false,
    inert: extras.inert ?? false,
    notYet: extras.notYet ?? false,
    listedOnlyWhenSet: extras.listedOnlyWhenSet ?? false,
  };
}

type Bounds = Extras & { readonly min?: number; readonly max?: number };

function wholeNumber(
  type: 'int' | 'long',
  fallback: number | ByProfile<number>,
  { min = type === 'int' ? -INT_MAX - 1 : Number.MIN_SAFE_INTEGER, ...bounds }: Bounds,
  about: string,
): Setting<number> {
  const max = bounds.max ?? (type === 'int' ? INT_MAX : Number.MAX_SAFE_INTEGER);
  return row(
    {
      type,
      parse: (text) => {
        if (!/^[+-]?\d{1,18}$/.test(text)) return undefined;
        const value = Number(text);
        return value >= min && value <= max ? { value } : undefined;
      },
      format: String,
      allowed: `a whole number from ${min} to ${max}`,
      about,
    },
    fallback,
    bounds,
  );
}

/** A 32-bit number with its bounds, both inclusive. */
export function int(
  fallback: number | ByProfile<number>,
  bounds: Bounds,
  about: string,
): Setting<number> {
  return wholeNumber('int', fallback, bounds, about);
}

/** Kafka's long, as far as JavaScript's numbers are exact. */
export function long(fallback: number, bounds: Bounds, about: string): Setting<number> {
  return wholeNumber('long', fallback, bounds, about);
}

/** A whole 64-bit number, 0 or more: where it travels on the wire as int64. */
export function int64(fallback: bigint, extras: Extras, about: string): Setting<bigint> {
  return row<bigint>(
    {
      type: 'long',
      parse: (text) => {
        if (!/^\+?\d{1,19}$/.test(text)) return undefined;
        const value = BigInt(text.replace('+', ''));
        return value <= LONG_MAX ? { value } : undefined;
      },
      format: String,
      allowed: `a whole number from 0 to ${LONG_MAX}`,
      about,
    },
    fallback,
    extras,
  );
}

/** `true` or `false`, in any case, as Kafka reads it. */
export function flag(
  fallback: boolean | ByProfile<boolean>,
  extras: Extras,
  about: string,
): Setting<boolean> {
  return row<boolean>(
    {
      type: 'boolean',
      parse: (text) => {
        const word = text.toLowerCase();
        return word === 'true' || word === 'false' ? { value: word === 'true' } : undefined;
      },
      format: String,
      allowed: 'true or false',
      about,
    },
    fallback,
    extras,
  );
}

/** One of a few words, written in any case. */
export function choice<const W extends string>(
  words: readonly W[],
  fallback: NoInfer<W> | ByProfile<NoInfer<W>>,
  extras: Extras,
  about: string,
): Setting<W> {
  return row<W>(
    {
      type: 'string',
      parse: (text) => {
        const value = words.find((word) => word === text.toLowerCase());
        return value === undefined ? undefined : { value };
      },
      format: (value) => value,
      allowed: orList(words),
      about,
    },
    fallback,
    extras,
  );
}

type ListRules<W> = Extras & {
  /** The only entries there can be; any when left out. */
  readonly words?: readonly W[];
  /** What the entries are, in words; left out: the words there are, or `names`. */
  readonly entries?: string;
  readonly notEmpty?: boolean;
};

/** What stands in a list more than once. */
function twiceIn(text: string): string | undefined {
  const entries = splitList(text);
  const twice = entries.find((entry, at) => entry !== '' && entries.indexOf(entry) !== at);
  return twice === undefined ? undefined : `"${twice}" is there twice`;
}

/**
 * Words between commas, blanks around them trimmed. A word given twice is refused: looked for in the text itself, since
 * a parser that drops duplicates would hide it (BC-2).
 */
export function list<const W extends string>(
  fallback: readonly W[] | ByProfile<readonly W[]>,
  {
    words,
    entries = words === undefined ? 'names' : `${orList(words)},`,
    notEmpty = false,
    ...extras
  }: ListRules<W>,
  about: string,
): Setting<readonly W[]> {
  return row<readonly W[]>(
    {
      type: 'list',
      parse: (text) => {
        const value = splitList(text);
        if (value.includes('') || new Set(value).size !== value.length) return undefined;
        if (notEmpty && value.length === 0) return undefined;
        const known = (word: string): word is W =>
          words === undefined || (words as readonly string[]).includes(word);
        return value.every(known) ? { value } : undefined;
      },
      wrongPart: twiceIn,
      format: (value) => value.join(','),
      allowed: `${entries} between commas, each once${notEmpty ? ', at least one' : ''}`,
      about,
    },
    fallback,
    extras,
  );
}

type TextRules<T> = Extras & {
  /** Undefined: not allowed. The text is never empty. */
  readonly read: (text: string) => T | undefined;
  readonly write?: (value: T) => string;
  readonly wrongPart?: Setting<T>['wrongPart'];
  readonly allowed: string;
  readonly type?: SettingType;
};

/** A setting that may be left out: empty text, or none, is undefined. */
export function optional<T>(
  { read, write = String, wrongPart, allowed, type = 'string', ...extras }: TextRules<T>,
  about: string,
): Setting<T | undefined> {
  return row<T | undefined>(
    {
      type,
      parse: (text) => {
        if (text === '') return { value: undefined };
        const value = read(text);
        return value === undefined ? undefined : { value };
      },
      wrongPart,
      format: (value) => (value === undefined ? null : write(value)),
      allowed: `${allowed}, or nothing`,
      about,
    },
    undefined,
    extras,
  );
}

/** As {@link optional}, with a default and not to be left empty. */
export function required<T>(
  fallback: T,
  { read, write = String, wrongPart, allowed, type = 'string', ...extras }: TextRules<T>,
  about: string,
): Setting<T> {
  return row<T>(
    {
      type,
      parse: (text) => {
        const value = text === '' ? undefined : read(text);
        return value === undefined ? undefined : { value };
      },
      wrongPart,
      format: write,
      allowed,
      about,
    },
    fallback,
    extras,
  );
}

/** The entries between commas, trimmed; none for blank text. */
export function splitList(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((word) => word.trim());
}

/** `a, b or c`. */
export function orList(words: readonly string[]): string {
  if (words.length < 2) return words.join();
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
