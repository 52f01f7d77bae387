import { ZERO_UUID } from './reader.ts';

/** The plain types of the protocol (wire.md 1.3). */
export type Primitive =
  | 'bool'
  | 'i8'
  | 'i16'
  | 'u16'
  | 'i32'
  | 'i64'
  | 'f64'
  | 'uuid'
  | 'str'
  | 'bytes'
  | 'records';

export type FieldType =
  | { readonly kind: Primitive }
  | { readonly kind: 'array'; readonly item: AnyField }
  | { readonly kind: 'struct'; readonly fields: Fields };

/** Fields by name, in wire order. */
export type Fields = Readonly<Record<string, AnyField>>;
export type AnyField = Field<unknown>;

/** Both ends included; an `until` of {@link NEWEST} is "and later". */
type Range = { readonly since: number; readonly until: number };
export const NEWEST = 0x7fff;
const ALWAYS: Range = { since: 0, until: NEWEST };

type Traits = {
  readonly versions: Range;
  readonly nullable: Range | undefined;
  readonly tag: number | undefined;
  readonly ignorable: boolean;
  readonly default: unknown;
};

/**
 * One field of a message: its type, the versions that have it and what stands for it in the others.
 *
 * Fields are values: each method gives a new one. `T` is the type of the decoded value; it exists for the
 * compiler alone.
 *
 * Source: wire.md section 3, notation; 1.5 for defaults.
 */
export class Field<out T> {
  declare readonly value: T;
  readonly type: FieldType;
  readonly traits: Traits;

  constructor(type: FieldType, traits: Traits) {
    this.type = type;
    this.traits = traits;
  }

  private with<U = T>(change: Partial<Traits>): Field<U> {
    return new Field<U>(this.type, { ...this.traits, ...change });
  }

  /** Only from this version on (`v4+`). */
  since(since: number): Field<T> {
    return this.with({ versions: { since, until: this.traits.versions.until } });
  }

  /** Only up to this version (`v0-3`). */
  until(until: number): Field<T> {
    return this.with({ versions: { since: this.traits.versions.since, until } });
  }

  /** May be null, and is null by default (`?`). */
  nullable(): Field<T | null> {
    return this.with<T | null>({ nullable: ALWAYS, default: null });
  }

  /** May be null in these versions; the default stays the empty value (`?e`). */
  orNull(since = 0, until: number = NEWEST): Field<T | null> {
    return this.with<T | null>({ nullable: { since, until } });
  }

  /** Stands for the field where a version lacks it or a caller leaves it out (`=x`). */
  default(value: T): Field<T> {
    return this.with({ default: value });
  }

  /** Written after the ordinary fields, and only when it differs from its default (`#n`). */
  tagged(tag: number): Field<T> {
    return this.with({ tag });
  }

  /** A version that lacks the field drops it silently; otherwise a value other than the default is refused. */
  ignorable(): Field<T> {
    return this.with({ ignorable: true });
  }
}

/** What a table of fields decodes to: every field, those that a version lacks at their default. */
export type ValueOf<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** What may be encoded: as {@link ValueOf}, with any field left out that shall have its default. */
export type InputOf<T> = T extends Uint8Array
  ? Uint8Array
  : T extends readonly (infer I)[]
    ? readonly InputOf<I>[]
    : T extends object
      ? { readonly [K in keyof T]?: InputOf<T[K]> | undefined }
      : T;

function primitive<T>(kind: Primitive, natural: unknown): Field<T> {
  const traits = { versions: ALWAYS, nullable: undefined, tag: undefined, ignorable: false };
  return new Field<T>({ kind }, { ...traits, default: natural });
}

const NO_BYTES = Buffer.alloc(0);

export const bool = primitive<boolean>('bool', false);
export const i8 = primitive<number>('i8', 0);
export const i16 = primitive<number>('i16', 0);
export const u16 = primitive<number>('u16', 0);
export const i32 = primitive<number>('i32', 0);
export const i64 = primitive<bigint>('i64', 0n);
export const f64 = primitive<number>('f64', 0);
/** URL-safe base64 of the sixteen bytes, 22 characters. */
export const uuid = primitive<string>('uuid', ZERO_UUID);
export const str = primitive<string>('str', '');
export const bytes = primitive<Buffer>('bytes', NO_BYTES);
/** Record batches, unparsed. The default is null even where null may not be written (wire.md 1.5): set it. */
export const records = primitive<Buffer>('records', null);

/** A list; the items' own versions and defaults do not count. */
export function array<T>(item: Field<T>): Field<readonly T[]> {
  return new Field<readonly T[]>({ kind: 'array', item }, { ...i32.traits, default: [] });
}

/** Fields inside a field. By default all of them have their defaults. */
export function struct<const F extends Fields>(fields: F): Field<ValueOf<F>> {
  return new Field<ValueOf<F>>({ kind: 'struct', fields }, { ...i32.traits, default: {} });
}

/** A request, a response, or the key or value of a record. */
export type Message<T> = {
  /** For the compiler alone. */
  readonly value?: T;
  readonly minVersion: number;
  readonly maxVersion: number;
  /** First version with compact lengths and tagged fields; undefined = none. */
  readonly flexibleSince: number | undefined;
  readonly fields: Fields;
};
export type AnyMessage = Message<unknown>;

type Versions = {
  readonly versions: readonly [min: number, max: number];
  readonly flexibleSince?: number;
};

/** Makes a message from its table of fields; the types of what it decodes to are inferred from it. */
export function message<const F extends Fields>(
  versions: Versions,
  fields: F,
): Message<ValueOf<F>> {
  const [minVersion, maxVersion] = versions.versions;
  return { minVersion, maxVersion, flexibleSince: versions.flexibleSince, fields };
}

/** Says whether a version of the enclosing struct has the field. */
export function hasField(field: AnyField, version: number): boolean {
  return version >= field.traits.versions.since && version <= field.traits.versions.until;
}

/** Says whether the field may be null in that version. */
export function isNullable(field: AnyField, version: number): boolean {
  const { nullable } = field.traits;
  return nullable !== undefined && version >= nullable.since && version <= nullable.until;
}

export function isFlexible(of: AnyMessage, version: number): boolean {
  return of.flexibleSince !== undefined && version >= of.flexibleSince;
}
