import type { GroupView } from '../../actors/group-coordinator.ts';
import type { CellGroup } from './cell.ts';

/** The epochs that a group's problem is told with, as of the last commit; none of a group that is gone. */
export function epochsOf(
  view: GroupView | undefined,
): Pick<CellGroup, 'epoch' | 'assignmentEpoch'> {
  if (view === undefined) return {};
  const { groupEpoch: epoch, assignmentEpoch } = view.group;
  return { epoch, assignmentEpoch };
}
