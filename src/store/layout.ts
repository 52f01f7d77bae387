/** Raised when an older build could no longer read what this one writes. */
export const FORMAT_VERSION = 1;

/**
 * The first byte of a key says what it belongs to. The numbers are on disk: never reuse one.
 *
 * Source: records-and-configs 7.2, store layout.
 */
export const prefixes = {
  /** Alone, the first key of all: {"format":1,"shards":50}. */
  header: 0x00,
  /** Shard (uint16 big-endian), then Kafka's record key; Kafka's record value. */
  records: 0x10,
  /** Topic name; JSON, the topic's settings included. */
  topics: 0x20,
  /** Resource type (one byte), resource name; JSON list of [name, value]. */
  overrides: 0x30,
  /** Node id (int32 big-endian); JSON. */
  addresses: 0x40,
  /** Alone: JSON, cluster id, node id, mode, a gateway's cluster. */
  identity: 0x50,
  /** Length of the group id (uint16), group id, sequence (uint64 big-endian); JSON. */
  journal: 0x60,
  /** Sequence (uint64 big-endian): the same entries in the order they came, for pruning. */
  journalOrder: 0x61,
  /** Alone: what the journal holds. */
  journalTotals: 0x62,
} as const;

/** One of {@link prefixes}, then the parts one after the other. */
export function keyOf(prefix: number, ...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.of(prefix), ...parts]);
}

/** A uint16, big-endian: sorts as the number does. */
export function uint16Key(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** A uint64, big-endian: sorts as the number does. */
export function uint64Key(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** A value as JSON in UTF-8. */
export function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}
