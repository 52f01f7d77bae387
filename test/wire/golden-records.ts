import type { GroupRecord } from '../../machines/records.ts';

/** Bytes written as hex; blanks are for the eye. */
export const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** Kafka's bytes for a record, and the record (records-and-configs 17). */
export const golden: readonly [title: string, key: string, value: string, record: GroupRecord][] = [
  [
    'type 17, all default',
    '0011 0001 67',
    '000000000002000000000000000000',
    {
      type: 'groupMetadata',
      groupId: 'g',
      value: {
        groupEpoch: 2,
        metadataHash: 0n,
        validatedTopologyEpoch: -1,
        lastAssignmentConfigs: [],
        storedDescriptionTopologyEpoch: -1,
        failedDescriptionTopologyEpoch: -1,
      },
    },
  ],
  [
    'type 17 with tags 0, 1 and 2',
    '0011 0001 67',
    '000000000002000000000000000503000400000000011902156e756d2e7374616e6462792e7265706c69636173023100020400000000',
    {
      type: 'groupMetadata',
      groupId: 'g',
      value: {
        groupEpoch: 2,
        metadataHash: 5n,
        validatedTopologyEpoch: 0,
        lastAssignmentConfigs: [{ key: 'num.standby.replicas', value: '1' }],
        storedDescriptionTopologyEpoch: 0,
        failedDescriptionTopologyEpoch: -1,
      },
    },
  ],
  [
    'type 17 with tags 2 and 3 alone (LG-8)',
    '0011 0001 67',
    '0000000000030000000000000005020204fffffffe030400000000',
    {
      type: 'groupMetadata',
      groupId: 'g',
      value: {
        groupEpoch: 3,
        metadataHash: 5n,
        validatedTopologyEpoch: -1,
        lastAssignmentConfigs: [],
        storedDescriptionTopologyEpoch: -2,
        failedDescriptionTopologyEpoch: 0,
      },
    },
  ],
  [
    'type 19 without what may be null',
    '0013 0001 67 0001 6d',
    '0000000002630268000003e8000000000270ff0100',
    {
      type: 'memberMetadata',
      groupId: 'g',
      memberId: 'm',
      value: {
        instanceId: null,
        rackId: null,
        clientId: 'c',
        clientHost: 'h',
        rebalanceTimeoutMs: 1000,
        topologyEpoch: 0,
        processId: 'p',
        userEndpoint: null,
        clientTags: [],
      },
    },
  ],
  [
    'type 19 with everything',
    '0013 0001 67 0001 6d',
    '00000269027202630268000003e8000000000270010265ffff0002026b02760000',
    {
      type: 'memberMetadata',
      groupId: 'g',
      memberId: 'm',
      value: {
        instanceId: 'i',
        rackId: 'r',
        clientId: 'c',
        clientHost: 'h',
        rebalanceTimeoutMs: 1000,
        topologyEpoch: 0,
        processId: 'p',
        userEndpoint: { host: 'e', port: 65_535 },
        clientTags: [{ key: 'k', value: 'v' }],
      },
    },
  ],
  [
    'type 20',
    '0014 0001 67',
    '00000000000200',
    {
      type: 'targetMetadata',
      groupId: 'g',
      value: { assignmentEpoch: 2, assignmentTimestampMs: 0 },
    },
  ],
  [
    'type 20 with a timestamp',
    '0014 0001 67',
    '00000000000201000800000000000003e8',
    {
      type: 'targetMetadata',
      groupId: 'g',
      value: { assignmentEpoch: 2, assignmentTimestampMs: 1000 },
    },
  ],
  [
    'type 21',
    '0015 0001 67 0001 6d',
    '000002023003000000000000000100010100',
    {
      type: 'targetMember',
      groupId: 'g',
      memberId: 'm',
      value: { active: [{ subtopologyId: '0', partitions: [0, 1] }], standby: [], warmup: [] },
    },
  ],
  [
    'type 22, stable',
    '0016 0001 67 0001 6d',
    '00000000000200000001010202300300000000000000010100090300000002000000020202310200000003000101010100',
    {
      type: 'currentAssignment',
      groupId: 'g',
      memberId: 'm',
      value: {
        memberEpoch: 2,
        previousMemberEpoch: 1,
        state: 'stable',
        assigned: {
          active: [{ subtopologyId: '0', partitions: [0, 1], assignmentEpochs: [2, 2] }],
          standby: [{ subtopologyId: '1', partitions: [3] }],
          warmup: [],
        },
        pendingRevocation: { active: [], standby: [], warmup: [] },
      },
    },
  ],
  [
    'type 22, revoking',
    '0016 0001 67 0001 6d',
    '000000000002000000020202023002000000000100050200000002010102023002000000010100050200000002010100',
    {
      type: 'currentAssignment',
      groupId: 'g',
      memberId: 'm',
      value: {
        memberEpoch: 2,
        previousMemberEpoch: 2,
        state: 'unrevokedTasks',
        assigned: {
          active: [{ subtopologyId: '0', partitions: [0], assignmentEpochs: [2] }],
          standby: [],
          warmup: [],
        },
        pendingRevocation: {
          active: [{ subtopologyId: '0', partitions: [1], assignmentEpochs: [2] }],
          standby: [],
          warmup: [],
        },
      },
    },
  ],
  [
    'type 22, a static leave (SC-12)',
    '0016 0001 67 0001 6d',
    '0000fffffffe000000020102023002000000000100050200000000010101010100',
    {
      type: 'currentAssignment',
      groupId: 'g',
      memberId: 'm',
      value: {
        memberEpoch: -2,
        previousMemberEpoch: 2,
        state: 'stable',
        assigned: {
          active: [{ subtopologyId: '0', partitions: [0], assignmentEpochs: [0] }],
          standby: [],
          warmup: [],
        },
        pendingRevocation: { active: [], standby: [], warmup: [] },
      },
    },
  ],
  [
    'type 23',
    '0017 0001 67',
    '0000000000000202300202610102027800000000ffff02026b027600000101020200000101000000',
    {
      type: 'topology',
      groupId: 'g',
      value: {
        epoch: 0,
        subtopologies: [
          {
            subtopologyId: '0',
            sourceTopics: ['a'],
            sourceTopicRegex: [],
            stateChangelogTopics: [
              {
                name: 'x',
                partitions: 0,
                replicationFactor: -1,
                topicConfigs: [{ key: 'k', value: 'v' }],
              },
            ],
            repartitionSinkTopics: [],
            repartitionSourceTopics: [],
            copartitionGroups: [
              { sourceTopics: [0], sourceTopicRegex: [], repartitionSourceTopics: [] },
            ],
          },
        ],
      },
    },
  ],
  [
    'type 1 in version 4',
    '0001 0001 67 0001 74 00000000',
    '00040000000000000007ffffffff0100000000000003e801001000000000000000010000000000000002',
    {
      type: 'offsetCommit',
      groupId: 'g',
      topic: 't',
      partition: 0,
      value: {
        offset: 7n,
        leaderEpoch: -1,
        metadata: '',
        commitTimestampMs: 1000,
        expireTimestampMs: -1,
        topicId: 'AAAAAAAAAAEAAAAAAAAAAg',
      },
    },
  ],
];
