import { expect } from 'chai';
import type { CommitRequest } from '../../machines/commands.ts';
import { decideCommit } from '../../machines/decide/offsets.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { UNKNOWN_TOPIC } from '../../machines/model/topics.ts';
import { decodeRecord, encodeRecord } from '../../src/wire/records/group-record.ts';
import { topicIdOf } from '../support/topology-samples.ts';
import { GROUP, groupRecords, offsetRecord, slotOf } from './group-samples.ts';
import { byA, CONTEXT, commitOf, EMPTY, errorsOf, LIVE, SIMPLE } from './offset-samples.ts';

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
