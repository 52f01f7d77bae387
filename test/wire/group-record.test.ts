import { expect } from 'chai';
import fc from 'fast-check';
import type { CurrentAssignment } from '../../machines/model/member.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { STRING_BYTES_MAX, ZERO_UUID } from '../../src/wire/reader.ts';
import { decodeRecord, encodeRecord } from '../../src/wire/records/group-record.ts';
import {
  encodeRecordKey,
  encodeRecordValue,
  recordTypeOf,
} from '../../src/wire/records/record-types.ts';
import { WireError } from '../../src/wire/wire-error.ts';
import { golden, hex } from './golden-records.ts';

const taskIds = fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 3 }).map((partitions) => {
  return partitions.sort((one, other) => one - other);
});
const plainTasks = fc
  .uniqueArray(fc.constantFrom('0', '1', '10', '2'), { maxLength: 3 })
  .chain((ids) =>
    fc.tuple(
      ...ids
        .sort()
        .map((subtopologyId) => taskIds.map((partitions) => ({ subtopologyId, partitions }))),
    ),
  );
const activeTasks = plainTasks.map((tasks) =>
  tasks.map((item) => ({
    ...item,
    assignmentEpochs: item.partitions.map((partition) => partition + 1),
  })),
);
const held = fc.record(
  { active: activeTasks, standby: plainTasks, warmup: plainTasks },
  { noNullPrototype: true },
);
const current: fc.Arbitrary<CurrentAssignment> = fc.record(
  {
    memberEpoch: fc.integer({ min: -2, max: 9 }),
    previousMemberEpoch: fc.nat(9),
    state: fc.constantFrom(
      'stable' as const,
      'unrevokedTasks' as const,
      'unreleasedTasks' as const,
    ),
    assigned: held,
    pendingRevocation: held,
  },
  { noNullPrototype: true },
);

describe('group records', () => {
  for (const [title, key, value, record] of golden) {
    it(`${title}: Kafka's bytes, both ways (records-and-configs 17)`, () => {
      expect(encodeRecord(record)).to.deep.equal({ key: hex(key), value: hex(value) });
      expect(decodeRecord(hex(key), hex(value))).to.deep.equal(record);
    });

    it(`${title}: a tombstone has the same key and no value (LG-5)`, () => {
      const tombstone = { ...record, value: null } as GroupRecord;
      expect(encodeRecord(tombstone)).to.deep.equal({ key: hex(key), value: null });
      expect(decodeRecord(hex(key), null)).to.deep.equal(tombstone);
    });
  }

  it('encodeRecord() puts what it is given before the key', () => {
    for (const [, key, value, record] of golden) {
      const encoded = encodeRecord(record, hex('10002a'));
      expect(encoded).to.deep.equal({ key: hex(`10002a${key}`), value: hex(value) });
    }
  });

  it('encodeRecord() leaves what it wrote before as it was, whatever it writes next', () => {
    const small: GroupRecord = { type: 'groupMetadata', groupId: 'g', value: null };
    const smallKey = hex('0011 0001 67');
    const first = encodeRecord(small);
    const topic = 't'.repeat(STRING_BYTES_MAX);
    const tooLong = {
      type: 'offsetCommit',
      groupId: 'g',
      topic: `${topic}t`,
      partition: 0,
    } as const;
    expect(() => encodeRecord({ ...tooLong, value: null })).to.throw(WireError);
    const configs = Array.from({ length: 3 }, () => ({ key: 'k', value: topic }));
    const large: GroupRecord = {
      type: 'groupMetadata',
      groupId: 'g',
      value: {
        groupEpoch: 1,
        metadataHash: 2n,
        validatedTopologyEpoch: 3,
        lastAssignmentConfigs: configs,
        storedDescriptionTopologyEpoch: 4,
        failedDescriptionTopologyEpoch: 5,
      },
    };
    const encoded = encodeRecord(large);
    expect(encodeRecord(small)).to.deep.equal({ key: smallKey, value: null });
    expect(decodeRecord(encoded.key, encoded.value)).to.deep.equal(large);
    expect(first).to.deep.equal({ key: smallKey, value: null });
  });

  it('encodeRecord() writes version 1 for an offset that expires, which loses the topic id', () => {
    const value = {
      offset: 7n,
      leaderEpoch: 3,
      metadata: 'm',
      commitTimestampMs: 1000,
      expireTimestampMs: 2000,
      topicId: 'AAAAAAAAAAEAAAAAAAAAAg',
    };
    const record = { type: 'offsetCommit', groupId: 'g', topic: 't', partition: 0, value } as const;
    const encoded = encodeRecord(record);
    expect(encoded.value?.toString('hex')).to.equal(
      `0001${'0000000000000007'}${'00016d'}${'00000000000003e8'}${'00000000000007d0'}`,
    );
    expect(decodeRecord(encoded.key, encoded.value)).to.deep.equal({
      ...record,
      value: { ...value, leaderEpoch: -1, topicId: ZERO_UUID },
    });
  });

  it('decodeRecord() gives back any current assignment that encodeRecord() wrote', () => {
    fc.assert(
      fc.property(current, (value) => {
        const record: GroupRecord = {
          type: 'currentAssignment',
          groupId: 'g',
          memberId: 'm',
          value,
        };
        const encoded = encodeRecord(record);
        expect(decodeRecord(encoded.key, encoded.value)).to.deep.equal(record);
      }),
    );
  });

  const currentKey = encodeRecordKey('StreamsGroupCurrentMemberAssignment', {
    groupId: 'g',
    memberId: 'm',
  });
  const decodeCurrent = (value: Parameters<typeof encodeCurrent>[0]) => {
    const record = decodeRecord(currentKey, encodeCurrent(value));
    return record.type === 'currentAssignment' ? record.value : record;
  };
  const encodeCurrent = (
    value: Parameters<typeof encodeRecordValue<'StreamsGroupCurrentMemberAssignment'>>[2],
  ) => encodeRecordValue('StreamsGroupCurrentMemberAssignment', 0, value);

  it('decodeRecord() gives the member epoch where assignment epochs are missing (SC-11, LOG-6)', () => {
    for (const assignmentEpochs of [null, [], [5], [5, 6, 7], undefined]) {
      const activeTasks = [{ subtopologyId: '0', partitions: [1, 2], assignmentEpochs }];
      const decoded = decodeCurrent({ memberEpoch: 9, state: 1, activeTasks });
      expect(decoded, String(assignmentEpochs)).to.have.deep.nested.property('assigned.active', [
        { subtopologyId: '0', partitions: [1, 2], assignmentEpochs: [9, 9] },
      ]);
    }
  });

  it('decodeRecord() puts tasks in our order, epochs with them, and drops empty entries (SC-9)', () => {
    const decoded = decodeCurrent({
      memberEpoch: 9,
      state: 3,
      activeTasks: [
        { subtopologyId: '2', partitions: [1], assignmentEpochs: [4] },
        { subtopologyId: '1', partitions: [7, 3, 5], assignmentEpochs: [70, 30, 50] },
        { subtopologyId: '3', partitions: [] },
      ],
    });
    expect(decoded).to.have.property('state', 'unreleasedTasks');
    expect(decoded).to.have.deep.nested.property('assigned.active', [
      { subtopologyId: '1', partitions: [3, 5, 7], assignmentEpochs: [30, 50, 70] },
      { subtopologyId: '2', partitions: [1], assignmentEpochs: [4] },
    ]);
  });

  it('decodeRecord() reads any other state byte as unknown, which is never written (SC-10)', () => {
    for (const state of [0, 4, 127, -1]) {
      expect(decodeCurrent({ state }), String(state)).to.have.property('state', 'unknown');
    }
    const value = decodeCurrent({ state: 127 }) as CurrentAssignment;
    const record: GroupRecord = { type: 'currentAssignment', groupId: 'g', memberId: 'm', value };
    expect(() => encodeRecord(record)).to.throw(WireError, 'never written');
  });

  it('decodeRecord() tolerates tags that it does not know (LG-7)', () => {
    const record = decodeRecord(
      hex('0011000167'),
      hex('0000000000050000000000000000 01 09 02 0707'),
    );
    expect(record).to.have.nested.property('value.groupEpoch', 5);
    expect(record).to.have.nested.property('value.validatedTopologyEpoch', -1);
  });

  it('decodeRecord() names types that nobody knows, whatever follows (LG-6)', () => {
    for (const recordType of [9, 18, 24, 999, -1]) {
      const key = Buffer.alloc(2);
      key.writeInt16BE(recordType);
      expect(decodeRecord(key, hex('ffff'))).to.deep.equal({ type: 'unknown', recordType });
    }
  });

  it('decodeRecord() refuses versions and bytes that do not parse (LG-6)', () => {
    const bad: readonly [key: string, value: string][] = [
      ['0011000167', '0001000000020000000000000000'],
      ['0011000167', 'ffff000000020000000000000000'],
      ['0011000167', '00000000'],
      ['0011000167', ''],
      ['00110001', '000000000002000000000000000000'],
      ['00', ''],
      ['0001000167000174', '0005'],
    ];
    for (const [key, value] of bad) {
      expect(() => decodeRecord(hex(key), hex(value)), `${key} ${value}`).to.throw(WireError);
    }
  });

  it('decodeRecord() recognises records of other kinds of groups (2.8)', () => {
    const groupTypes = [2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16].map((type) => {
      const key = Buffer.concat([Buffer.from([0, type]), hex('0001670001 6d')]);
      const record = decodeRecord(key, null);
      return record.type === 'foreign'
        ? `${record.name} ${record.groupType} ${record.groupId}`
        : '';
    });
    expect(groupTypes).to.deep.equal([
      'GroupMetadata classic g',
      'ConsumerGroupMetadata consumer g',
      'ConsumerGroupPartitionMetadata consumer g',
      'ConsumerGroupMemberMetadata consumer g',
      'ConsumerGroupTargetAssignmentMetadata consumer g',
      'ConsumerGroupTargetAssignmentMember consumer g',
      'ConsumerGroupCurrentMemberAssignment consumer g',
      'ShareGroupMemberMetadata share g',
      'ShareGroupMetadata share g',
      'ShareGroupTargetAssignmentMetadata share g',
      'ShareGroupTargetAssignmentMember share g',
      'ShareGroupCurrentMemberAssignment share g',
      'ShareGroupStatePartitionMetadata share g',
      'ConsumerGroupRegularExpression consumer g',
    ]);
    expect(recordTypeOf(2)?.name).to.equal('GroupMetadata');
  });

  it('decodeRecord() reads an offset of the old type 0 as any other', () => {
    const key = hex('0000 0001 67 0001 74 00000003');
    const value = hex('0000 0000000000000007 0001 6d 00000000000003e8');
    expect(decodeRecord(key, value)).to.deep.equal({
      type: 'offsetCommit',
      groupId: 'g',
      topic: 't',
      partition: 3,
      value: {
        offset: 7n,
        leaderEpoch: -1,
        metadata: 'm',
        commitTimestampMs: 1000,
        expireTimestampMs: -1,
        topicId: ZERO_UUID,
      },
    });
  });

  it('an absent classic member of type 5 is an empty one, null is written out (LG-8)', () => {
    const key = encodeRecordKey('ConsumerGroupMemberMetadata', { groupId: 'g', memberId: 'm' });
    const classicOf = (bytes: Buffer) => {
      const record = decodeRecord(key, bytes);
      return record.type === 'foreign' ? record.value : record;
    };
    const none = encodeRecordValue('ConsumerGroupMemberMetadata', 0, {
      classicMemberMetadata: null,
    });
    expect(none.toString('hex')).to.match(/01000100$/);
    expect(classicOf(none)).to.have.property('classicMemberMetadata', null);
    const absent = encodeRecordValue('ConsumerGroupMemberMetadata', 0, {});
    expect(classicOf(absent)).to.have.deep.property('classicMemberMetadata', {
      sessionTimeoutMs: 0,
      supportedProtocols: [],
    });
  });
});
