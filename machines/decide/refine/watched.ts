import type { Watched } from '../../model/refinement.ts';
import { taskKey } from '../../model/task-list.ts';
import type { TaskOffset } from '../../model/tasks.ts';
import type { Mover } from './facts.ts';

/** What a refinement looks at of all that members report: the tasks that move, and everything of those they move to. */
export function watchedBy(movers: readonly Mover[]): Watched {
  return {
    tasks: new Set(movers.map(({ key }) => key)),
    members: new Set(movers.flatMap(({ owner }) => owner?.memberId ?? [])),
  };
}

/**
 * Whether a report can make a difference to a refinement. Of those in a large group few do while some task moves.
 *
 * @param lists offsets and ends, as they were and as they are.
 */
export function isWatched(
  { tasks, members }: Watched,
  memberId: string,
  lists: readonly (readonly TaskOffset[])[],
): boolean {
  if (tasks.size === 0) return false;
  if (members.has(memberId)) return true;
  return lists.some((list) =>
    list.some(({ subtopologyId, partition }) => tasks.has(taskKey(subtopologyId, partition))),
  );
}
