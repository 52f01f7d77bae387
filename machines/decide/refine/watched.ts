import { isWithin, lagBetween } from '../../model/lag.ts';
import { NONE, type RefinerMember, type Survey } from '../../model/survey.ts';
import { sumRestoringLags } from './reports.ts';
import { moverOf } from './survey.ts';

/** A member with what it reports. */
export type Reporter = Pick<
  RefinerMember,
  'processId' | 'assigned' | 'target' | 'taskOffsets' | 'taskEndOffsets' | 'reportsCopies'
>;

/**
 * Whether a report can make a difference to a refinement. Of the reports in a large group few do, even where every task
 * moves:
 *
 * - how far a copy is matters where the task goes to its process, for there it is waited for;
 * - elsewhere it only matters whether it is caught up, and so could run the task meanwhile; and of the active task whether
 *   it runs, or is restored;
 * - a member that a task goes to may have more or less to restore before.
 *
 * @param survey of the refinement.
 * @param before the member with what it reported before; it has the same tasks now.
 */
export function makesDifference(
  survey: Survey,
  before: Reporter,
  after: Reporter,
  acceptableRecoveryLag: bigint,
): boolean {
  if (isOwner(survey, after)) {
    if (before.reportsCopies !== after.reportsCopies) return true;
    const was = sumRestoringLags(before, acceptableRecoveryLag);
    if (was !== sumRestoringLags(after, acceptableRecoveryLag)) return true;
  }
  const was = reportsOf(survey, before);
  const is = reportsOf(survey, after);
  return differ(was, is) || differ(is, was);

  /** A report is waited for, or says something else than what the other says of its task. */
  function differ(some: Reports, others: Reports): boolean {
    for (const [mover, report] of some) {
      if (ownerProcessOf(survey, mover) === after.processId) return true;
      const other = others.get(mover);
      if (weigh(report, acceptableRecoveryLag) !== weigh(other, acceptableRecoveryLag)) return true;
    }
    return false;
  }
}

/** A task that moves is to be the member's. */
function isOwner(survey: Survey, { target }: Reporter): boolean {
  const isMoving = (subtopologyId: string, partition: number): boolean =>
    moverOf(survey, subtopologyId, partition) !== NONE;
  return target.active.some(({ subtopologyId, partitions }) =>
    partitions.some((partition) => isMoving(subtopologyId, partition)),
  );
}

/** What a member last said of a task. */
type Report = { offset: bigint | undefined; end: bigint | undefined };
/** By mover. */
type Reports = ReadonlyMap<number, Readonly<Report>>;

/** What a member reports of tasks that move. */
function reportsOf(survey: Survey, { taskOffsets, taskEndOffsets }: Reporter): Reports {
  const reports = new Map<number, Report>();
  for (const { subtopologyId, partition, offset } of taskOffsets) {
    const mover = moverOf(survey, subtopologyId, partition);
    if (mover !== NONE) reports.set(mover, { offset, end: undefined });
  }
  for (const { subtopologyId, partition, offset: end } of taskEndOffsets) {
    const mover = moverOf(survey, subtopologyId, partition);
    if (mover === NONE) continue;
    const report = reports.get(mover);
    if (report === undefined) reports.set(mover, { offset: undefined, end });
    else report.end = end;
  }
  return reports;
}

/** Undefined: nobody in the group is to have it. */
function ownerProcessOf({ owners, members }: Survey, mover: number): string | undefined {
  const owner = owners[mover] ?? NONE;
  return owner === NONE ? undefined : members[owner]?.processId;
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
