import type { Watched } from '../../model/refinement.ts';
import { appendTask, hasTask, type OpenTaskList } from '../../model/task-list.ts';
import type { Mover, RefinerMember } from './mover.ts';
import { sumRestoringLags } from './reports.ts';

/** A member with what it reports. */
export type Reporter = Pick<
  RefinerMember,
  'memberId' | 'assigned' | 'taskOffsets' | 'taskEndOffsets' | 'reportsCopies'
>;

/**
 * What a refinement looks at of all that members report: the tasks that move, and those they move to.
 *
 * @param movers in the order of tasks.
 */
export function watchedBy(movers: readonly Mover[]): Watched {
  const tasks: OpenTaskList = [];
  const owners = new Set<string>();
  for (const { subtopologyId, partition, owner } of movers) {
    appendTask(tasks, subtopologyId, partition);
    if (owner !== undefined) owners.add(owner.memberId);
  }
  return { tasks, owners };
}

/**
 * Whether a report can make a difference to a refinement: it is about a task that moves, or a member that a task moves to
 * has more or less to restore before. Of the reports in a large group few do.
 *
 * @param before the member with what it reported before; it has the same tasks now.
 */
export function makesDifference(
  { tasks, owners }: Watched,
  before: Reporter,
  after: Reporter,
  acceptableRecoveryLag: bigint,
): boolean {
  if (owners.has(after.memberId)) {
    if (before.reportsCopies !== after.reportsCopies) return true;
    const [was, is] = [before, after].map((one) => sumRestoringLags(one, acceptableRecoveryLag));
    if (was !== is) return true;
  }
  return [before, after].some(({ taskOffsets, taskEndOffsets }) =>
    [taskOffsets, taskEndOffsets].some((list) =>
      list.some(({ subtopologyId, partition }) => hasTask(tasks, subtopologyId, partition)),
    ),
  );
}
