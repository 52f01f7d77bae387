/** Why a cell cannot be used: one clear line that names the place and the value, without the file's name. */
export class CellError extends Error {
  override readonly name = 'CellError';
}

/** Where a value is, from the inside out; undefined is the whole. */
export type Place = { readonly key: string | number; readonly in: Place } | undefined;

/**
 * Says that what JSON holds is a value of a type: the very value comes back. Nothing is copied: objects with numbers for
 * keys, built key by key, take a thousand times the memory they need. Throws {@link CellError}.
 */
export type Read<T> = (value: unknown, place: Place) => T;

const SHOWN_MAX = 60;
/** The largest int64. */
export const INT64_MAX = 2n ** 63n - 1n;
const WORD = /^[A-Za-z_]\w{0,59}$/;

/** A place as programs write it: `members[3].offsets["0"]`. */
export function placeText(place: Place): string {
  if (place === undefined) return '';
  const { key } = place;
  const before = placeText(place.in);
  if (typeof key === 'number') return `${before}[${key}]`;
  if (!WORD.test(key)) return `${before}[${shown(key)}]`;
  return before === '' ? key : `${before}.${key}`;
}

/** Any text. */
export const text: Read<string> = (value, place) =>
  typeof value === 'string' ? value : refuse(value, place, 'text');

/** Text that is not empty. */
export const name: Read<string> = (value, place) =>
  typeof value === 'string' && value !== '' ? value : refuse(value, place, 'text, not empty');

export const flag: Read<boolean> = (value, place) =>
  typeof value === 'boolean' ? value : refuse(value, place, 'true or false');

/** Both ends included. */
export function wholeNumber(min: number, max: number): Read<number> {
  return (value, place) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? value
      : refuse(value, place, `a whole number from ${min} to ${max}`);
}

/** An int64 from 0 on: a number that is exact, or digits in a string. */
export const int64: Read<number | string> = (value, place) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  if (typeof value === 'string' && /^\d{1,19}$/.test(value) && BigInt(value) <= INT64_MAX) {
    return value;
  }
  const wanted = `a whole number from 0 to ${INT64_MAX}, above ${Number.MAX_SAFE_INTEGER} as digits in a string`;
  return refuse(value, place, wanted);
};

/** At most `max` entries. */
export function listOf<T>(read: Read<T>, max: number): Read<readonly T[]> {
  return (value, place) => {
    if (!Array.isArray(value)) return refuse(value, place, 'a list');
    if (value.length > max) {
      throw new CellError(`${placeText(place)} has ${value.length} entries: wanted at most ${max}`);
    }
    for (let key = 0; key < value.length; key++) read(value[key], { key, in: place });
    return value as T[];
  };
}

/** Values by whatever keys there are. */
export function recordOf<T>(read: Read<T>): Read<Readonly<Record<string, T>>> {
  return (value, place) => {
    const object = asObject(value, place);
    for (const key of Object.keys(object)) read(object[key], { key, in: place });
    return object as Readonly<Record<string, T>>;
  };
}

type OptionalRead<T> = Read<T> & { readonly optional: true };

/** For a field that may be left out. */
export function optional<T>(read: Read<T>): OptionalRead<T> {
  return Object.assign((value: unknown, place: Place) => read(value, place), {
    optional: true as const,
  });
}

/** A reader of each field; of those that may be left out, one that says so. */
type Fields<T> = {
  readonly [K in keyof T]-?: undefined extends T[K]
    ? OptionalRead<Exclude<T[K], undefined>>
    : Read<T[K]>;
};

/** An object with these fields and no others. */
export function objectOf<T extends object>(fields: Fields<T>): Read<T> {
  const known = new Map(Object.entries<Read<unknown>>(fields));
  return (value, place) => {
    const object = asObject(value, place);
    for (const key of Object.keys(object)) {
      if (known.has(key)) continue;
      const words = [...known.keys()].join(', ');
      throw new CellError(`${placeText({ key, in: place })} is not known: wanted only ${words}`);
    }
    for (const [key, field] of known) {
      if (Object.hasOwn(object, key)) field(object[key], { key, in: place });
      else if (!('optional' in field)) {
        throw new CellError(`${placeText({ key, in: place })} is missing`);
      }
    }
    return object as T;
  };
}

function asObject(value: unknown, place: Place): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : refuse(value, place, 'an object');
}

function refuse(value: unknown, place: Place, wanted: string): never {
  const where = place === undefined ? 'It' : placeText(place);
  throw new CellError(`${where} is ${shown(value)}: wanted ${wanted}`);
}

/** A value in a few characters: what kind of thing it is, where it holds others. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return value.length <= SHOWN_MAX
    ? JSON.stringify(value)
    : `${JSON.stringify(value.slice(0, SHOWN_MAX))}…`;
}
