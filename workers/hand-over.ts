import {
  CANDIDATE_KINDS,
  type CandidateKind,
  candidatesFrom,
  candidatesTo,
  hasCandidates,
} from './candidates.ts';
import { at, type Dense, isSet } from './dense.ts';
import { listByProcess } from './fan-out.ts';
import { findReturnedProcesses, isOnDiskOfReturned } from './returned.ts';
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
  const { size, facts } = dense;
  if (facts.held + facts.copies > 0) lookForReturned(run);
  if (facts.held === 0 || size.candidates === 0 || facts.stale === size.members) return restLength;
  const { floor } = statefulQuota;
  const above = countAbove(dense, floor);
  if (above === 0 || !findLacking(dense, floor)) return restLength;
  // Where to look for members of a process that are below the floor; they only become fewer.
  dense.procFirst.set(dense.procStart.subarray(0, size.processes));
  const giving: Giving = {
    run,
    restLength,
    floor,
    // So many may keep one more than the floor; who else is there goes down to it.
    toFloor: Math.max(0, above - statefulQuota.overFloor),
  };
  for (const kind of CANDIDATE_KINDS) {
    if (hasCandidates(dense, kind)) giveAway(giving, kind);
  }
  if (size.members > size.processes && run.returned.any && canGiveMore(giving)) {
    giveAwayOfSiblings(giving);
  }
  return dropPlaced(dense, restLength);
}

function countAbove({ planned, count }: Dense, floor: number): number {
  let above = 0;
  for (let m = 0; m < planned.length; m++) {
    if ((planned[m] as number) < -floor && (count[m] as number) < STALE) above++;
  }
  return above;
}

/** Marks in `procLacks` the processes that have a member below the floor; says whether there are any. */
function findLacking(dense: Dense, floor: number): boolean {
  const { size, procOf, procLacks } = dense;
  let isAny = false;
  procLacks.fill(0);
  for (let m = 0; m < size.members; m++) {
    if (!isBelow(dense, m, floor)) continue;
    procLacks[procOf[m] as number] = 1;
    isAny = true;
  }
  return isAny;
}

/** Sums up what is planned for the members of each process, to find those that have come back. */
function lookForReturned(run: Run): void {
  const { facts, procOf, planned, procHeld } = run.dense;
  procHeld.fill(0);
  for (let m = 0; facts.held > 0 && m < planned.length; m++) {
    const process = procOf[m] as number;
    procHeld[process] = (procHeld[process] as number) + Math.abs(planned[m] as number);
  }
  findReturnedProcesses(run, procHeld);
}

type Giving = {
  readonly run: Run;
  readonly restLength: number;
  readonly floor: number;
  /** How many of those who have one more than the floor have to give it away. */
  toFloor: number;
};

/** Members above their share give away tasks whose state lies with somebody below the floor. */
function giveAway(giving: Giving, kind: CandidateKind): void {
  const { run, restLength, floor } = giving;
  const { dense } = run;
  const taskCount = gatherOfGivers(dense, restLength, floor, kind);
  const tasks = sortFew(dense, taskCount, 'stateful');
  for (let i = 0; i < taskCount; i++) {
    const task = at(tasks, i);
    const holder = at(dense.prevActive, task);
    if (!mustGive(giving, holder)) continue;
    const receiver = findReceiver(dense, task, kind, floor);
    if (receiver === -1) continue;
    hasGiven(giving, holder);
    placeActive(run, task, receiver, 'stateful');
  }
}

/**
 * Whoever is still above its share has nothing that anybody below has state of. For a process that has come back a sibling
 * gives away such a task in its place, and takes one of its own: state belongs to a process, so it is left where it is.
 */
function giveAwayOfSiblings(giving: Giving): void {
  const { run, restLength, floor } = giving;
  const { dense } = run;
  const { prevActive, active, procOf, entry, entryStart, procCursor } = dense;
  listOfReturned(dense);
  procCursor.set(entryStart.subarray(0, procCursor.length));
  const taskCount = gatherOfGivers(dense, restLength, floor);
  const tasks = sortFew(dense, taskCount, 'stateful');
  for (let i = 0; i < taskCount; i++) {
    const task = at(tasks, i);
    const holder = at(prevActive, task);
    if (at(active, task) !== -1 || !mustGive(giving, holder)) continue;
    const process = at(procOf, holder);
    const end = at(entryStart, process + 1);
    let receiver = -1;
    let next = at(procCursor, process);
    // Who found no receiver finds none later: there are only fewer.
    for (; next < end && receiver === -1; next++) {
      const owner = at(active, at(entry, next));
      if (owner !== -1 && owner !== at(prevActive, at(entry, next))) continue;
      receiver = findReturned(dense, at(entry, next), floor);
    }
    procCursor[process] = next;
    if (receiver === -1) continue;
    const given = at(entry, next - 1);
    const sibling = at(prevActive, given);
    // One that is on its sibling's account already makes room for the other.
    if (at(active, given) === sibling) active[task] = sibling;
    else placeActive(run, task, sibling, 'stateful');
    hasGiven(giving, holder);
    placeActive(run, given, receiver, 'stateful');
  }
}

/** Whether somebody still has to give, and somebody is below the floor. */
function canGiveMore(giving: Giving): boolean {
  const { dense } = giving.run;
  let isAbove = false;
  let isAnyBelow = false;
  for (let m = 0; m < dense.size.members; m++) {
    if (mustGive(giving, m)) isAbove = true;
    if (isBelow(dense, m, giving.floor)) isAnyBelow = true;
  }
  return isAbove && isAnyBelow;
}

function mustGive({ run, floor, toFloor }: Giving, member: number): boolean {
  const has = -at(run.dense.planned, member);
  if (has <= floor || at(run.dense.count, member) >= STALE) return false;
  return has > floor + 1 || toFloor > 0;
}

/** A member has one task less. */
function hasGiven(giving: Giving, member: number): void {
  const { planned } = giving.run.dense;
  if (-at(planned, member) === giving.floor + 1) giving.toFloor--;
  planned[member] = at(planned, member) + 1;
}

/** Lists by process, in `entry`, the tasks that its members have now and that lie on the disk of one that has come back. */
function listOfReturned(dense: Dense): void {
  const { size, prevActive, count, few, procOf } = dense;
  let length = 0;
  for (let task = 0; task < size.tasks; task++) {
    if (isOnDiskOfReturned(dense, task)) few[length++] = task;
  }
  listByProcess(dense, (visit) => {
    for (let i = 0; i < length; i++) {
      const holder = at(prevActive, at(few, i));
      if (holder !== -1 && at(count, holder) < STALE) visit(at(few, i), at(procOf, holder));
    }
  });
}

/**
 * Gathers in `few` the tasks of members above the floor; with a kind of candidates, those that have one with a process that
 * has a member below it.
 *
 * @returns how many.
 */
function gatherOfGivers(
  dense: Dense,
  restLength: number,
  floor: number,
  kind?: CandidateKind,
): number {
  const { rest, active, prevActive, planned, count, few } = dense;
  let filled = 0;
  for (let i = 0; i < restLength; i++) {
    const task = rest[i] as number;
    if (kind !== undefined && !isWithLacking(dense, task, kind)) continue;
    const holder = prevActive[task] as number;
    if (holder === -1 || active[task] !== -1) continue;
    if (-(planned[holder] as number) <= floor || (count[holder] as number) >= STALE) continue;
    few[filled++] = task;
  }
  return filled;
}

function isWithLacking(dense: Dense, task: number, kind: CandidateKind): boolean {
  const { candMember, procOf, procLacks } = dense;
  const end = candidatesTo(dense, task, kind);
  for (let c = candidatesFrom(dense, task, kind); c < end; c++) {
    if (procLacks[procOf[candMember[c] as number] as number] === 1) return true;
  }
  return false;
}

/** The first candidate that is below the floor, or whose process has a member that is. */
function findReceiver(dense: Dense, task: number, kind: CandidateKind, floor: number): number {
  const { candMember } = dense;
  const end = candidatesTo(dense, task, kind);
  for (let c = candidatesFrom(dense, task, kind); c < end; c++) {
    const receiver = receiverOn(dense, candMember[c] as number, floor);
    if (receiver !== -1) return receiver;
  }
  return -1;
}

/** The member if it is below the floor, else the first of its process that is, or -1. */
function receiverOn(dense: Dense, member: number, floor: number): number {
  const { procOf, procStart, procMember, procFirst } = dense;
  const process = procOf[member] as number;
  const end = procStart[process + 1] as number;
  let i = procFirst[process] as number;
  while (i < end && !isBelow(dense, at(procMember, i), floor)) i++;
  procFirst[process] = i;
  if (i === end) return -1;
  return isBelow(dense, member, floor) ? member : at(procMember, i);
}

/** As {@link findReceiver}, of processes that have come back and have the task on disk. */
function findReturned(dense: Dense, task: number, floor: number): number {
  const { candMember, procOf, procReturned } = dense;
  const end = candidatesTo(dense, task, 'disk');
  for (let c = candidatesFrom(dense, task, 'disk'); c < end; c++) {
    const member = at(candMember, c);
    if (!isSet(procReturned, at(procOf, member))) continue;
    const receiver = receiverOn(dense, member, floor);
    if (receiver !== -1) return receiver;
  }
  return -1;
}

/** Who is above the share has none of its tasks on its account yet, but will not get below the floor. */
function isBelow({ planned, count }: Dense, member: number, floor: number): boolean {
  return (planned[member] as number) >= 0 && (count[member] as number) < floor;
}
