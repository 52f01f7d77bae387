import type { GroupDecision, GroupSlot } from '../decision.ts';
import { Refusal } from '../model/refusal.ts';
import { endGroup } from './end-group.ts';
import { offsetTombstones } from './offsets.ts';

/**
 * Deletes a group with all its offsets in one batch: the offsets first, then the group. A simple group consists of
 * its offsets. Refuses a group with members (NON_EMPTY_GROUP) and an id that holds nothing (GROUP_ID_NOT_FOUND);
 * neither answer carries a text.
 *
 * Source: topology-and-admin 13; GS-4; records-and-configs EX-8, RP-1.
 */
export function decideDelete(slot: GroupSlot | undefined): GroupDecision<undefined> {
  if (slot === undefined || (slot.group === undefined && slot.offsets.size === 0)) {
    throw new Refusal('GROUP_ID_NOT_FOUND', null);
  }
  const state = slot.group?.state ?? 'Empty';
  if (state !== 'Empty' && state !== 'Dead') throw new Refusal('NON_EMPTY_GROUP', null);
  const offsets = offsetTombstones(slot);
  const end = endGroup(slot);
  return {
    records: [...offsets, ...end.records],
    soft: end.soft,
    reply: { kind: 'answer', value: undefined },
    effects: end.effects,
    because: [
      offsets.length === 0
        ? 'The group was deleted on request'
        : `The group was deleted on request; offsets deleted with it: ${offsets.length}`,
    ],
  };
}
