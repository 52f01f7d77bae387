import fc from 'fast-check';
import type { RecordBatch } from '../../actors/ports.ts';
import type { GroupRecord, TargetMetadataRecord } from '../../machines/records.ts';

/** A small record of a group, told apart by its epoch. */
export function epochRecord(groupId: string, assignmentEpoch: number): TargetMetadataRecord {
  return {
    type: 'targetMetadata',
    groupId,
    value: { assignmentEpoch, assignmentTimestampMs: 0 },
  };
}

/** A batch of one shard. */
export function batchOf(shard: number, ...records: readonly GroupRecord[]): RecordBatch {
  return { shard, timestampMs: 1_000, records };
}

/** What a log keeps apart: records of one key replace each other. */
export function recordKey(record: GroupRecord): string {
  const parts: (string | number)[] = [record.type, record.groupId];
  if ('memberId' in record) parts.push(record.memberId);
  if (record.type === 'offsetCommit') parts.push(record.topic, record.partition);
  return JSON.stringify(parts);
}

/** The slow, obvious compaction: the last record of each key, in the order of the keys, without tombstones. */
export function compacted(records: readonly GroupRecord[]): readonly GroupRecord[] {
  const last = new Map<string, GroupRecord>();
  for (const record of records) last.set(recordKey(record), record);
  return [...last.keys()]
    .sort()
    .flatMap((key) => last.get(key) ?? [])
    .filter((record) => record.value !== null);
}

const text = fc.constantFrom('a', 'b', 'ab', 'ü', '');
const id = fc.constantFrom('g', 'gg', 'group-2', 'h');
const member = fc.constantFrom('m1', 'm2', 'm');
const epoch = fc.nat({ max: 5 });
const keyValue = fc.record({ key: fc.constantFrom('k', 'l'), value: text });
const tasks = fc.constantFrom(
  [],
  [{ subtopologyId: '0', partitions: [0, 1] }],
  [
    { subtopologyId: '0', partitions: [2] },
    { subtopologyId: '1', partitions: [0] },
  ],
);
const activeTasks = fc.constantFrom(
  [],
  [{ subtopologyId: '0', partitions: [0, 1], assignmentEpochs: [2, 3] }],
);
const held = fc.record({ active: activeTasks, standby: tasks, warmup: tasks });
const topicInfo = fc.record({
  name: text,
  partitions: epoch,
  replicationFactor: epoch,
  topicConfigs: fc.array(keyValue, { maxLength: 1 }),
});

function orTombstone<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(value, { nil: null, freq: 3 });
}

/** Records of all types over few keys, tombstones among them. */
export const anyRecord: fc.Arbitrary<GroupRecord> = fc.oneof(
  fc.record({
    type: fc.constant('groupMetadata' as const),
    groupId: id,
    value: orTombstone(
      fc.record({
        groupEpoch: epoch,
        metadataHash: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        validatedTopologyEpoch: fc.constantFrom(-1, 0, 3),
        lastAssignmentConfigs: fc.array(keyValue, { maxLength: 1 }),
        storedDescriptionTopologyEpoch: fc.constantFrom(-1, 2),
        failedDescriptionTopologyEpoch: fc.constantFrom(-1, 2),
      }),
    ),
  }),
  fc.record({
    type: fc.constant('memberMetadata' as const),
    groupId: id,
    memberId: member,
    value: orTombstone(
      fc.record({
        instanceId: fc.constantFrom(null, 'i'),
        rackId: fc.constantFrom(null, 'r'),
        clientId: text,
        clientHost: text,
        rebalanceTimeoutMs: epoch,
        topologyEpoch: epoch,
        processId: text,
        userEndpoint: fc.constantFrom(null, { host: 'h', port: 65_535 }),
        clientTags: fc.array(keyValue, { maxLength: 1 }),
      }),
    ),
  }),
  fc.record({
    type: fc.constant('targetMetadata' as const),
    groupId: id,
    value: orTombstone(fc.record({ assignmentEpoch: epoch, assignmentTimestampMs: epoch })),
  }),
  fc.record({
    type: fc.constant('targetMember' as const),
    groupId: id,
    memberId: member,
    value: orTombstone(fc.record({ active: tasks, standby: tasks, warmup: tasks })),
  }),
  fc.record({
    type: fc.constant('currentAssignment' as const),
    groupId: id,
    memberId: member,
    value: orTombstone(
      fc.record({
        memberEpoch: epoch,
        previousMemberEpoch: epoch,
        state: fc.constantFrom('stable', 'unrevokedTasks', 'unreleasedTasks'),
        assigned: held,
        pendingRevocation: held,
      }),
    ),
  }),
  fc.record({
    type: fc.constant('topology' as const),
    groupId: id,
    value: orTombstone(
      fc.record({
        epoch,
        subtopologies: fc.array(
          fc.record({
            subtopologyId: text,
            sourceTopics: fc.array(text, { maxLength: 2 }),
            sourceTopicRegex: fc.array(text, { maxLength: 1 }),
            stateChangelogTopics: fc.array(topicInfo, { maxLength: 1 }),
            repartitionSinkTopics: fc.array(text, { maxLength: 1 }),
            repartitionSourceTopics: fc.array(topicInfo, { maxLength: 1 }),
            copartitionGroups: fc.constantFrom(
              [],
              [{ sourceTopics: [0, 1], sourceTopicRegex: [], repartitionSourceTopics: [0] }],
            ),
          }),
          { maxLength: 2 },
        ),
      }),
    ),
  }),
  fc.record({
    type: fc.constant('offsetCommit' as const),
    groupId: id,
    topic: fc.constantFrom('in', 'out'),
    partition: fc.nat({ max: 2 }),
    value: orTombstone(
      fc.record({
        offset: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        leaderEpoch: fc.constantFrom(-1, 7),
        metadata: text,
        commitTimestampMs: epoch,
        expireTimestampMs: fc.constant(-1),
        topicId: fc.constant('AAAAAAAAAAAAAAAAAAAAAA'),
      }),
    ),
  }),
);
