import { expect } from 'chai';
import { apply } from '../../machines/apply.ts';
import {
  decideExpiry,
  decideOffsetDelete,
  decideTopicsDeleted,
  judgeOffsetDelete,
} from '../../machines/decide/offsets.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { UNKNOWN_TOPIC } from '../../machines/model/topics.ts';
import { REPARTITIONED, topicIdOf } from '../support/topology-samples.ts';
import {
  COORDINATOR,
  GROUP,
  groupRecords,
  offsetRecord,
  offsetTombstone,
  slotOf,
} from './group-samples.ts';
import { CONTEXT, EMPTY, LIVE, SIMPLE, TOPICS, withOffsets } from './offset-samples.ts';

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
