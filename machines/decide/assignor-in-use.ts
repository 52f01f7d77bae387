import { assignorByState } from '../model/assignors.ts';
import type { Behaviour } from '../model/profile.ts';
import type { GroupSettings } from '../model/settings.ts';

/** What decides which assignor is used. */
export type AssignorChoice = Pick<GroupSettings, 'assignorName' | 'assignorSelected'>;

/**
 * The assignor that the next run of a group uses: the one selected for it, else the one that suits its topology, where the
 * profile chooses so.
 *
 * @param subtopologies of the group's topology; none where it has none yet.
 *
 * Source: KIP-1071, task assignors; assignors 0 (default choice), GE-7.
 */
export function assignorInUse(
  { assignorName, assignorSelected }: AssignorChoice,
  behaviour: Pick<Behaviour, 'assignorByState'>,
  subtopologies: readonly { readonly stateChangelogTopics: readonly unknown[] }[],
): string {
  if (assignorSelected || !behaviour.assignorByState) return assignorName;
  return assignorByState(subtopologies.some((each) => each.stateChangelogTopics.length > 0));
}
