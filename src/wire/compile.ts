import type { Reader } from './reader.ts';
import type { AnyField, AnyMessage, Fields, Message, Primitive } from './schema.ts';
import { hasField, isFlexible, isNullable } from './schema.ts';
import { inside, WireError } from './wire-error.ts';
import type { Writer } from './writer.ts';

export type Decoder<T> = (reader: Reader) => T;
/** `value` is an `InputOf` of the message; the callers' types say so. */
export type Encoder = (writer: Writer, value: object) => void;

/**
 * Makes the decoder of one version of a message.
 *
 * Decoders and encoders are JavaScript made from the tables, once per message and version: straight-line code
 * over the reader, without a look at the table. Measured for the steady heartbeat that is several times as fast
 * as walking the table or chaining closures. The text that becomes code comes from our own tables alone, never
 * from the network.
 *
 * The decoded object has every field of the message in the table's order, whatever the version, so that all
 * versions share one object shape.
 */
export function compileDecoder<T>(of: Message<T>, version: number): Decoder<T> {
  const source = new DecoderSource(version, isFlexible(of, version));
  const main = source.struct(of.fields);
  return assemble(source.lines, main) as Decoder<T>;
}

/**
 * Makes the encoder of one version of a message.
 *
 * It refuses null where the version does not allow it and a field that the version lacks, unless that field has
 * its default or is ignorable (wire.md 1.5).
 */
export function compileEncoder(of: AnyMessage, version: number): Encoder {
  const source = new EncoderSource(version, isFlexible(of, version));
  const main = source.struct(of.fields);
  return assemble(source.lines, main) as Encoder;
}

const NO_BYTES = Buffer.alloc(0);

function assemble(lines: readonly string[], main: string): unknown {
  const body = `'use strict';\n${lines.join('\n')}\nreturn ${main};`;
  return new Function('inside', 'WireError', 'NO_BYTES', body)(inside, WireError, NO_BYTES);
}

/** What both directions need to know about a version of a field. */
abstract class Source {
  readonly lines: string[] = [];
  protected readonly version: number;
  protected readonly flexible: boolean;
  private names = 0;

  constructor(version: number, flexible: boolean) {
    this.version = version;
    this.flexible = flexible;
  }

  protected fresh(prefix: string): string {
    this.names += 1;
    return `${prefix}${this.names}`;
  }

  protected isTagged(field: AnyField): boolean {
    return this.flexible && field.traits.tag !== undefined;
  }

  /** The reader's or writer's method for a primitive. */
  protected method(kind: Primitive, nullable: boolean): string {
    const base = kind === 'records' ? 'bytes' : kind;
    if (base !== 'str' && base !== 'bytes') return base;
    return lowerFirst(
      `${this.flexible ? 'Compact' : ''}${nullable ? 'Nullable' : ''}${upperFirst(base)}`,
    );
  }

  protected countMethod(nullable: boolean): string {
    return lowerFirst(`${this.flexible ? 'Compact' : ''}${nullable ? 'Nullable' : ''}Count`);
  }

  protected known(fields: Fields): [name: string, field: AnyField][] {
    return Object.entries(fields).filter(([, field]) => hasField(field, this.version));
  }

  /** Tagged fields in the order in which they are written. */
  protected tagged(fields: Fields): [name: string, field: AnyField, tag: number][] {
    return this.known(fields)
      .filter(([, field]) => this.isTagged(field))
      .map(([name, field]): [string, AnyField, number] => [name, field, field.traits.tag ?? 0])
      .sort(([, , one], [, , other]) => one - other);
  }
}

class DecoderSource extends Source {
  /** Adds a function that reads the fields and returns its name. */
  struct(fields: Fields): string {
    const name = this.fresh('readStruct');
    const lines: string[] = [];
    const values: string[] = [];
    for (const [key, field] of Object.entries(fields)) {
      const value = `v${values.length}`;
      values.push(`${key}: ${value}`);
      if (hasField(field, this.version) && !this.isTagged(field)) {
        lines.push(`at = '${key}'; ${value} = ${this.read(field)};`);
      } else {
        lines.push(`${value} = ${defaultOf(field)};`);
      }
    }
    if (this.flexible) lines.push(this.tagSection(fields));
    const locals = values.map((_, index) => `v${index}`);
    this.lines.push(
      `function ${name}(r) {`,
      `let ${['at', ...locals].join(', ')};`,
      `try {`,
      ...lines,
      `} catch (error) { throw inside(error, at); }`,
      `return { ${values.join(', ')} };`,
      `}`,
    );
    return name;
  }

  private tagSection(fields: Fields): string {
    const tagged = this.tagged(fields);
    if (tagged.length === 0) return `at = '(tags)'; r.skipTags();`;
    const order = Object.keys(fields);
    const cases = tagged.map(([key, field, tag]) => {
      const value = `v${order.indexOf(key)}`;
      return `case ${tag}: at = '${key}'; ${value} = ${this.read(field)}; r.closeTag(end); break;`;
    });
    return [
      `at = '(tags)';`,
      `for (let left = r.tagCount(); left > 0; left--) {`,
      `const tag = r.uvarint(), end = r.tagEnd();`,
      `switch (tag) { ${cases.join('\n')} default: r.skipTo(end); }`,
      `at = '(tags)';`,
      `}`,
    ].join('\n');
  }

  private read(field: AnyField): string {
    const nullable = isNullable(field, this.version);
    const { type } = field;
    if (type.kind === 'array') return `${this.array(type.item, nullable)}(r)`;
    if (type.kind !== 'struct') return `r.${this.method(type.kind, nullable)}()`;
    const name = this.struct(type.fields);
    if (!nullable) return `${name}(r)`;
    // In a tag the presence of a nullable struct is a varint, 0 for null; elsewhere an int8, negative for null.
    return `(${this.isTagged(field) ? 'r.uvarint() === 0' : 'r.i8() < 0'} ? null : ${name}(r))`;
  }

  private array(item: AnyField, nullable: boolean): string {
    const read = this.read(item);
    const name = this.fresh('readArray');
    this.lines.push(
      `function ${name}(r) {`,
      `const count = r.${this.countMethod(nullable)}();`,
      `if (count < 0) return null;`,
      `const items = [];`,
      `try { while (items.length < count) items.push(${read}); }`,
      `catch (error) { throw inside(error, '[' + items.length + ']'); }`,
      `return items;`,
      `}`,
    );
    return name;
  }
}

class EncoderSource extends Source {
  /** Adds a function that writes the fields of `m` and returns its name. */
  struct(fields: Fields): string {
    const name = this.fresh('writeStruct');
    const lines: string[] = [];
    for (const [key, field] of Object.entries(fields)) {
      if (hasField(field, this.version)) {
        if (this.isTagged(field)) continue;
        lines.push(`at = '${key}'; { ${this.take(key, field)} ${this.write(field)} }`);
      } else if (!field.traits.ignorable) {
        lines.push(
          `at = '${key}'; if (m.${key} !== undefined && ${this.differs(field, `m.${key}`)})`,
          `throw w.error('Version ${this.version} has no such field');`,
        );
      }
    }
    if (this.flexible) lines.push(this.tagSection(fields));
    this.lines.push(
      `function ${name}(w, m) {`,
      `let at = '';`,
      `try {`,
      `if (m === null) throw w.error('A struct is null where null is not allowed');`,
      ...lines,
      `} catch (error) { throw inside(error, at); }`,
      `}`,
    );
    return name;
  }

  private tagSection(fields: Fields): string {
    const tagged = this.tagged(fields);
    if (tagged.length === 0) return `w.uvarint(0);`;
    const wanted = tagged.map(([key, field], index) => {
      return `at = '${key}'; ${this.take(key, field, `t${index}`)} const has${index} = ${this.differs(field, `t${index}`)};`;
    });
    const written = tagged.map(([key, field, tag], index) => {
      return `if (has${index}) { at = '${key}'; const v = t${index}, size = w.openTag(${tag}); ${this.write(field)} w.closeTag(size); }`;
    });
    const count = tagged.map((_, index) => `has${index}`).join(' + ');
    // Unary plus: the sum of one boolean would stay a boolean.
    return [...wanted, `w.uvarint(+(${count}));`, ...written].join('\n');
  }

  /** Declares `local` as the caller's value or the default. */
  private take(key: string, field: AnyField, local = 'v'): string {
    return `let ${local} = m.${key}; if (${local} === undefined) ${local} = ${defaultInput(field)};`;
  }

  /** Statements that write the value `v`. */
  private write(field: AnyField): string {
    const nullable = isNullable(field, this.version);
    const { type } = field;
    if (type.kind === 'array') return this.writeArray(type.item, nullable);
    if (type.kind !== 'struct') return `w.${this.method(type.kind, nullable)}(v);`;
    const name = this.struct(type.fields);
    if (!nullable) return `${name}(w, v);`;
    const none = this.isTagged(field) ? 0 : -1;
    return `if (v === null) w.i8(${none}); else { w.i8(1); ${name}(w, v); }`;
  }

  private writeArray(item: AnyField, nullable: boolean): string {
    const name = this.fresh('writeArray');
    const write = this.write(item);
    const none = this.flexible ? 'w.uvarint(0)' : 'w.i32(-1)';
    this.lines.push(
      `function ${name}(w, items) {`,
      nullable ? `if (items === null) { ${none}; return; }` : '',
      `w.${this.countMethod(false)}(items);`,
      `let index = 0;`,
      `try { for (; index < items.length; index++) { const v = items[index]; ${write} } }`,
      `catch (error) { throw inside(error, '[' + index + ']'); }`,
      `}`,
    );
    return `${name}(w, v);`;
  }

  /** An expression: `value` is not the field's default. */
  private differs(field: AnyField, value: string): string {
    const { type } = field;
    if (field.traits.default === null) return `${value} !== null`;
    if (type.kind === 'array' || type.kind === 'bytes' || type.kind === 'records') {
      return `(${value} === null || ${value}.length > 0)`;
    }
    if (type.kind !== 'struct') return `${value} !== ${defaultOf(field)}`;
    const name = this.fresh('differs');
    const parts = Object.entries(type.fields).map(([key, inner]) => {
      return `(m.${key} !== undefined && ${this.differs(inner, `m.${key}`)})`;
    });
    this.lines.push(`function ${name}(m) { return m === null || ${parts.join(' || ')}; }`);
    return `${name}(${value})`;
  }
}

/** The default as a JavaScript expression, as a decoder gives it: structs in full. */
function defaultOf(field: AnyField): string {
  const value = field.traits.default;
  if (value === null) return 'null';
  if (field.type.kind === 'array') return '[]';
  if (field.type.kind === 'struct') {
    const inner = Object.entries(field.type.fields).map(
      ([key, child]) => `${key}: ${defaultOf(child)}`,
    );
    return `{ ${inner.join(', ')} }`;
  }
  if (value instanceof Uint8Array) return 'NO_BYTES';
  return typeof value === 'bigint' ? `${value}n` : JSON.stringify(value);
}

/** As {@link defaultOf} for an encoder, where an empty object already stands for a struct of defaults. */
function defaultInput(field: AnyField): string {
  return field.type.kind === 'struct' && field.traits.default !== null ? '{}' : defaultOf(field);
}

function upperFirst(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function lowerFirst(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}
