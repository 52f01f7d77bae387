import type { GroupDecision, GroupSlot } from '../decision.ts';
import { newSoft } from '../model/empty.ts';
import { groupTombstones } from './tombstones.ts';

/** The incarnation of no group. */
const NO_INCARNATION = 0;

/**
 * What takes an empty streams group out of the world: its tombstones, soft state as if it had never been, and the
 * end of the one timer a group without members can have. Nothing but fresh soft state where there is no group.
 *
 * Source: RP-1, GS-4; coordination 10.
 */
export function endGroup(
  slot: GroupSlot,
): Pick<GroupDecision<unknown>, 'records' | 'soft' | 'effects'> {
  return {
    records: groupTombstones(slot),
    soft: newSoft(NO_INCARNATION),
    effects: slot.soft.delaying ? [{ type: 'cancelInitialDelay' }] : [],
  };
}
