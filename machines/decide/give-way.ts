import type { GroupDecision, GroupSlot } from '../decision.ts';
import { Refusal } from '../model/refusal.ts';
import { endGroup } from './end-group.ts';

/**
 * An empty streams group gives way to a classic one that takes its id: the group goes, its offsets stay for the other
 * (EX-10). Refuses a group with members (INCONSISTENT_GROUP_PROTOCOL) and an id without a streams group
 * (GROUP_ID_NOT_FOUND): there the way is free.
 *
 * Source: topology-and-admin O-3, O-6; coordination MEM-2.
 */
export function decideGiveWay(slot: GroupSlot | undefined): GroupDecision<undefined> {
  if (slot?.group === undefined) throw new Refusal('GROUP_ID_NOT_FOUND', null);
  const { state } = slot.group;
  if (state !== 'Empty' && state !== 'Dead') {
    throw new Refusal('INCONSISTENT_GROUP_PROTOCOL', null);
  }
  const { records, soft, effects } = endGroup(slot);
  return {
    records,
    soft,
    reply: { kind: 'answer', value: undefined },
    effects,
    because: ['The group gave way to a classic one: its topology is forgotten, its offsets stay'],
  };
}
