import { Codecs } from '../codecs.ts';
import { Reader } from '../reader.ts';
import type { AnyMessage, InputOf, Message } from '../schema.ts';
import { Writer } from '../writer.ts';
import {
  consumerGroupCurrentMemberAssignmentValue,
  consumerGroupMemberMetadataValue,
  consumerGroupMetadataValue,
  consumerGroupPartitionMetadataValue,
  consumerGroupRegularExpressionValue,
  consumerGroupTargetAssignmentMemberValue,
  consumerGroupTargetAssignmentMetadataValue,
} from './consumer-values.ts';
import {
  groupMetadataValue,
  legacyOffsetCommitValue,
  offsetCommitValue,
} from './offset-and-classic-values.ts';
import {
  classicGroupKey,
  groupKey,
  memberKey,
  offsetKey,
  regularExpressionKey,
} from './record-keys.ts';
import {
  shareGroupCurrentMemberAssignmentValue,
  shareGroupMemberMetadataValue,
  shareGroupMetadataValue,
  shareGroupStatePartitionMetadataValue,
  shareGroupTargetAssignmentMemberValue,
  shareGroupTargetAssignmentMetadataValue,
} from './share-values.ts';
import {
  streamsGroupCurrentMemberAssignmentValue,
  streamsGroupMemberMetadataValue,
  streamsGroupMetadataValue,
  streamsGroupTargetAssignmentMemberValue,
  streamsGroupTargetAssignmentMetadataValue,
  streamsGroupTopologyValue,
} from './streams-values.ts';

const tables = {
  LegacyOffsetCommit: { type: 0, key: offsetKey, value: legacyOffsetCommitValue },
  OffsetCommit: { type: 1, key: offsetKey, value: offsetCommitValue },
  GroupMetadata: { type: 2, key: classicGroupKey, value: groupMetadataValue },
  ConsumerGroupMetadata: { type: 3, key: groupKey, value: consumerGroupMetadataValue },
  ConsumerGroupPartitionMetadata: {
    type: 4,
    key: groupKey,
    value: consumerGroupPartitionMetadataValue,
  },
  ConsumerGroupMemberMetadata: { type: 5, key: memberKey, value: consumerGroupMemberMetadataValue },
  ConsumerGroupTargetAssignmentMetadata: {
    type: 6,
    key: groupKey,
    value: consumerGroupTargetAssignmentMetadataValue,
  },
  ConsumerGroupTargetAssignmentMember: {
    type: 7,
    key: memberKey,
    value: consumerGroupTargetAssignmentMemberValue,
  },
  ConsumerGroupCurrentMemberAssignment: {
    type: 8,
    key: memberKey,
    value: consumerGroupCurrentMemberAssignmentValue,
  },
  ShareGroupMemberMetadata: { type: 10, key: memberKey, value: shareGroupMemberMetadataValue },
  ShareGroupMetadata: { type: 11, key: groupKey, value: shareGroupMetadataValue },
  ShareGroupTargetAssignmentMetadata: {
    type: 12,
    key: groupKey,
    value: shareGroupTargetAssignmentMetadataValue,
  },
  ShareGroupTargetAssignmentMember: {
    type: 13,
    key: memberKey,
    value: shareGroupTargetAssignmentMemberValue,
  },
  ShareGroupCurrentMemberAssignment: {
    type: 14,
    key: memberKey,
    value: shareGroupCurrentMemberAssignmentValue,
  },
  ShareGroupStatePartitionMetadata: {
    type: 15,
    key: groupKey,
    value: shareGroupStatePartitionMetadataValue,
  },
  ConsumerGroupRegularExpression: {
    type: 16,
    key: regularExpressionKey,
    value: consumerGroupRegularExpressionValue,
  },
  StreamsGroupMetadata: { type: 17, key: groupKey, value: streamsGroupMetadataValue },
  StreamsGroupMemberMetadata: { type: 19, key: memberKey, value: streamsGroupMemberMetadataValue },
  StreamsGroupTargetAssignmentMetadata: {
    type: 20,
    key: groupKey,
    value: streamsGroupTargetAssignmentMetadataValue,
  },
  StreamsGroupTargetAssignmentMember: {
    type: 21,
    key: memberKey,
    value: streamsGroupTargetAssignmentMemberValue,
  },
  StreamsGroupCurrentMemberAssignment: {
    type: 22,
    key: memberKey,
    value: streamsGroupCurrentMemberAssignmentValue,
  },
  StreamsGroupTopology: { type: 23, key: groupKey, value: streamsGroupTopologyValue },
} as const;

type Tables = typeof tables;
/** A kind of record in `__consumer_offsets`, by Kafka's name for it. */
export type RecordName = keyof Tables;
type Decoded<M> = M extends Message<infer T> ? T : never;
export type KeyOf<N extends RecordName> = Decoded<Tables[N]['key']>;
export type ValueOfRecord<N extends RecordName> = Decoded<Tables[N]['value']>;

export type RecordType = {
  readonly name: RecordName;
  /** Stands as int16 before the key (LG-3). */
  readonly type: number;
  readonly key: AnyMessage;
  readonly value: AnyMessage;
};

/**
 * All record types of the log. Types 9 and 18 and those from 24 on are nobody's.
 *
 * Source: records-and-configs 1.1.
 */
export const recordTypes = Object.fromEntries(
  Object.entries(tables).map(([name, table]) => [name, { name, ...table }]),
) as { readonly [N in RecordName]: RecordType };

const byType = new Map<number, RecordType>(
  Object.values(recordTypes).map((recordType) => [recordType.type, recordType]),
);

/** The record type of that number; undefined = unknown, to be skipped on load (LG-6). */
export function recordTypeOf(type: number): RecordType | undefined {
  return byType.get(type);
}

const keys = codecsOf('key');
const values = codecsOf('value');
const KEY_VERSION = 0;

function codecsOf(side: 'key' | 'value'): { readonly [N in RecordName]: Codecs } {
  const entries = Object.values(recordTypes).map((recordType) => {
    return [recordType.name, new Codecs(`The ${side} of ${recordType.name}`, recordType[side])];
  });
  return Object.fromEntries(entries);
}

const NO_BYTES = new Uint8Array();

/**
 * The bytes of a key, its record type first.
 *
 * @param prefix what whoever keeps the key wants before it.
 */
export function encodeRecordKey<N extends RecordName>(
  name: N,
  key: InputOf<KeyOf<N>>,
  prefix: Uint8Array = NO_BYTES,
): Buffer {
  scratch.reset();
  scratch.raw(prefix);
  scratch.i16(recordTypes[name].type);
  keys[name].encoder(KEY_VERSION)(scratch, key as object);
  return copyOfScratch();
}

/** The bytes of a value, its version first (LG-4). */
export function encodeRecordValue<N extends RecordName>(
  name: N,
  version: number,
  value: InputOf<ValueOfRecord<N>>,
): Buffer {
  const encode = values[name].encoder(version);
  scratch.reset();
  scratch.i16(version);
  encode(scratch, value as object);
  return copyOfScratch();
}

/** What has grown beyond this for one value is not kept for the next. */
const SCRATCH_BYTES_MAX = 64 * 1024;

/** All are written here first: most are small, and a writer of one's own costs more than they do. */
let scratch = new Writer();

function copyOfScratch(): Buffer {
  const bytes = scratch.copy();
  if (bytes.length > SCRATCH_BYTES_MAX) scratch = new Writer();
  return bytes;
}

/** The record type that a key begins with, whether or not it is known. */
export function peekRecordType(key: Buffer): number {
  return new Reader(key).i16();
}

/**
 * Reads a key whose record type is known to be `name`; bytes after it are the caller's to ignore.
 *
 * @throws WireError when it is of another type or does not parse.
 */
export function decodeRecordKey<N extends RecordName>(name: N, reader: Reader): KeyOf<N> {
  const type = reader.i16();
  if (type !== recordTypes[name].type) {
    throw reader.error(`A key of record type ${type}, ${recordTypes[name].type} wanted`);
  }
  return keys[name].decoder(KEY_VERSION)(reader) as KeyOf<N>;
}

export type DecodedValue<N extends RecordName> = {
  readonly version: number;
  readonly value: ValueOfRecord<N>;
};

/**
 * Reads a value; its bytes say which version. Bytes after it are the caller's to ignore.
 *
 * @throws WireError for a version that is not known and for bytes that do not parse (LG-6).
 */
export function decodeRecordValue<N extends RecordName>(name: N, reader: Reader): DecodedValue<N> {
  const version = reader.i16();
  const value = values[name].decoder(version)(reader) as ValueOfRecord<N>;
  return { version, value };
}
