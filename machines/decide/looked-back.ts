import type { GroupSlot } from '../decision.ts';
import type { AssignmentFigures, Untold } from '../model/look-back.ts';
import type { GroupSoft } from '../model/soft.ts';

/** The figures of a target that was installed a moment ago. */
export type LookedBack = Pick<Untold, 'incarnation' | 'group'> & {
  readonly figures: AssignmentFigures;
};

/**
 * Keeps the figures of the target in force.
 *
 * @returns the soft state with them; undefined when the target is another one by now. The time of a target tells it from
 *   others: its epoch moves on with warm-ups.
 */
export function lookedBack(
  slot: GroupSlot | undefined,
  { incarnation, group, figures }: LookedBack,
): GroupSoft | undefined {
  if (slot?.group === undefined || slot.soft.incarnation !== incarnation) return undefined;
  if (slot.group.assignmentTimestampMs !== group.assignmentTimestampMs) return undefined;
  return { ...slot.soft, targetFigures: figures };
}
