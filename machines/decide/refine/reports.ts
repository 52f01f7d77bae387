import { isWithin, lagBetween, NOT_STARTED, offsetsByTask } from '../../model/lag.ts';
import type { Position } from '../../model/refinement.ts';
import { hasTask } from '../../model/task-list.ts';
import type { Facts } from './facts.ts';
import { copiesOn, type Mover, type RefinerMember, type Report } from './mover.ts';

function lagOf(report: Report | undefined): bigint | undefined {
  return report === undefined ? undefined : lagBetween(report.offset, report.end);
}

/** What is reported is known to be within the acceptable lag. */
export function isCaughtUp(facts: Facts, report: Report | undefined): boolean {
  return isWithin(lagOf(report), facts.acceptableRecoveryLag);
}

/** Something of the task was restored. */
export function hasStarted(report: Report | undefined): boolean {
  return report?.offset !== undefined && report.offset !== NOT_STARTED;
}

/**
 * The member that has the task as its active one processes it, rather than restoring it (WU-6).
 *
 * Clients leave a running task out of both lists, but its entry goes from the list of offsets only when that is sent
 * again, up to a task offset interval later, while the list of ends is news at once: an offset without an end is of
 * the past.
 */
export function isHot(facts: Facts, { holder, holderReport }: Mover): boolean {
  if (holder === undefined) return false;
  const restores = holderReport?.offset !== undefined && holderReport.end !== undefined;
  return !restores || isCaughtUp(facts, holderReport);
}

/**
 * Where a copy on a process is of which its member cannot tell how far it has to go: so it is for good where a changelog
 * of the task is empty, and at first with any. The time is that of the report.
 */
export function endlessCopyOn(mover: Mover, processId: string): Position | undefined {
  for (const { member, report } of copiesOn(mover, processId)) {
    if (report?.offset === undefined || report.offset === NOT_STARTED) continue;
    if (report.end === NOT_STARTED && member.reportedAtMs !== undefined) {
      return { offset: report.offset, atMs: member.reportedAtMs };
    }
  }
  return undefined;
}

/** The least lag of the copies on a process; undefined = unknown. */
export function leastLagOn(mover: Mover, processId: string): bigint | undefined {
  let least: bigint | undefined;
  for (const { report } of copiesOn(mover, processId)) {
    const lag = lagOf(report);
    if (lag !== undefined && (least === undefined || lag < least)) least = lag;
  }
  return least;
}

/** How much a member has left to restore of its active tasks; until it is 0, its warm-ups stand still. */
export function restoringLagOf(
  { restoringLags, acceptableRecoveryLag }: Facts,
  member: RefinerMember,
): bigint {
  if (member.taskEndOffsets.length === 0) return 0n;
  const known = restoringLags.get(member);
  if (known !== undefined) return known;
  const left = sumRestoringLags(member, acceptableRecoveryLag);
  restoringLags.set(member, left);
  return left;
}

/** How much a member has left to restore of its active tasks, those within the acceptable lag apart. */
export function sumRestoringLags(
  {
    assigned,
    taskOffsets,
    taskEndOffsets,
  }: Pick<RefinerMember, 'assigned' | 'taskOffsets' | 'taskEndOffsets'>,
  acceptableRecoveryLag: bigint,
): bigint {
  const isActive = (subtopologyId: string, partition: number) =>
    hasTask(assigned.active, subtopologyId, partition);
  const offsets = offsetsByTask(taskOffsets, isActive);
  let left = 0n;
  for (const [task, end] of offsetsByTask(taskEndOffsets, isActive)) {
    const offset = offsets.get(task);
    if (offset === undefined) continue;
    // A restoration that has not started has all of it left.
    const lag = lagBetween(offset, end) ?? (end === NOT_STARTED ? 0n : end);
    if (lag > acceptableRecoveryLag) left += lag;
  }
  return left;
}

/** A process that holds the task in no role has state of it on its disk (WU-6). */
export function isOnDisk(facts: Facts, mover: Mover, processId: string): boolean {
  if (mover.holder?.processId === processId || copiesOn(mover, processId).length > 0) return false;
  return facts.loads
    .process(processId)
    .members.some((member) => startedBy(facts, member).has(mover));
}

function startedBy({ started, moverOf }: Facts, member: RefinerMember): ReadonlySet<Mover> {
  const known = started.get(member);
  if (known !== undefined) return known;
  const movers = new Set<Mover>();
  for (const { subtopologyId, partition, offset } of member.taskOffsets) {
    const mover = offset === NOT_STARTED ? undefined : moverOf(subtopologyId, partition);
    if (mover !== undefined) movers.add(mover);
  }
  started.set(member, movers);
  return movers;
}
