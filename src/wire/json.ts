import type { AnyField, Fields, FieldType, Primitive } from './schema.ts';
import { hasField } from './schema.ts';
import { inside, WireError } from './wire-error.ts';

/** A value as JSON has it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

/**
 * A decoded message as JSON: the fields that the version has, in the table's order. An int64 is a decimal string,
 * since a number cannot hold it; bytes are base64.
 *
 * @param fields the message's table.
 * @param value what a decoder of that table gave.
 */
export function toJson(fields: Fields, version: number, value: object): JsonObject {
  const source = value as Readonly<Record<string, unknown>>;
  const entries = Object.entries(fields)
    .filter(([, field]) => hasField(field, version))
    .map(([name, field]): [string, Json] => [name, jsonOf(field.type, version, source[name])]);
  return Object.fromEntries(entries);
}

function jsonOf(type: FieldType, version: number, value: unknown): Json {
  if (value === null) return null;
  if (type.kind === 'array') {
    return (value as readonly unknown[]).map((item) => jsonOf(type.item.type, version, item));
  }
  if (type.kind === 'struct') return toJson(type.fields, version, value as object);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value as Json;
}

/**
 * What an encoder of the table takes, from JSON as {@link toJson} makes it. Fields left out stay out and so get
 * their defaults; an int64 may be a whole number too. Whether a version has a field is the encoder's to judge.
 *
 * @throws WireError for a name that the table does not have and for a value of the wrong kind.
 */
export function fromJson(fields: Fields, json: Json | undefined): object {
  if (!isObject(json)) throw new WireError(`Not an object: ${JSON.stringify(json)}`, 0);
  const value: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(json)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) throw new WireError(`No field is called ${JSON.stringify(name)}`, 0);
    try {
      value[name] = inputOf(field, given);
    } catch (error) {
      throw inside(error, name);
    }
  }
  return value;
}

function inputOf(field: AnyField, json: Json): unknown {
  const { type } = field;
  if (json === null) return null;
  if (type.kind === 'struct') return fromJson(type.fields, json);
  if (type.kind !== 'array') return primitiveOf(type.kind, json);
  if (!Array.isArray(json)) throw new WireError(`Not a list: ${JSON.stringify(json)}`, 0);
  return json.map((item, index) => {
    try {
      return inputOf(type.item, item);
    } catch (error) {
      throw inside(error, `[${index}]`);
    }
  });
}

const JSON_TYPES: Readonly<Record<Primitive, 'boolean' | 'number' | 'string'>> = {
  bool: 'boolean',
  i8: 'number',
  i16: 'number',
  u16: 'number',
  i32: 'number',
  i64: 'string',
  f64: 'number',
  uuid: 'string',
  str: 'string',
  bytes: 'string',
  records: 'string',
};

function primitiveOf(kind: Primitive, json: Json): unknown {
  if (kind === 'i64') return bigintOf(json);
  const wanted = JSON_TYPES[kind];
  if (typeof json !== wanted) throw new WireError(`Not a ${wanted}: ${JSON.stringify(json)}`, 0);
  return kind === 'bytes' || kind === 'records' ? Buffer.from(String(json), 'base64') : json;
}

/** A decimal string or a whole number as a bigint. */
export function bigintOf(json: Json | undefined): bigint {
  const isWhole = typeof json === 'string' ? /^-?\d{1,20}$/.test(json) : Number.isSafeInteger(json);
  if (!isWhole) throw new WireError(`Not a whole number: ${JSON.stringify(json)}`, 0);
  return BigInt(json as string | number);
}

export function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
