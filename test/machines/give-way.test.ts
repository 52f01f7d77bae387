import { expect } from 'chai';
import { apply } from '../../machines/apply.ts';
import { decideGiveWay } from '../../machines/decide/give-way.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import { GROUP, groupRecords, offsetRecord, slotOf } from './group-samples.ts';

function errorOf(slot: GroupSlot | undefined): string | undefined {
  try {
    decideGiveWay(slot);
    return undefined;
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return refusal.error;
  }
}

describe('decideGiveWay()', () => {
  it('ends an empty streams group and leaves its offsets (O-3, EX-10)', () => {
    const offset = offsetRecord('in', 0);
    const slot = slotOf([...groupRecords(), offset]);
    const left = { ...slot, soft: { ...slot.soft, incarnation: 4, delaying: true } };
    const decision = decideGiveWay(left);
    expect(decision).to.deep.equal({
      records: [
        { type: 'targetMetadata', groupId: GROUP, value: null },
        { type: 'groupMetadata', groupId: GROUP, value: null },
        { type: 'topology', groupId: GROUP, value: null },
      ],
      soft: emptySlot(GROUP).soft,
      reply: { kind: 'answer', value: undefined },
      effects: [{ type: 'cancelInitialDelay' }],
      because: ['The group gave way to a classic one: its topology is forgotten, its offsets stay'],
    });
    const after = decision.records.reduce(apply, slot);
    expect({ ...after, soft: decision.soft }).to.deep.equal(slotOf([offset]));
  });

  it('is refused by a group with members, which stays as it is (MEM-2)', () => {
    expect(errorOf(slotOf(groupRecords({ A: {} })))).to.equal('INCONSISTENT_GROUP_PROTOCOL');
    const notReady = slotOf(groupRecords({ A: {} }, { isReady: false }));
    expect(errorOf(notReady)).to.equal('INCONSISTENT_GROUP_PROTOCOL');
  });

  it('has nothing to do where no streams group is', () => {
    for (const slot of [undefined, slotOf([]), slotOf([offsetRecord('in', 0)])]) {
      expect(errorOf(slot)).to.equal('GROUP_ID_NOT_FOUND');
    }
  });
});
