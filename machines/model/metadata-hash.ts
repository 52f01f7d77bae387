import { byCodeUnits } from './ids.ts';
import type { TopicMetadata } from './topics.ts';
import { xxh3 } from './xxh3.ts';

/** Stands first in what is hashed, so that another layout would give other hashes. */
const LAYOUT_VERSION = 0;
const NO_TOPICS_HASH = 0n;
const UUID_BYTES = 16;
const BASE64_URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * The hash of one topic's id, name, partition count and racks; a signed int64.
 *
 * Source: records-and-configs 17.7.
 */
export function topicHash(topic: TopicMetadata): bigint {
  const bytes = new LittleEndian();
  bytes.i8(LAYOUT_VERSION);
  bytes.uuid(topic.topicId);
  bytes.text(topic.name);
  bytes.i32(topic.partitionCount);
  for (let partition = 0; partition < topic.partitionCount; partition++) {
    bytes.i32(partition);
    for (const rack of [...(topic.racks[partition] ?? [])].sort(byCodeUnits)) {
      bytes.i32(rack.length);
      bytes.text(rack);
    }
  }
  return xxh3(bytes.finish());
}

/**
 * The hash of all topics of a group, as record 17 stores it; 0 for no topics. Their order does not matter.
 *
 * Source: records-and-configs 17.7.
 */
export function metadataHash(topics: readonly TopicMetadata[]): bigint {
  return groupHash(new Map(topics.map((topic) => [topic.name, topicHash(topic)])));
}

/** As {@link metadataHash}, from the topics' own hashes by name. */
export function groupHash(topicHashes: ReadonlyMap<string, bigint>): bigint {
  if (topicHashes.size === 0) return NO_TOPICS_HASH;
  const bytes = new LittleEndian();
  const inOrder = [...topicHashes].sort(([one], [other]) => byCodeUnits(one, other));
  for (const [, hash] of inOrder) bytes.i64(hash);
  return xxh3(bytes.finish());
}

/** What is hashed: numbers and texts one after the other, low byte first. */
class LittleEndian {
  private readonly bytes: number[] = [];

  i8(value: number): void {
    this.bytes.push(value & 0xff);
  }

  i16(value: number): void {
    this.bytes.push(value & 0xff, (value >> 8) & 0xff);
  }

  i32(value: number): void {
    this.i16(value);
    this.i16(value >> 16);
  }

  i64(value: bigint): void {
    this.i32(Number(BigInt.asIntN(32, value)));
    this.i32(Number(BigInt.asIntN(32, value >> 32n)));
  }

  /** UTF-16 code units, then how many. */
  text(value: string): void {
    for (let at = 0; at < value.length; at++) this.i16(value.charCodeAt(at));
    this.i32(value.length);
  }

  /** Both halves as int64, the high one first. */
  uuid(value: string): void {
    const bytes = bytesOfUuid(value);
    this.bytes.push(...bytes.slice(0, 8).reverse(), ...bytes.slice(8).reverse());
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.bytes);
  }
}

/** The sixteen bytes of a uuid in its text form of 22 characters. */
function bytesOfUuid(text: string): number[] {
  let bits = 0n;
  for (const character of text) bits = (bits << 6n) | BigInt(BASE64_URL.indexOf(character));
  // 22 characters hold 132 bits; the last four mean nothing.
  bits >>= 4n;
  const bytes: number[] = [];
  for (let at = UUID_BYTES - 1; at >= 0; at--) {
    bytes.push(Number((bits >> BigInt(8 * at)) & 0xffn));
  }
  return bytes;
}
