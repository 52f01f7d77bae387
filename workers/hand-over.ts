import {
  CANDIDATE_KINDS,
  type CandidateKind,
  candidatesFrom,
  candidatesTo,
  hasCandidates,
} from './candidates.ts';
import { at, type Dense } from './dense.ts';
import { placeActive, type Run, STALE } from './run.ts';
import { dropPlaced, sortFew } from './task-order.ts';

/**
 * In step 1 of `sticky`: chooses which stateful actives leave the members that have more than their share. As far as
 * there is a choice those go whose state lies with somebody below the share, and they go there. It moves nothing that
 * evenness lets stay, so a member at or below its share keeps all it has; and who comes back after a restart gets tasks
 * whose state it still has.
 *
 * @param restLength how many tasks are in `rest`: all of members above the share are, and `planned` says how many, negated.
 * @returns how many are left in it.
 *
 * Source: assignors 3 (lower bound of moves, Q9), 6.1.
 */
export function handOver(run: Run, restLength: number): number {
  const { dense, statefulQuota } = run;
  const { size, facts, prevActive, planned, count } = dense;
  if (facts.held === 0 || size.candidates === 0 || facts.stale === size.members) return restLength;
  const { floor } = statefulQuota;
  let above = 0;
  for (let m = 0; m < size.members; m++) {
    if (at(planned, m) < -floor && at(count, m) < STALE) above++;
  }
  if (above === 0) return restLength;
  // Where to look for members of a process that are below the floor; they only become fewer.
  dense.procFirst.set(dense.procStart.subarray(0, size.processes));
  // So many may keep one more than the floor; who else is there goes down to it.
  let toFloor = Math.max(0, above - statefulQuota.overFloor);

  for (const kind of CANDIDATE_KINDS) {
    if (!hasCandidates(dense, kind)) continue;
    const taskCount = gatherMovable(dense, restLength, floor, kind);
    const tasks = sortFew(dense, taskCount, 'stateful');
    for (let i = 0; i < taskCount; i++) {
      const task = at(tasks, i);
      const holder = at(prevActive, task);
      const has = -at(planned, holder);
      if (has <= floor || (has === floor + 1 && toFloor === 0)) continue;
      const receiver = findReceiver(dense, task, kind, floor);
      if (receiver === -1) continue;
      if (has === floor + 1) toFloor--;
      planned[holder] = 1 - has;
      placeActive(run, task, receiver, 'stateful');
    }
  }
  return dropPlaced(dense, restLength);
}

/** Gathers in `few` the tasks of members above the floor that have candidates of a kind; returns how many. */
function gatherMovable(
  dense: Dense,
  restLength: number,
  floor: number,
  kind: CandidateKind,
): number {
  const { rest, active, prevActive, planned, count, few } = dense;
  let filled = 0;
  for (let i = 0; i < restLength; i++) {
    const task = at(rest, i);
    const holder = at(prevActive, task);
    if (holder === -1 || at(active, task) !== -1) continue;
    if (-at(planned, holder) <= floor || at(count, holder) >= STALE) continue;
    if (candidatesFrom(dense, task, kind) < candidatesTo(dense, task, kind)) few[filled++] = task;
  }
  return filled;
}

/** The first candidate that is below the floor, or whose process has a member that is. */
function findReceiver(dense: Dense, task: number, kind: CandidateKind, floor: number): number {
  const { candMember, procOf, procStart, procMember, procFirst } = dense;
  const end = candidatesTo(dense, task, kind);
  for (let c = candidatesFrom(dense, task, kind); c < end; c++) {
    const member = candMember[c] as number;
    const process = procOf[member] as number;
    const siblingsEnd = procStart[process + 1] as number;
    let i = procFirst[process] as number;
    while (i < siblingsEnd && !isBelow(dense, at(procMember, i), floor)) i++;
    procFirst[process] = i;
    if (i < siblingsEnd) return isBelow(dense, member, floor) ? member : at(procMember, i);
  }
  return -1;
}

/** Who is above the share has none of its tasks on its account yet, but will not get below the floor. */
function isBelow({ planned, count }: Dense, member: number, floor: number): boolean {
  return (planned[member] as number) >= 0 && (count[member] as number) < floor;
}
