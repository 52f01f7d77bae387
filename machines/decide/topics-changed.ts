import type { GroupSlot } from '../decision.ts';
import type { GroupSoft } from '../model/soft.ts';
import { hasPatterns, topologyInForce } from './resolve-topology.ts';
import { requiredTopics } from './topology.ts';

/**
 * Marks a group to look at its topics again when one of them changed; they count by name, also before they exist
 * (TOP-12, H-4). A group with patterns is to search anew when any other topic changed: it may be one that was made or
 * deleted.
 *
 * @returns the soft state with the marks; undefined when there is nothing to mark.
 */
export function topicsChanged(slot: GroupSlot, names: ReadonlySet<string>): GroupSoft | undefined {
  const { group, soft } = slot;
  const topology = group && topologyInForce(group, soft);
  if (group?.topology === undefined || topology === undefined) return undefined;
  const required = requiredTopics(topology);
  const refreshDue = soft.refreshDue || required.some((name) => names.has(name));
  const { patterns } = soft;
  const searchDue = patterns.due || (hasPatterns(group.topology) && hasOther(names, required));
  if (refreshDue === soft.refreshDue && searchDue === patterns.due) return undefined;
  return { ...soft, refreshDue, patterns: { ...patterns, due: searchDue } };
}

function hasOther(names: ReadonlySet<string>, required: readonly string[]): boolean {
  const known = new Set(required);
  return [...names].some((name) => !known.has(name));
}
