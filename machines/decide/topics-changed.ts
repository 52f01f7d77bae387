import type { GroupSlot } from '../decision.ts';
import type { GroupSoft } from '../model/soft.ts';
import { requiredTopics } from './topology.ts';

/**
 * Marks a group to look at its topics again when one of them changed; they count by name, also before they exist
 * (TOP-12, H-4).
 *
 * @returns the soft state with the mark; undefined when there is nothing to mark.
 */
export function topicsChanged(slot: GroupSlot, names: ReadonlySet<string>): GroupSoft | undefined {
  const topology = slot.group?.topology;
  if (topology === undefined || slot.soft.refreshDue) return undefined;
  const concerned = requiredTopics(topology).some((name) => names.has(name));
  return concerned ? { ...slot.soft, refreshDue: true } : undefined;
}
