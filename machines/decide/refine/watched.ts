import { isWithin, lagBetween } from '../../model/lag.ts';
import type { Watched, WatchedTasks } from '../../model/refinement.ts';
import { placeOfTask, taskKey } from '../../model/task-list.ts';
import type { Mover, RefinerMember, Report } from './mover.ts';
import { sumRestoringLags } from './reports.ts';

/** A member with what it reports. */
export type Reporter = Pick<
  RefinerMember,
  'memberId' | 'processId' | 'assigned' | 'taskOffsets' | 'taskEndOffsets' | 'reportsCopies'
>;

/**
 * What a refinement looks at of all that members report: the tasks that move, and those they move to.
 *
 * @param movers in the order of tasks.
 */
export function watchedBy(movers: readonly Mover[]): Watched {
  const tasks: WatchedTasks[] = [];
  const owners = new Set<string>();
  let partitions: number[] = [];
  let ownerProcessIds: (string | undefined)[] = [];
  for (const { subtopologyId, partition, owner } of movers) {
    if (tasks.at(-1)?.subtopologyId !== subtopologyId) {
      partitions = [];
      ownerProcessIds = [];
      tasks.push({ subtopologyId, partitions, ownerProcessIds });
    }
    partitions.push(partition);
    ownerProcessIds.push(owner?.processId);
    if (owner !== undefined) owners.add(owner.memberId);
  }
  return { tasks, owners };
}

/**
 * Whether a report can make a difference to a refinement. Of the reports in a large group few do, even where every task
 * moves:
 *
 * - how far a copy is matters where the task goes to its process, for there it is waited for;
 * - elsewhere it only matters whether it is caught up, and so could run the task meanwhile; and of the active task whether
 *   it runs, or is restored;
 * - a member that a task goes to may have more or less to restore before.
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
  const was = reportsOf(tasks, before);
  const is = reportsOf(tasks, after);
  for (const [some, others] of [
    [was, is],
    [is, was],
  ] as const) {
    for (const [task, report] of some) {
      if (report.ownerProcessId === after.processId) return true;
      const other = others.get(task);
      if (weigh(report, acceptableRecoveryLag) !== weigh(other, acceptableRecoveryLag)) return true;
    }
  }
  return false;
}

/** `ownerProcessId`: where the task goes. */
type WatchedReport = Report & { readonly ownerProcessId: string | undefined };
/** By task. */
type Reports = ReadonlyMap<string, WatchedReport>;

/** What a member reports of tasks that move. */
function reportsOf(
  tasks: readonly WatchedTasks[],
  { taskOffsets, taskEndOffsets }: Reporter,
): Reports {
  const reports = new Map<string, WatchedReport>();
  for (const what of ['offset', 'end'] as const) {
    for (const said of what === 'offset' ? taskOffsets : taskEndOffsets) {
      const { subtopologyId, partition, offset } = said;
      const place = placeOfTask(tasks, subtopologyId, partition);
      if (place === undefined) continue;
      const ownerProcessId = place.entry.ownerProcessIds[place.at];
      const task = taskKey(subtopologyId, partition);
      const known = reports.get(task) ?? { offset: undefined, end: undefined, ownerProcessId };
      reports.set(task, { ...known, [what]: offset });
    }
  }
  return reports;
}

/** What a report of a copy, or of the active task, says to whoever does not wait for it. */
function weigh(
  report: Report | undefined,
  acceptableRecoveryLag: bigint,
): 'caughtUp' | 'restores' | 'nothing' {
  if (report?.offset === undefined || report.end === undefined) return 'nothing';
  const lag = lagBetween(report.offset, report.end);
  return isWithin(lag, acceptableRecoveryLag) ? 'caughtUp' : 'restores';
}
