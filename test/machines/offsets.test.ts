import { expect } from 'chai';
import fc from 'fast-check';
import { apply } from '../../machines/apply.ts';
import type { CommitRequest, OffsetFetchRequest } from '../../machines/commands.ts';
import {
  decideCommit,
  decideExpiry,
  decideOffsetDelete,
  decideTopicsDeleted,
  fetchOffsets,
  judgeCommit,
  judgeFetch,
  judgeOffsetDelete,
} from '../../machines/decide/offsets.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';
import { UNKNOWN_TOPIC } from '../../machines/model/topics.ts';
import { decodeRecord, encodeRecord } from '../../src/wire/records/group-record.ts';
import { REPARTITIONED, topicIdOf, topicsOf } from '../support/topology-samples.ts';
import {
  COORDINATOR,
  GROUP,
  groupRecords,
  offsetRecord,
  offsetTombstone,
  slotOf,
} from './group-samples.ts';

const TOPICS = topicsOf({ in: 4, other: 1, 'app-r-repartition': 4, 'app-agg-changelog': 4 });
const CONTEXT = { nowMs: 5_000, topics: TOPICS, coordinator: COORDINATOR };

type Committed = { readonly [topic: string]: readonly number[] };

/** A plain commit of version 9 by nobody, with what is said otherwise. */
function commitOf(offsets: Committed, overrides: Partial<CommitRequest> = {}): CommitRequest {
  return {
    groupId: GROUP,
    memberId: '',
    memberEpoch: -1,
    instanceId: null,
    transactional: false,
    apiVersion: 9,
    topics: Object.entries(offsets).map(([name, partitions]) => ({
      name,
      topicId: UNKNOWN_TOPIC,
      partitions: partitions.map((partition) => ({
        partition,
        offset: 5n,
        leaderEpoch: -1,
        metadata: '',
      })),
    })),
    ...overrides,
  };
}

/** The errors of a commit in the order of its partitions; deciding must answer what judging says. */
function errorsOf(slot: GroupSlot | undefined, request: CommitRequest): readonly ErrorName[] {
  const judged = judgeCommit(slot, request, TOPICS, COORDINATOR);
  expect(decideCommit(slot, request, CONTEXT).reply).to.deep.equal({
    kind: 'answer',
    value: judged,
  });
  return judged.topics.flatMap((topic) => topic.partitions.map((one) => one.error));
}

/** A has 0_0 since epoch 2, 0_1 since 4, is to give up 0_2, has repartition task 1_3 since 1; epoch 5. */
const LIVE = slotOf(
  groupRecords(
    {
      A: {
        memberEpoch: 5,
        assigned: {
          active: [
            { subtopologyId: '0', partitions: [0, 1], assignmentEpochs: [2, 4] },
            { subtopologyId: '1', partitions: [3], assignmentEpochs: [1] },
          ],
          standby: [{ subtopologyId: '0', partitions: [3] }],
          warmup: [],
        },
        pendingRevocation: {
          active: [{ subtopologyId: '0', partitions: [2], assignmentEpochs: [2] }],
          standby: [],
          warmup: [],
        },
      },
    },
    { topology: REPARTITIONED },
  ),
);
const EMPTY = slotOf(groupRecords());
const SIMPLE = slotOf([offsetRecord('in', 0)]);
const byA = (memberEpoch: number, overrides: Partial<CommitRequest> = {}) => ({
  memberId: 'A',
  memberEpoch,
  ...overrides,
});

describe('judgeCommit() and decideCommit()', () => {
  it('accepts anybody below epoch 0 in a group without members (13.2.1, OFF-C1)', () => {
    expect(errorsOf(EMPTY, commitOf({ in: [0] }))).to.deep.equal(['NONE']);
    expect(errorsOf(EMPTY, commitOf({ in: [0] }, byA(-1)))).to.deep.equal(['NONE']);
    expect(errorsOf(EMPTY, commitOf({ in: [0] }, { apiVersion: 2 }))).to.deep.equal(['NONE']);
    expect(errorsOf(EMPTY, commitOf({ in: [0] }, { memberEpoch: 0 }))).to.deep.equal([
      'UNKNOWN_MEMBER_ID',
    ]);
  });

  it('S47 Admins may write only to an empty group (step 3; 13.2.2, vector 17)', () => {
    expect(errorsOf(LIVE, commitOf({ in: [0] }))).to.deep.equal(['UNKNOWN_MEMBER_ID']);
    expect(errorsOf(LIVE, commitOf({ in: [0] }, { memberId: 'Z', memberEpoch: 5 }))).to.deep.equal([
      'UNKNOWN_MEMBER_ID',
    ]);
    expect(errorsOf(EMPTY, commitOf({ in: [0] }))).to.deep.equal(['NONE']);
  });

  it('refuses a member below version 9, after knowing it (13.2.3, OFF-C3)', () => {
    for (const apiVersion of [2, 8]) {
      expect(errorsOf(LIVE, commitOf({ in: [0] }, byA(5, { apiVersion })))).to.deep.equal([
        'UNSUPPORTED_VERSION',
      ]);
    }
    const unknown = { memberId: 'Z', memberEpoch: 5, apiVersion: 8 };
    expect(errorsOf(LIVE, commitOf({ in: [0] }, unknown))).to.deep.equal(['UNKNOWN_MEMBER_ID']);
  });

  it('accepts every partition at the epoch of the member, of its topology or not (13.2.4)', () => {
    const request = commitOf({ in: [0, 3], other: [0] }, byA(5, { instanceId: 'not looked at' }));
    expect(errorsOf(LIVE, request)).to.deep.equal(['NONE', 'NONE', 'NONE']);
  });

  it('refuses an epoch ahead of the member (13.2.5, OFF-C4)', () => {
    expect(errorsOf(LIVE, commitOf({ in: [0, 1] }, byA(99)))).to.deep.equal([
      'STALE_MEMBER_EPOCH',
      'STALE_MEMBER_EPOCH',
    ]);
  });

  it('S44 A commit built just before a rebalance is accepted (13.2.6, OFF-C5)', () => {
    const at = (partitions: number[], epoch: number) =>
      errorsOf(LIVE, commitOf({ in: partitions }, byA(epoch)));
    expect(at([2], 2), 'still to be revoked').to.deep.equal(['NONE']);
    expect(at([0], 4), 'owned since 2').to.deep.equal(['NONE']);
    expect(at([0, 2], 2)).to.deep.equal(['NONE', 'NONE']);
    expect(at([1], 4)).to.deep.equal(['NONE']);
    expect(at([1], 3), 'owned since 4 only').to.deep.equal(['STALE_MEMBER_EPOCH']);
    expect(at([3], 4), 'a standby task').to.deep.equal(['STALE_MEMBER_EPOCH']);
    expect(at([0], -1), 'no epoch').to.deep.equal(['STALE_MEMBER_EPOCH']);
    expect(at([0], 10), 'the future').to.deep.equal(['STALE_MEMBER_EPOCH']);
    const repartition = commitOf({ 'app-r-repartition': [3] }, byA(1));
    expect(errorsOf(LIVE, repartition)).to.deep.equal(['NONE']);
  });

  it('refuses a whole old commit for one partition that does not fit (OFF-C5)', () => {
    expect(errorsOf(LIVE, commitOf({ in: [0, 1] }, byA(2)))).to.deep.equal([
      'STALE_MEMBER_EPOCH',
      'STALE_MEMBER_EPOCH',
    ]);
    for (const topic of ['other', 'app-agg-changelog']) {
      expect(errorsOf(LIVE, commitOf({ in: [0], [topic]: [0] }, byA(4)))).to.deep.equal([
        'STALE_MEMBER_EPOCH',
        'STALE_MEMBER_EPOCH',
      ]);
    }
    expect(decideCommit(LIVE, commitOf({ in: [0, 1] }, byA(2)), CONTEXT).records).to.deep.equal([]);
  });

  it('answers partitions that do not exist first, and does not count them (OFF-C5)', () => {
    expect(errorsOf(LIVE, commitOf({ in: [0, 9], nowhere: [0] }, byA(4)))).to.deep.equal([
      'NONE',
      'UNKNOWN_TOPIC_OR_PARTITION',
      'UNKNOWN_TOPIC_OR_PARTITION',
    ]);
    expect(errorsOf(LIVE, commitOf({ nowhere: [0] }, byA(99)))).to.deep.equal([
      'UNKNOWN_TOPIC_OR_PARTITION',
    ]);
    expect(errorsOf(LIVE, commitOf({ in: [0, 4, -1] }, byA(99)))).to.deep.equal([
      'STALE_MEMBER_EPOCH',
      'UNKNOWN_TOPIC_OR_PARTITION',
      'UNKNOWN_TOPIC_OR_PARTITION',
    ]);
  });

  it('lets late commits of any epoch pass after a static rejoin (OFF-C6)', () => {
    const rejoined = slotOf(
      groupRecords({
        A: {
          instanceId: 'i',
          memberEpoch: 5,
          assigned: {
            active: [{ subtopologyId: '0', partitions: [0], assignmentEpochs: [0] }],
            standby: [],
            warmup: [],
          },
        },
      }),
    );
    expect(errorsOf(rejoined, commitOf({ in: [0] }, byA(0)))).to.deep.equal(['NONE']);
  });

  it('refuses metadata that is too long, for its partition alone (13.2)', () => {
    const metadatas = ['ö'.repeat(4096), 'm'.repeat(4097), ''];
    const request = {
      ...commitOf({}, byA(5)),
      topics: [
        {
          name: 'in',
          topicId: UNKNOWN_TOPIC,
          partitions: metadatas.map((metadata, partition) => ({
            partition,
            offset: 1n,
            leaderEpoch: -1,
            metadata,
          })),
        },
      ],
    };
    expect(errorsOf(LIVE, request)).to.deep.equal(['NONE', 'OFFSET_METADATA_TOO_LARGE', 'NONE']);
    expect(decideCommit(LIVE, request, CONTEXT).records.map((one) => one.type)).to.deep.equal([
      'offsetCommit',
      'offsetCommit',
    ]);
  });

  it('judges a commit to an unknown group by its version (13.2)', () => {
    for (const slot of [undefined, slotOf([])]) {
      expect(errorsOf(slot, commitOf({ in: [0] }, byA(4)))).to.deep.equal(['GROUP_ID_NOT_FOUND']);
      expect(errorsOf(slot, commitOf({ in: [0] }, byA(4, { apiVersion: 8 })))).to.deep.equal([
        'ILLEGAL_GENERATION',
      ]);
      expect(errorsOf(slot, commitOf({ in: [0] }))).to.deep.equal(['NONE']);
    }
  });

  it('knows no member of a simple group, and takes what nobody commits (13.2)', () => {
    expect(errorsOf(SIMPLE, commitOf({ in: [0] }, byA(4)))).to.deep.equal(['UNKNOWN_MEMBER_ID']);
    expect(errorsOf(SIMPLE, commitOf({ in: [0] }))).to.deep.equal(['NONE']);
  });

  it('judges a transaction alike, with older codes in older versions (13.3, OFF-C2)', () => {
    const inTransaction = (overrides: Partial<CommitRequest>) =>
      commitOf({ in: [1] }, { transactional: true, apiVersion: 6, ...overrides });
    const error = (slot: GroupSlot | undefined, overrides: Partial<CommitRequest>) =>
      errorsOf(slot, inTransaction(overrides))[0];
    expect(error(LIVE, {}), 'nobody').to.equal('NONE');
    expect(error(LIVE, { instanceId: 'i' }), 'an instance').to.equal('UNKNOWN_MEMBER_ID');
    expect(error(LIVE, { memberEpoch: 5 }), 'an epoch').to.equal('UNKNOWN_MEMBER_ID');
    expect(error(LIVE, byA(5, { apiVersion: 3 }))).to.equal('NONE');
    expect(error(LIVE, byA(9))).to.equal('STALE_MEMBER_EPOCH');
    expect(error(LIVE, byA(9, { apiVersion: 5 }))).to.equal('ILLEGAL_GENERATION');
    expect(error(LIVE, byA(3, { apiVersion: 5 }))).to.equal('ILLEGAL_GENERATION');
    expect(error(LIVE, byA(4))).to.equal('NONE');
    expect(error(LIVE, { memberId: 'Z', memberEpoch: 2, apiVersion: 4 })).to.equal(
      'UNKNOWN_MEMBER_ID',
    );
    expect(error(undefined, byA(4))).to.equal('GROUP_ID_NOT_FOUND');
    expect(error(undefined, byA(4, { apiVersion: 5 }))).to.equal('ILLEGAL_GENERATION');
    expect(error(undefined, {})).to.equal('NONE');
  });

  it('stores what is accepted as it came (LG-10), and nothing else', () => {
    const topicId = topicIdOf('in');
    const request: CommitRequest = {
      ...commitOf({}, byA(5)),
      topics: [
        {
          name: 'in',
          topicId,
          partitions: [
            { partition: 0, offset: 2n ** 63n - 1n, leaderEpoch: 4, metadata: 'größe' },
            { partition: 9, offset: 1n, leaderEpoch: -1, metadata: '' },
            { partition: 1, offset: -5n, leaderEpoch: -1, metadata: '' },
          ],
        },
      ],
    };
    const decision = decideCommit(LIVE, request, CONTEXT);
    const stored = { commitTimestampMs: 5_000, expireTimestampMs: -1, topicId };
    expect(decision.records).to.deep.equal([
      offsetRecord('in', 0, {
        ...stored,
        offset: 2n ** 63n - 1n,
        leaderEpoch: 4,
        metadata: 'größe',
      }),
      offsetRecord('in', 1, { ...stored, offset: -5n, leaderEpoch: -1, metadata: '' }),
    ]);
    expect(decision.soft).to.equal(LIVE.soft);
    expect(decision.effects).to.deep.equal([]);
  });
});

describe('decideCommit() of offsets with a retention of their own', () => {
  const request: CommitRequest = commitOf({ in: [0] }, byA(5, { retentionMs: 400 }));

  it('stores when they expire, and what the record of that version can hold (EX-2)', () => {
    const [record] = decideCommit(LIVE, request, CONTEXT).records;
    expect(record).to.deep.include({ type: 'offsetCommit', groupId: GROUP, topic: 'in' });
    expect(record).to.have.nested.property('value.expireTimestampMs', CONTEXT.nowMs + 400);
    if (record === undefined) return;
    const { key, value } = encodeRecord(record);
    expect(decodeRecord(key, value)).to.deep.equal(record);
  });

  it('keeps them for ever when no clock reaches their end', () => {
    const forEver = { ...request, retentionMs: Number.MAX_SAFE_INTEGER };
    expect(decideCommit(LIVE, forEver, CONTEXT).records[0]).to.have.nested.property(
      'value.expireTimestampMs',
      Number.MAX_SAFE_INTEGER,
    );
  });
});

describe('judgeFetch() and fetchOffsets()', () => {
  const fetchOf = (overrides: Partial<OffsetFetchRequest> = {}): OffsetFetchRequest => ({
    groupId: GROUP,
    memberId: null,
    memberEpoch: -1,
    topics: [{ name: 'in', partitions: [0] }],
    ...overrides,
  });

  it('S47 Admins may read at any time (step 1; 13.4, OFF-C7)', () => {
    expect(judgeFetch(LIVE, fetchOf())).to.equal('NONE');
    expect(judgeFetch(LIVE, fetchOf({ memberId: 'A', memberEpoch: 5 }))).to.equal('NONE');
    for (const memberEpoch of [-1, 4, 6]) {
      expect(judgeFetch(LIVE, fetchOf({ memberId: 'A', memberEpoch }))).to.equal(
        'STALE_MEMBER_EPOCH',
      );
    }
    for (const [memberId, memberEpoch] of [
      ['Z', 5],
      ['Z', -1],
      ['', -1],
      ['', 5],
      [null, 5],
    ] as const) {
      expect(judgeFetch(LIVE, fetchOf({ memberId, memberEpoch }))).to.equal('UNKNOWN_MEMBER_ID');
    }
  });

  it('checks nobody where there is no streams group (13.4)', () => {
    for (const slot of [undefined, SIMPLE]) {
      expect(judgeFetch(slot, fetchOf({ memberId: 'A', memberEpoch: 2 }))).to.equal('NONE');
    }
  });

  it('refuses with an error of the group and no partition', () => {
    expect(fetchOffsets(LIVE, fetchOf({ memberId: 'Z', memberEpoch: 5 }))).to.deep.equal({
      error: 'UNKNOWN_MEMBER_ID',
      topics: [],
    });
  });

  const none = { offset: -1n, leaderEpoch: -1, metadata: '', error: 'NONE' };

  it('gives what is asked in its order, -1 where there is nothing', () => {
    const slot = slotOf([
      offsetRecord('in', 1, { offset: 9n, leaderEpoch: 2, metadata: 'm' }),
      offsetRecord('a', 0),
    ]);
    const topics = [
      { name: 'in', partitions: [9, 1] },
      { name: 'nowhere', partitions: [0] },
    ];
    expect(fetchOffsets(slot, fetchOf({ topics }))).to.deep.equal({
      error: 'NONE',
      topics: [
        {
          name: 'in',
          partitions: [
            { ...none, partition: 9 },
            { partition: 1, offset: 9n, leaderEpoch: 2, metadata: 'm', error: 'NONE' },
          ],
        },
        { name: 'nowhere', partitions: [{ ...none, partition: 0 }] },
      ],
    });
    expect(fetchOffsets(undefined, fetchOf())).to.deep.equal({
      error: 'NONE',
      topics: [{ name: 'in', partitions: [{ ...none, partition: 0 }] }],
    });
  });

  it('gives everything, sorted, when nothing is named', () => {
    const slot = slotOf([offsetRecord('in', 10), offsetRecord('in', 2), offsetRecord('a', 0)]);
    const seven = { offset: 7n, leaderEpoch: -1, metadata: '', error: 'NONE' };
    expect(fetchOffsets(slot, fetchOf({ topics: null }))).to.deep.equal({
      error: 'NONE',
      topics: [
        { name: 'a', partitions: [{ ...seven, partition: 0 }] },
        {
          name: 'in',
          partitions: [
            { ...seven, partition: 2 },
            { ...seven, partition: 10 },
          ],
        },
      ],
    });
    expect(fetchOffsets(undefined, fetchOf({ topics: null }))).to.deep.equal({
      error: 'NONE',
      topics: [],
    });
  });
});

const withOffsets = (slot: GroupSlot) =>
  [
    offsetRecord('in', 0),
    offsetRecord('in', 1),
    offsetRecord('app-r-repartition', 0),
    offsetRecord('app-agg-changelog', 0),
    offsetRecord('other', 0),
  ].reduce(apply, slot);

describe('judgeOffsetDelete() and decideOffsetDelete()', () => {
  const topics = [
    { name: 'in', partitions: [0, 9] },
    { name: 'app-r-repartition', partitions: [0] },
    { name: 'app-agg-changelog', partitions: [0, 1] },
    { name: 'other', partitions: [0] },
    { name: 'nowhere', partitions: [0] },
  ];
  const request = { groupId: GROUP, topics };
  const errors = (slot: GroupSlot) =>
    judgeOffsetDelete(slot, request, TOPICS).topics.flatMap((topic) =>
      topic.partitions.map((one) => `${topic.name}-${one.partition} ${one.error}`),
    );

  it('S45 A topic counts as subscribed only while the group has members (OFF-C8)', () => {
    const live = withOffsets(LIVE);
    expect(errors(live)).to.deep.equal([
      'in-0 GROUP_SUBSCRIBED_TO_TOPIC',
      'in-9 UNKNOWN_TOPIC_OR_PARTITION',
      'app-r-repartition-0 GROUP_SUBSCRIBED_TO_TOPIC',
      'app-agg-changelog-0 NONE',
      'app-agg-changelog-1 NONE',
      'other-0 NONE',
      'nowhere-0 UNKNOWN_TOPIC_OR_PARTITION',
    ]);
    expect(decideOffsetDelete(live, request, CONTEXT)).to.deep.equal({
      records: [offsetTombstone('app-agg-changelog', 0), offsetTombstone('other', 0)],
      soft: live.soft,
      reply: { kind: 'answer', value: judgeOffsetDelete(live, request, TOPICS) },
      effects: [],
      because: ['Offsets deleted on request: 2'],
    });
    const left = withOffsets(slotOf(groupRecords({}, { topology: REPARTITIONED })));
    expect(errors(left).filter((text) => text.endsWith(' NONE'))).to.have.length(5);
    expect(decideOffsetDelete(left, request, CONTEXT).records).to.deep.equal([
      offsetTombstone('in', 0),
      offsetTombstone('app-r-repartition', 0),
      offsetTombstone('app-agg-changelog', 0),
      offsetTombstone('other', 0),
    ]);
  });

  it('tells an unknown group from an empty id (13)', () => {
    expect(judgeOffsetDelete(undefined, request, TOPICS)).to.deep.equal({
      error: 'GROUP_ID_NOT_FOUND',
      topics: [],
    });
    expect(judgeOffsetDelete(undefined, { ...request, groupId: '' }, TOPICS)).to.deep.equal({
      error: 'INVALID_GROUP_ID',
      topics: [],
    });
    expect(judgeOffsetDelete(SIMPLE, { ...request, topics: [] }, TOPICS)).to.deep.equal({
      error: 'NONE',
      topics: [],
    });
  });
});

describe('decideExpiry()', () => {
  const at = (nowMs: number) => ({ nowMs, coordinator: COORDINATOR });

  it('S45 After the retention the offsets of an empty group expire, then the group goes (EX-2, EX-4)', () => {
    const empty = [
      offsetRecord('in', 0),
      offsetRecord('other', 0, { commitTimestampMs: 500 }),
    ].reduce(apply, EMPTY);
    expect(decideExpiry(empty, at(999))).to.equal(undefined);
    const first = decideExpiry(empty, at(1_000));
    expect(first).to.deep.equal({
      records: [offsetTombstone('in', 0)],
      soft: empty.soft,
      reply: { kind: 'answer', value: 1 },
      effects: [],
      because: ['Offsets expired: 1'],
    });
    const later = (first?.records ?? []).reduce(apply, empty);
    const second = decideExpiry(later, at(1_500));
    expect(second?.because).to.deep.equal([
      'Offsets expired: 1',
      'The group was deleted: it is empty and no offsets are left',
    ]);
    const gone = (second?.records ?? []).reduce(apply, later);
    expect({ group: gone.group, offsets: gone.offsets.size }).to.deep.equal({
      group: undefined,
      offsets: 0,
    });
  });

  it('S46 While there are members, offsets of the topics they read do not expire, stable or not (EX-3)', () => {
    const members = { A: { memberEpoch: 2 } };
    const states = {
      Reconciling: withOffsets(slotOf(groupRecords(members, { topology: REPARTITIONED }))),
      NotReady: withOffsets(
        slotOf(groupRecords(members, { topology: REPARTITIONED, isReady: false })),
      ),
      Assigning: withOffsets(
        slotOf([
          ...groupRecords(members, { topology: REPARTITIONED }),
          {
            type: 'targetMetadata',
            groupId: GROUP,
            value: { assignmentEpoch: 2, assignmentTimestampMs: 0 },
          },
        ]),
      ),
    };
    for (const [state, slot] of Object.entries(states)) {
      expect(slot.group?.state).to.equal(state);
      expect(decideExpiry(slot, at(2 ** 40))?.records).to.deep.equal([
        offsetTombstone('app-agg-changelog', 0),
        offsetTombstone('other', 0),
      ]);
    }
  });

  it('goes by the time the record names, where it names one (EX-2)', () => {
    const slot = slotOf([
      offsetRecord('in', 0, { expireTimestampMs: 400 }),
      offsetRecord('in', 1, { expireTimestampMs: 4_000 }),
    ]);
    expect(decideExpiry(slot, at(399))).to.equal(undefined);
    expect(decideExpiry(slot, at(3_999))?.records).to.deep.equal([offsetTombstone('in', 0)]);
    expect(decideExpiry(slot, at(4_000))?.reply).to.deep.equal({ kind: 'answer', value: 2 });
  });

  it('ends an empty group that never had offsets at once, and its delay (EX-5)', () => {
    const delaying = { ...EMPTY, soft: { ...EMPTY.soft, delaying: true } };
    const decision = decideExpiry(delaying, at(0));
    expect(decision?.effects).to.deep.equal([{ type: 'cancelInitialDelay' }]);
    expect(decision?.reply).to.deep.equal({ kind: 'answer', value: 0 });
    expect(decision?.soft.delaying).to.equal(false);
    expect((decision?.records ?? []).reduce(apply, delaying).group).to.equal(undefined);
    expect(decideExpiry(slotOf([]), at(0))).to.equal(undefined);
  });
});

describe('decideTopicsDeleted()', () => {
  it('drops offsets of the deleted topic, not of a namesake (EX-7)', () => {
    const slot = slotOf([
      offsetRecord('in', 1, { topicId: topicIdOf('in') }),
      offsetRecord('in', 0, { topicId: UNKNOWN_TOPIC }),
      offsetRecord('in', 2, { topicId: topicIdOf('another') }),
      offsetRecord('other', 0),
    ]);
    expect(decideTopicsDeleted(slot, [{ name: 'in', topicId: topicIdOf('in') }])).to.deep.equal({
      records: [offsetTombstone('in', 0), offsetTombstone('in', 1)],
      soft: slot.soft,
      reply: { kind: 'answer', value: 2 },
      effects: [],
      because: ['Offsets dropped with their topics: 2'],
    });
    expect(decideTopicsDeleted(slot, [{ name: 'x', topicId: UNKNOWN_TOPIC }])).to.equal(undefined);
  });
});

// --- laws ----------------------------------------------------------------------------------------------------------

describe('offsets of any group', () => {
  const slots = fc.constantFrom(undefined, EMPTY, SIMPLE, LIVE, withOffsets(LIVE));
  const requests = fc
    .record({
      memberId: fc.constantFrom('', 'A', 'Z'),
      memberEpoch: fc.integer({ min: -2, max: 7 }),
      instanceId: fc.constantFrom(null, 'i'),
      transactional: fc.boolean(),
      apiVersion: fc.constantFrom(2, 5, 6, 8, 9, 10),
      in: fc.uniqueArray(fc.nat({ max: 5 })),
      other: fc.uniqueArray(fc.nat({ max: 1 })),
    })
    .map(({ in: ins, other, ...rest }) => commitOf({ in: ins, other }, rest));

  it('judgeCommit() answers what decideCommit() answers, and what it accepts can be fetched', () => {
    fc.assert(
      fc.property(slots, requests, (slot, request) => {
        const decision = decideCommit(slot, request, CONTEXT);
        const answer = judgeCommit(slot, request, TOPICS, COORDINATOR);
        expect(decision.reply).to.deep.equal({ kind: 'answer', value: answer });
        const after = decision.records.reduce(apply, slot ?? slotOf([]));
        const accepted = answer.topics.flatMap(({ name, partitions }) =>
          partitions.flatMap(({ partition, error }) =>
            error === 'NONE' ? [[name, partition] as const] : [],
          ),
        );
        expect(decision.records).to.have.length(accepted.length);
        for (const [topic, partition] of accepted) {
          expect(after.offsets.get(topic)?.get(partition)?.commitTimestampMs).to.equal(5_000);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('errors of one request are one error, apart from partitions that do not exist', () => {
    fc.assert(
      fc.property(slots, requests, (slot, request) => {
        const errors = judgeCommit(slot, request, TOPICS, COORDINATOR).topics.flatMap((topic) =>
          topic.partitions.map((one) => one.error),
        );
        const rest = errors.filter((error) => error !== 'UNKNOWN_TOPIC_OR_PARTITION');
        expect(new Set(rest).size).to.be.at.most(1);
      }),
    );
  });

  const offsets = fc.array(
    fc.record({
      topic: fc.constantFrom('in', 'other'),
      partition: fc.nat({ max: 3 }),
      commitTimestampMs: fc.nat({ max: 3_000 }),
      expireTimestampMs: fc.constantFrom(-1, -1, 1_500),
    }),
    { maxLength: 8 },
  );

  it('expiry leaves nothing to expire, and keeps what is young or read by members (EX-2 to EX-4)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(EMPTY, LIVE, slotOf([])),
        offsets,
        fc.nat({ max: 5_000 }),
        (base, committed, nowMs) => {
          const before = committed
            .map(({ topic, partition, ...rest }) => offsetRecord(topic, partition, rest))
            .reduce(apply, base);
          const context = { nowMs, coordinator: COORDINATOR };
          const decision = decideExpiry(before, context);
          let after = before;
          for (const record of decision?.records ?? []) after = apply(after, record);
          expect(decideExpiry(after, context)).to.equal(undefined);
          for (const [topic, partitions] of before.offsets) {
            for (const [partition, { commitTimestampMs, expireTimestampMs }] of partitions) {
              const end = expireTimestampMs < 0 ? commitTimestampMs + 1_000 : expireTimestampMs;
              const isKept = nowMs < end || (base === LIVE && topic === 'in');
              expect(after.offsets.get(topic)?.has(partition) ?? false).to.equal(isKept);
            }
          }
          expect(after.group === undefined).to.equal(
            base !== LIVE && (base.group === undefined || after.offsets.size === 0),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
