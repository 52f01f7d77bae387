import type { GroupSlot } from '../machines/decision.ts';
import type { TargetReport } from '../machines/model/look-back.ts';
import type { JournalEntry } from './ports.ts';

/** What the journal keeps of a decision: the group as it left it, and why. */
export function journalEntry(decided: {
  readonly groupId: string;
  /** Undefined: the decision removed all there was. */
  readonly slot: GroupSlot | undefined;
  readonly cause: string;
  readonly memberId: string | null;
  readonly because: readonly string[];
  readonly report: TargetReport | undefined;
  readonly nowMs: number;
}): JournalEntry {
  const { groupId, slot, cause, memberId, because, report, nowMs } = decided;
  return {
    groupId,
    atMs: nowMs,
    groupEpoch: slot?.group?.groupEpoch ?? 0,
    assignmentEpoch: slot?.group?.assignmentEpoch ?? 0,
    state: slot?.group?.state ?? 'Dead',
    cause,
    memberId,
    because,
    ...(report !== undefined && { report }),
  };
}
