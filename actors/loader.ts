import { apply } from '../machines/apply.ts';
import { emptySlot, newSoft } from '../machines/model/empty.ts';
import { PersistentMap } from '../machines/model/persistent-map.ts';
import type { ShardEnvironment } from './environment.ts';
import type { Slots } from './messages.ts';

/**
 * Folds a shard's log into its groups. Free of side effects: timers and everything derived come afterwards (RP-6).
 *
 * @returns the groups and offsets of the shard; ids that a tombstone left with nothing are not in it.
 * @throws what the log rejects with, and broken invariants of a log that cannot be right.
 *
 * Source: records-and-configs 4, 5.1; coordination LOG-1 to LOG-7.
 */
export async function loadShard(
  shard: number,
  env: Pick<ShardEnvironment, 'recordLog' | 'nextIncarnation' | 'log'>,
): Promise<Slots> {
  let slots: Slots = PersistentMap.empty();
  const unknown = new Map<number, number>();
  await env.recordLog.load(
    shard,
    (record) => {
      const slot = apply(slots.get(record.groupId) ?? emptySlot(record.groupId), record);
      slots =
        slot.group === undefined && slot.offsets.size === 0
          ? slots.delete(slot.groupId)
          : slots.set(slot.groupId, slot);
    },
    (recordType) => unknown.set(recordType, (unknown.get(recordType) ?? 0) + 1),
  );
  for (const [recordType, count] of unknown) {
    env.log.warn({ shard, recordType, count }, 'Records of an unknown type were skipped');
  }
  for (const slot of slots.values()) {
    if (slot.group !== undefined) {
      slots = slots.set(slot.groupId, { ...slot, soft: newSoft(env.nextIncarnation()) });
    }
  }
  return slots;
}
