import { expect } from 'chai';
import { decideExpiry } from '../../machines/decide/offsets.ts';
import { COORDINATOR, groupRecords, slotOf } from './group-samples.ts';

describe('decideExpiry() where offsets are kept upstream', () => {
  const empty = slotOf(groupRecords({}));

  it('lets an empty group stay: that it has no offsets here says nothing (4.10, EX-4)', () => {
    expect(empty.group?.state).to.equal('Empty');
    const coordinator = { ...COORDINATOR, offsetsAreElsewhere: true };
    expect(decideExpiry(empty, { nowMs: 1, coordinator })).to.equal(undefined);
  });

  it('elsewhere the same group goes at the next sweep (EX-5)', () => {
    const because = decideExpiry(empty, { nowMs: 1, coordinator: COORDINATOR })?.because;
    expect(because).to.deep.equal(['The group was deleted: it is empty and no offsets are left']);
  });
});
