import type { Holders } from './model/group.ts';
import type { Member } from './model/member.ts';
import type { PersistentMap } from './model/persistent-map.ts';
import { forEachTask, taskKey } from './model/task-list.ts';
import type { HeldTasks, TaskList } from './model/tasks.ts';

/** How much a member and its process hold: assigned and pending revocation alike. */
type Holding = Pick<Member, 'processId' | 'assigned' | 'pendingRevocation'>;

/**
 * The holders after one member changed from `before` to `after`; undefined = it is not there.
 *
 * A release takes an active task from its holder only if the map still names that process, and of two claims
 * the later wins, so that records in any order give a result and never a failure (RP-7, LOG-7).
 */
export function moveHoldings(
  holders: Holders,
  before: Holding | undefined,
  after: Holding | undefined,
): Holders {
  if (
    before?.processId === after?.processId &&
    before?.assigned === after?.assigned &&
    before?.pendingRevocation === after?.pendingRevocation
  ) {
    return holders;
  }
  let { active, standby, warmup } = holders;
  if (before !== undefined) {
    for (const tasks of parts(before)) {
      active = release(active, tasks.active, before.processId);
      standby = count(standby, tasks.standby, before.processId, -1);
      warmup = count(warmup, tasks.warmup, before.processId, -1);
    }
  }
  if (after !== undefined) {
    for (const tasks of parts(after)) {
      active = claim(active, tasks.active, after.processId);
      standby = count(standby, tasks.standby, after.processId, 1);
      warmup = count(warmup, tasks.warmup, after.processId, 1);
    }
  }
  return { active, standby, warmup };
}

function parts(holding: Holding): readonly HeldTasks[] {
  return [holding.assigned, holding.pendingRevocation];
}

function claim(
  map: PersistentMap<string>,
  tasks: TaskList,
  processId: string,
): PersistentMap<string> {
  let next = map;
  forEachTask(tasks, (subtopologyId, partition) => {
    next = next.set(taskKey(subtopologyId, partition), processId);
  });
  return next;
}

function release(
  map: PersistentMap<string>,
  tasks: TaskList,
  processId: string,
): PersistentMap<string> {
  let next = map;
  forEachTask(tasks, (subtopologyId, partition) => {
    const key = taskKey(subtopologyId, partition);
    if (next.get(key) === processId) next = next.delete(key);
  });
  return next;
}

function count(
  map: PersistentMap<ReadonlyMap<string, number>>,
  tasks: TaskList,
  processId: string,
  by: 1 | -1,
): PersistentMap<ReadonlyMap<string, number>> {
  let next = map;
  forEachTask(tasks, (subtopologyId, partition) => {
    const key = taskKey(subtopologyId, partition);
    const processes = new Map(next.get(key));
    const members = (processes.get(processId) ?? 0) + by;
    if (members > 0) processes.set(processId, members);
    else processes.delete(processId);
    next = processes.size > 0 ? next.set(key, processes) : next.delete(key);
  });
  return next;
}
