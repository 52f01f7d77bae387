import { byCodeUnits } from '../../../machines/model/ids.ts';
import type { MemberState } from '../../../machines/model/member.ts';
import { unreachable } from '../../../machines/model/refusal.ts';
import type { ActiveTaskIds, TaskIds } from '../../../machines/model/tasks.ts';
import type { KeyValue } from '../../../machines/model/topology.ts';
import type {
  CurrentAssignmentRecord,
  GroupMetadataRecord,
  GroupRecord,
  OffsetCommitRecord,
} from '../../../machines/records.ts';
import { Reader } from '../reader.ts';
import { WireError } from '../wire-error.ts';
import type { RecordName, RecordType, ValueOfRecord } from './record-types.ts';
import {
  decodeRecordKey,
  decodeRecordValue,
  encodeRecordKey,
  encodeRecordValue,
  peekRecordType,
  recordTypeOf,
} from './record-types.ts';

/** A record as bytes; a null value is a tombstone. */
export type EncodedRecord = { readonly key: Buffer; readonly value: Buffer | null };

/** A record of a group that is not a streams group; it says that the id is taken. */
export type ForeignRecord = {
  readonly type: 'foreign';
  readonly groupType: 'classic' | 'consumer' | 'share';
  readonly groupId: string;
  readonly name: RecordName;
  /** As the record's table decodes it; null for a tombstone. */
  readonly value: unknown;
};

/** A record of a type that nobody here knows: to be skipped with a warning (LG-6). */
export type UnknownRecord = { readonly type: 'unknown'; readonly recordType: number };

const VALUE_VERSION = 0;
const OFFSET_VERSION = 4;
/** The one version that has an expiry time; it has neither leader epoch nor topic id. */
const EXPIRING_OFFSET_VERSION = 1;
const NEVER_EXPIRES = -1;

/**
 * The bytes of a record, as Kafka writes them (LG-3 to LG-5, SC-4 to SC-13).
 *
 * Offsets go out in version 4; with an expiry time of their own in version 1, as Kafka does.
 *
 * @param keyPrefix what the store wants before the key.
 * @throws WireError for a member state `unknown`, which is never written (SC-10).
 */
export function encodeRecord(record: GroupRecord, keyPrefix?: Uint8Array): EncodedRecord {
  return {
    key: encodeKey(record, keyPrefix),
    value: record.value === null ? null : encodeValue(record),
  };
}

function encodeKey(record: GroupRecord, prefix: Uint8Array | undefined): Buffer {
  const { groupId } = record;
  switch (record.type) {
    case 'groupMetadata':
      return encodeRecordKey('StreamsGroupMetadata', { groupId }, prefix);
    case 'memberMetadata': {
      const { memberId } = record;
      return encodeRecordKey('StreamsGroupMemberMetadata', { groupId, memberId }, prefix);
    }
    case 'targetMetadata':
      return encodeRecordKey('StreamsGroupTargetAssignmentMetadata', { groupId }, prefix);
    case 'targetMember': {
      const { memberId } = record;
      return encodeRecordKey('StreamsGroupTargetAssignmentMember', { groupId, memberId }, prefix);
    }
    case 'currentAssignment': {
      const { memberId } = record;
      return encodeRecordKey('StreamsGroupCurrentMemberAssignment', { groupId, memberId }, prefix);
    }
    case 'topology':
      return encodeRecordKey('StreamsGroupTopology', { groupId }, prefix);
    case 'offsetCommit': {
      const { topic, partition } = record;
      return encodeRecordKey('OffsetCommit', { group: groupId, topic, partition }, prefix);
    }
    default:
      return unreachable(record);
  }
}

function encodeValue(record: GroupRecord): Buffer | null {
  switch (record.type) {
    case 'groupMetadata':
      return record.value && encodeGroupMetadata(record.value);
    case 'memberMetadata':
      return (
        record.value && encodeRecordValue('StreamsGroupMemberMetadata', VALUE_VERSION, record.value)
      );
    case 'targetMetadata':
      return (
        record.value &&
        encodeRecordValue('StreamsGroupTargetAssignmentMetadata', VALUE_VERSION, {
          assignmentEpoch: record.value.assignmentEpoch,
          assignmentTimestamp: BigInt(record.value.assignmentTimestampMs),
        })
      );
    case 'targetMember':
      return (
        record.value &&
        encodeRecordValue('StreamsGroupTargetAssignmentMember', VALUE_VERSION, {
          activeTasks: record.value.active,
          standbyTasks: record.value.standby,
          warmupTasks: record.value.warmup,
        })
      );
    case 'currentAssignment':
      return record.value && encodeCurrentAssignment(record.value);
    case 'topology':
      return record.value && encodeRecordValue('StreamsGroupTopology', VALUE_VERSION, record.value);
    case 'offsetCommit':
      return record.value && encodeOffset(record.value);
    default:
      return unreachable(record);
  }
}

function encodeGroupMetadata(value: NonNullable<GroupMetadataRecord['value']>): Buffer {
  const { groupEpoch, ...rest } = value;
  return encodeRecordValue('StreamsGroupMetadata', VALUE_VERSION, { epoch: groupEpoch, ...rest });
}

function encodeCurrentAssignment(value: NonNullable<CurrentAssignmentRecord['value']>): Buffer {
  const { memberEpoch, previousMemberEpoch, assigned, pendingRevocation } = value;
  return encodeRecordValue('StreamsGroupCurrentMemberAssignment', VALUE_VERSION, {
    memberEpoch,
    previousMemberEpoch,
    state: stateByte(value.state),
    activeTasks: assigned.active,
    standbyTasks: assigned.standby,
    warmupTasks: assigned.warmup,
    activeTasksPendingRevocation: pendingRevocation.active,
    standbyTasksPendingRevocation: pendingRevocation.standby,
    warmupTasksPendingRevocation: pendingRevocation.warmup,
  });
}

function encodeOffset(value: NonNullable<OffsetCommitRecord['value']>): Buffer {
  const { offset, leaderEpoch, metadata, commitTimestampMs, expireTimestampMs, topicId } = value;
  const version = expireTimestampMs === NEVER_EXPIRES ? OFFSET_VERSION : EXPIRING_OFFSET_VERSION;
  return encodeRecordValue('OffsetCommit', version, {
    offset,
    leaderEpoch,
    metadata,
    commitTimestamp: BigInt(commitTimestampMs),
    expireTimestamp: BigInt(expireTimestampMs),
    topicId,
  });
}

/**
 * Makes a record of its bytes.
 *
 * Task lists and tags come out in our order (SC-9) even where a log holds them in another. An offset of the old
 * record type 0 comes out as any other.
 *
 * @throws WireError for a known type in an unknown version and for bytes that do not parse: the load is to
 *   fail then (LG-6).
 */
export function decodeRecord(
  key: Buffer,
  value: Buffer | null,
): GroupRecord | ForeignRecord | UnknownRecord {
  const recordType = recordTypeOf(peekRecordType(key));
  if (recordType === undefined) return { type: 'unknown', recordType: peekRecordType(key) };
  switch (recordType.name) {
    case 'LegacyOffsetCommit':
    case 'OffsetCommit':
      return decodeOffsetCommit(recordType.name, key, value);
    case 'StreamsGroupMetadata': {
      const { groupId } = decodeRecordKey(recordType.name, new Reader(key));
      return { type: 'groupMetadata', groupId, value: value && decodeGroupMetadata(value) };
    }
    case 'StreamsGroupMemberMetadata': {
      const ids = decodeRecordKey(recordType.name, new Reader(key));
      return { type: 'memberMetadata', ...ids, value: value && decodeMember(value) };
    }
    case 'StreamsGroupTargetAssignmentMetadata': {
      const { groupId } = decodeRecordKey(recordType.name, new Reader(key));
      return { type: 'targetMetadata', groupId, value: value && decodeTargetMetadata(value) };
    }
    case 'StreamsGroupTargetAssignmentMember': {
      const ids = decodeRecordKey(recordType.name, new Reader(key));
      return { type: 'targetMember', ...ids, value: value && decodeTargetMember(value) };
    }
    case 'StreamsGroupCurrentMemberAssignment': {
      const ids = decodeRecordKey(recordType.name, new Reader(key));
      return { type: 'currentAssignment', ...ids, value: value && decodeCurrent(value) };
    }
    case 'StreamsGroupTopology': {
      const { groupId } = decodeRecordKey(recordType.name, new Reader(key));
      return {
        type: 'topology',
        groupId,
        value: value && decodeRecordValue('StreamsGroupTopology', new Reader(value)).value,
      };
    }
    default:
      return decodeForeign(recordType, key, value);
  }
}

function decodeForeign(recordType: RecordType, key: Buffer, value: Buffer | null): ForeignRecord {
  const { name } = recordType;
  const ids: { readonly groupId?: string; readonly group?: string } = decodeRecordKey(
    name,
    new Reader(key),
  );
  const groupType =
    name === 'GroupMetadata' ? 'classic' : name.startsWith('Share') ? 'share' : 'consumer';
  return {
    type: 'foreign',
    groupType,
    groupId: ids.groupId ?? ids.group ?? '',
    name,
    value: value && decodeRecordValue(name, new Reader(value)).value,
  };
}

function decodeOffsetCommit(
  name: 'LegacyOffsetCommit' | 'OffsetCommit',
  key: Buffer,
  bytes: Buffer | null,
): OffsetCommitRecord {
  const { group, topic, partition } = decodeRecordKey(name, new Reader(key));
  return {
    type: 'offsetCommit',
    groupId: group,
    topic,
    partition,
    value: bytes && decodeOffset(bytes),
  };
}

/** The value of type 0 is version 0 of the value of type 1. */
function decodeOffset(bytes: Buffer): OffsetCommitRecord['value'] {
  const { value } = decodeRecordValue('OffsetCommit', new Reader(bytes));
  return {
    offset: value.offset,
    leaderEpoch: value.leaderEpoch,
    metadata: value.metadata,
    commitTimestampMs: wholeMs(value.commitTimestamp, 'commitTimestamp'),
    expireTimestampMs: wholeMs(value.expireTimestamp, 'expireTimestamp'),
    topicId: value.topicId,
  };
}

function decodeGroupMetadata(bytes: Buffer): GroupMetadataRecord['value'] {
  const { epoch, ...rest } = decodeRecordValue('StreamsGroupMetadata', new Reader(bytes)).value;
  return {
    groupEpoch: epoch,
    ...rest,
    lastAssignmentConfigs: byKey(rest.lastAssignmentConfigs ?? []),
  };
}

function decodeMember(bytes: Buffer) {
  const { value } = decodeRecordValue('StreamsGroupMemberMetadata', new Reader(bytes));
  return { ...value, clientTags: byKey(value.clientTags) };
}

function decodeTargetMetadata(bytes: Buffer) {
  const { value } = decodeRecordValue('StreamsGroupTargetAssignmentMetadata', new Reader(bytes));
  return {
    assignmentEpoch: value.assignmentEpoch,
    assignmentTimestampMs: wholeMs(value.assignmentTimestamp, 'assignmentTimestamp'),
  };
}

function decodeTargetMember(bytes: Buffer) {
  const { value } = decodeRecordValue('StreamsGroupTargetAssignmentMember', new Reader(bytes));
  return {
    active: inOrder(value.activeTasks.map(plainTasks)),
    standby: inOrder(value.standbyTasks.map(plainTasks)),
    warmup: inOrder(value.warmupTasks.map(plainTasks)),
  };
}

type CurrentValue = ValueOfRecord<'StreamsGroupCurrentMemberAssignment'>;
type StoredTasks = CurrentValue['activeTasks'][number];

function decodeCurrent(bytes: Buffer): CurrentAssignmentRecord['value'] {
  const { value } = decodeRecordValue('StreamsGroupCurrentMemberAssignment', new Reader(bytes));
  const active = (tasks: readonly StoredTasks[]) =>
    inOrder(tasks.map((item) => activeTasks(item, value.memberEpoch)));
  const plain = (tasks: readonly StoredTasks[]) => inOrder(tasks.map(plainTasks));
  return {
    memberEpoch: value.memberEpoch,
    previousMemberEpoch: value.previousMemberEpoch,
    state: stateOf(value.state),
    assigned: {
      active: active(value.activeTasks),
      standby: plain(value.standbyTasks),
      warmup: plain(value.warmupTasks),
    },
    pendingRevocation: {
      active: active(value.activeTasksPendingRevocation),
      standby: plain(value.standbyTasksPendingRevocation),
      warmup: plain(value.warmupTasksPendingRevocation),
    },
  };
}

function plainTasks({ subtopologyId, partitions }: TaskIds): TaskIds {
  return { subtopologyId, partitions: [...partitions].sort((one, other) => one - other) };
}

/** Without a list of epochs that fits, the member owns every task since its own epoch (SC-11). */
function activeTasks(stored: StoredTasks, memberEpoch: number): ActiveTaskIds {
  const { subtopologyId, partitions, assignmentEpochs } = stored;
  const epochs = assignmentEpochs?.length === partitions.length ? assignmentEpochs : undefined;
  const tasks = partitions.map((partition, index) => ({
    partition,
    epoch: epochs?.[index] ?? memberEpoch,
  }));
  tasks.sort((one, other) => one.partition - other.partition);
  return {
    subtopologyId,
    partitions: tasks.map(({ partition }) => partition),
    assignmentEpochs: tasks.map(({ epoch }) => epoch),
  };
}

/** As a task list has to be: subtopologies ascending, none without a task (SC-9). */
function inOrder<T extends TaskIds>(tasks: readonly T[]): readonly T[] {
  return tasks
    .filter(({ partitions }) => partitions.length > 0)
    .sort((one, other) => byCodeUnits(one.subtopologyId, other.subtopologyId));
}

function byKey(pairs: readonly KeyValue[]): readonly KeyValue[] {
  return [...pairs].sort((one, other) => byCodeUnits(one.key, other.key));
}

const STATE_BYTES = { stable: 1, unrevokedTasks: 2, unreleasedTasks: 3 } as const;

function stateByte(state: MemberState): number {
  if (state === 'unknown') throw new WireError('A member state "unknown" is never written', 0);
  return STATE_BYTES[state];
}

function stateOf(byte: number): MemberState {
  if (byte === STATE_BYTES.stable) return 'stable';
  if (byte === STATE_BYTES.unrevokedTasks) return 'unrevokedTasks';
  return byte === STATE_BYTES.unreleasedTasks ? 'unreleasedTasks' : 'unknown';
}

/** Milliseconds as a number; a time that a number cannot hold exactly is no time anybody meant. */
function wholeMs(value: bigint, field: string): number {
  const ms = Number(value);
  if (!Number.isSafeInteger(ms)) {
    throw new WireError(`A time of ${value} ms is out of range`, 0).inside(field);
  }
  return ms;
}
