import { expect } from 'chai';
import { apply } from '../../machines/apply.ts';
import { requireMember } from '../../machines/decide/find-member.ts';
import { emptySlot, newMember } from '../../machines/model/empty.ts';
import type { Group } from '../../machines/model/group.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import { PlayMember } from '../support/play-member.ts';
import { topologyOf } from '../support/stage.ts';

/** A group as a log with static members gives it: member id to instance id. */
function groupOf(members: Readonly<Record<string, string | null>>): Group {
  const { memberId: _, ...member } = newMember('');
  const slot = Object.entries(members).reduce(
    (before, [memberId, instanceId]) =>
      apply(before, {
        type: 'memberMetadata',
        groupId: 'g',
        memberId,
        value: { ...member, instanceId },
      }),
    emptySlot('g'),
  );
  if (slot.group === undefined) throw new Error('no group');
  return slot.group;
}

describe('requireMember()', () => {
  const group = groupOf({ A: null, S: 'i' });
  const find = (memberId: string, instanceId: string | null): string => {
    const request = new PlayMember(memberId, 'p', topologyOf('S')).request('silent');
    try {
      return requireMember(group, { ...request, instanceId }).memberId;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.error;
    }
  };

  it('goes by the member id where no instance id is sent (MEM-3, MEM-4, LEAVE-1)', () => {
    expect(find('A', null)).to.equal('A');
    expect(find('S', null)).to.equal('S');
    expect(find('X', null)).to.equal('UNKNOWN_MEMBER_ID');
  });

  it('goes by the holder of the instance id where one is sent (STAT-6, LEAVE-2)', () => {
    expect(find('S', 'i')).to.equal('S');
    expect(find('A', 'i')).to.equal('FENCED_INSTANCE_ID');
    expect(find('A', 'j')).to.equal('UNKNOWN_MEMBER_ID');
  });
});
