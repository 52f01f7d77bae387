import type { GroupView } from '../../actors/group-coordinator.ts';
import type { CellAbout } from './cell-text.ts';

/** What a group's problem is told with, as of the last commit: its epochs and targets; nothing of a group that is gone. */
export function aboutGroup(view: GroupView | undefined): CellAbout {
  if (view === undefined) return {};
  const { groupEpoch, assignmentEpoch, targets } = view.group;
  return { epoch: groupEpoch, assignmentEpoch, targetOf: (memberId) => targets.get(memberId) };
}
