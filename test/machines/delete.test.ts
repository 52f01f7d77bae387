import { expect } from 'chai';
import fc from 'fast-check';
import { apply } from '../../machines/apply.ts';
import { decideDelete } from '../../machines/decide/delete.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import { GROUP, groupRecords, offsetRecord, offsetTombstone, slotOf } from './group-samples.ts';

function refusalOf(slot: GroupSlot | undefined) {
  try {
    decideDelete(slot);
    return undefined;
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return { error: refusal.error, text: refusal.text };
  }
}

describe('decideDelete()', () => {
  it('S41 Deleting a live streams group is refused and touches nothing (13, GS-4)', () => {
    const live = slotOf([...groupRecords({ A: {} }), offsetRecord('in', 0)]);
    expect(refusalOf(live)).to.deep.equal({ error: 'NON_EMPTY_GROUP', text: null });
    const notReady = slotOf(groupRecords({ A: {} }, { isReady: false }));
    expect(refusalOf(notReady)).to.deep.equal({ error: 'NON_EMPTY_GROUP', text: null });
  });

  it('S41 An emptied group goes with its offsets, and is then not found (EX-8, RP-1)', () => {
    const slot = slotOf([
      ...groupRecords(),
      offsetRecord('in', 1),
      offsetRecord('in', 0),
      offsetRecord('a', 0),
    ]);
    const left = { ...slot, soft: { ...slot.soft, incarnation: 4, delaying: true } };
    const decision = decideDelete(left);
    expect(decision).to.deep.equal({
      records: [
        offsetTombstone('a', 0),
        offsetTombstone('in', 0),
        offsetTombstone('in', 1),
        { type: 'targetMetadata', groupId: GROUP, value: null },
        { type: 'groupMetadata', groupId: GROUP, value: null },
        { type: 'topology', groupId: GROUP, value: null },
      ],
      soft: emptySlot(GROUP).soft,
      reply: { kind: 'answer', value: undefined },
      effects: [{ type: 'cancelInitialDelay' }],
      because: ['The group was deleted on request; offsets deleted with it: 3'],
    });
    expect(refusalOf(decision.records.reduce(apply, left))).to.deep.equal({
      error: 'GROUP_ID_NOT_FOUND',
      text: null,
    });
  });

  it('deletes the offsets that a simple group consists of (EX-8)', () => {
    const decision = decideDelete(slotOf([offsetRecord('in', 0)]));
    expect(decision.records).to.deep.equal([offsetTombstone('in', 0)]);
    expect(decision.effects).to.deep.equal([]);
  });

  it('finds nothing where nothing is (13)', () => {
    for (const slot of [undefined, slotOf([])]) {
      expect(refusalOf(slot)).to.deep.equal({ error: 'GROUP_ID_NOT_FOUND', text: null });
    }
  });

  it('leaves a log whose replay is nothing, whatever offsets there were (RP-1, RP-4)', () => {
    const offsets = fc.uniqueArray(
      fc.record({ topic: fc.constantFrom('a', 'b', 'in'), partition: fc.nat({ max: 4 }) }),
      { selector: ({ topic, partition }) => `${topic} ${partition}` },
    );
    fc.assert(
      fc.property(offsets, fc.boolean(), (committed, hasGroup) => {
        fc.pre(hasGroup || committed.length > 0);
        const before = [
          ...(hasGroup ? groupRecords() : []),
          ...committed.map(({ topic, partition }) => offsetRecord(topic, partition)),
        ];
        const { records } = decideDelete(slotOf(before));
        expect(slotOf([...before, ...records])).to.deep.equal(emptySlot(GROUP));
        // A compacted log may have lost the values and kept the tombstones (RP-5).
        expect(slotOf(records)).to.deep.equal(emptySlot(GROUP));
      }),
    );
  });
});
