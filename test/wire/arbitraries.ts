import fc from 'fast-check';
import { ZERO_UUID } from '../../src/wire/reader.ts';
import type { AnyField, AnyMessage, Fields, FieldType } from '../../src/wire/schema.ts';
import { hasField, isNullable } from '../../src/wire/schema.ts';

type Value = Readonly<Record<string, unknown>>;

const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };
const uuids = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const texts = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('x'.repeat(63), 'y'.repeat(64), 'z'.repeat(126), 'é'.repeat(64), 'w'.repeat(127)),
);
const buffers = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes));

/** Any value that a decoder of that version can give: what the version lacks has its default. */
export function valueOfMessage(message: AnyMessage, version: number): fc.Arbitrary<Value> {
  return valueOfFields(message.fields, version);
}

function valueOfFields(fields: Fields, version: number): fc.Arbitrary<Value> {
  const entries = Object.entries(fields).map(([name, field]) => {
    const value = hasField(field, version)
      ? valueOfField(field, version)
      : fc.constant(defaultOf(field));
    return [name, value] as const;
  });
  return fc.record(Object.fromEntries(entries), { noNullPrototype: true });
}

function valueOfField(field: AnyField, version: number): fc.Arbitrary<unknown> {
  const plain = valueOfType(field.type, version);
  const orDefault =
    field.traits.default === null ? plain : fc.oneof(plain, fc.constant(defaultOf(field)));
  return isNullable(field, version) ? fc.option(orDefault, { nil: null, freq: 3 }) : orDefault;
}

function valueOfType(type: FieldType, version: number): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'array':
      return fc.array(valueOfType(type.item.type, version), { maxLength: 3 });
    case 'struct':
      return valueOfFields(type.fields, version);
    case 'bool':
      return fc.boolean();
    case 'i8':
      return fc.integer({ min: -128, max: 127 });
    case 'i16':
      return fc.integer({ min: -32_768, max: 32_767 });
    case 'u16':
      return fc.nat({ max: 65_535 });
    case 'i32':
      return fc.integer(INT32);
    case 'i64':
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case 'f64':
      return fc.double();
    case 'uuid':
      return fc.oneof(uuids, fc.constant(ZERO_UUID));
    case 'str':
      return texts;
    case 'bytes':
    case 'records':
      return buffers;
  }
}

/** Built from the table anew, so that the decoders' own defaults are held against it. */
export function defaultOf(field: AnyField): unknown {
  const { default: value } = field.traits;
  if (value === null || field.type.kind !== 'struct') return value;
  const inner = Object.entries(field.type.fields).map(([name, child]) => [name, defaultOf(child)]);
  return Object.fromEntries(inner);
}
