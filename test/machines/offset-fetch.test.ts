import { expect } from 'chai';
import type { OffsetFetchRequest } from '../../machines/commands.ts';
import { fetchOffsets, judgeFetch } from '../../machines/decide/offsets.ts';
import { GROUP, offsetRecord, slotOf } from './group-samples.ts';
import { LIVE, SIMPLE } from './offset-samples.ts';

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
