import {
  CANDIDATE_KINDS,
  type CandidateKind,
  candidatesFrom,
  candidatesTo,
  hasCandidates,
} from './candidates.ts';
import { at, type Dense, isSet } from './dense.ts';
import { listByProcess } from './fan-out.ts';
import { findReturnedProcesses, gatherOnDiskOfReturned } from './returned.ts';
import { noteLoose, placeActive, type Run, STALE } from './run.ts';
import { addToFew, areFewListed, isTaskOfKind, sortFew } from './task-order.ts';

/**
 * In step 1 of `sticky`: chooses which stateful actives leave the members that have more than their share. As far as
 * there is a choice those go whose state lies with somebody below the share, and they go there. It moves nothing that
 * evenness lets stay, so a member at or below its share keeps all it has; and who comes back after a restart gets tasks
 * whose state it still has.
 *
 * Members above the share are those for whom a negative number is planned; it says how many stateful actives they have, all
 * of them still placed with them and on no account.
 *
 * @returns whether anything was handed over; `planned` takes it into account.
 *
 * Source: assignors 3 (lower bound of moves, Q9), 6.1.
 */
export function handOver(run: Run): boolean {
  const { dense, statefulQuota } = run;
  const { size, facts } = dense;
  if (facts.held + facts.copies > 0) lookForReturned(run);
  if (facts.held === 0 || size.candidates === 0 || facts.stale === size.members) return false;
  const { floor } = statefulQuota;
  const above = countAbove(dense, floor);
  if (above === 0 || !findLacking(dense, floor)) return false;
  // Where to look for members of a process that are below the floor; they only become fewer.
  dense.procFirst.set(dense.procStart.subarray(0, size.processes));
  const giving: Giving = {
    run,
    floor,
    // So many may keep one more than the floor; who else is there goes down to it.
    toFloor: Math.max(0, above - statefulQuota.overFloor),
    isAnyGiven: false,
  };
  for (const kind of CANDIDATE_KINDS) {
    if (hasCandidates(dense, kind)) giveAway(giving, kind);
  }
  if (size.members > size.processes && run.returned.any && canGiveMore(giving)) {
    giveAwayOfSiblings(giving);
  }
  return giving.isAnyGiven;
}

function countAbove({ planned }: Dense, floor: number): number {
  let above = 0;
  for (let m = 0; m < planned.length; m++) if ((planned[m] as number) < -floor) above++;
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

/** Sums up what the members of each process hold, to find those that have come back. */
function lookForReturned(run: Run): void {
  const { facts, procOf, heldStateful, procHeld } = run.dense;
  procHeld.fill(0);
  for (let m = 0; facts.held > 0 && m < procOf.length; m++) {
    const process = procOf[m] as number;
    procHeld[process] = (procHeld[process] as number) + (heldStateful[m] as number);
  }
  findReturnedProcesses(run, procHeld);
}

type Giving = {
  readonly run: Run;
  readonly floor: number;
  /** How many of those who have one more than the floor have to give it away. */
  toFloor: number;
  isAnyGiven: boolean;
};

/** Members above their share give away tasks whose state lies with somebody below the floor. */
function giveAway(giving: Giving, kind: CandidateKind): void {
  const { run, floor } = giving;
  const { dense } = run;
  const taskCount = gatherOfLacking(dense, floor, kind);
  const tasks = sortFew(dense, taskCount, 'stateful');
  for (let i = 0; i < taskCount; i++) {
    const task = at(tasks, i);
    const holder = at(dense.prevActive, task);
    if (!mustGive(giving, holder)) continue;
    const receiver = findReceiver(dense, task, kind, floor);
    if (receiver === -1) continue;
    hasGiven(giving, holder);
    placeActive(run, task, receiver, 'stateful');
    noteLoose(run, task);
  }
}

/**
 * Whoever is still above its share has nothing that anybody below has state of. For a process that has come back a sibling
 * gives away such a task in its place, and takes one of its own: state belongs to a process, so it is left where it is.
 */
function giveAwayOfSiblings(giving: Giving): void {
  const { run, floor } = giving;
  const { dense } = run;
  const { prevActive, active, procOf, planned, entry, entryStart, procCursor } = dense;
  listOfReturned(dense);
  procCursor.set(entryStart.subarray(0, procCursor.length));
  const taskCount = gatherOfGivers(dense, floor);
  const tasks = sortFew(dense, taskCount, 'stateful');
  for (let i = 0; i < taskCount; i++) {
    const task = at(tasks, i);
    const holder = at(prevActive, task);
    if (at(active, task) !== holder || !mustGive(giving, holder)) continue;
    const process = at(procOf, holder);
    const end = at(entryStart, process + 1);
    let receiver = -1;
    let next = at(procCursor, process);
    // Who found no receiver finds none later: there are only fewer.
    for (; next < end && receiver === -1; next++) {
      if (at(active, at(entry, next)) !== at(prevActive, at(entry, next))) continue;
      receiver = findReturned(dense, at(entry, next), floor);
    }
    procCursor[process] = next;
    if (receiver === -1) continue;
    const given = at(entry, next - 1);
    const sibling = at(prevActive, given);
    // One that is on its sibling's account already makes room for the other.
    if (at(planned, sibling) >= 0) active[task] = sibling;
    else {
      placeActive(run, task, sibling, 'stateful');
      planned[sibling] = at(planned, sibling) + 1;
    }
    hasGiven(giving, holder);
    placeActive(run, given, receiver, 'stateful');
    noteLoose(run, task);
    noteLoose(run, given);
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
  const has = hasNow(run.dense, member);
  return has < STALE && (has > floor + 1 || (has > floor && toFloor > 0));
}

/** A member above the share has one task less. */
function hasGiven(giving: Giving, member: number): void {
  const { dense } = giving.run;
  if (hasNow(dense, member) === giving.floor + 1) giving.toFloor--;
  dense.planned[member] = at(dense.planned, member) + 1;
  giving.isAnyGiven = true;
}

/** How many stateful actives a member has, on its account and not; {@link STALE} and above if it is stale. */
function hasNow({ planned, count }: Dense, member: number): number {
  return at(count, member) - Math.min(0, at(planned, member));
}

/** Lists by process, in `entry`, the tasks that its members have now and that lie on the disk of one that has come back. */
function listOfReturned(dense: Dense): void {
  const { prevActive, count, few, procOf } = dense;
  const length = gatherOnDiskOfReturned(dense);
  few.subarray(0, length).sort();
  listByProcess(dense, (visit) => {
    for (let i = 0; i < length; i++) {
      const holder = at(prevActive, at(few, i));
      if (holder !== -1 && at(count, holder) < STALE) visit(at(few, i), at(procOf, holder));
    }
  });
}

/** Gathers in `few` the tasks of members above the floor; returns how many. */
function gatherOfGivers(dense: Dense, floor: number): number {
  const { planned, heldStart, heldTask, active, few } = dense;
  let length = 0;
  for (let m = 0; m < planned.length; m++) {
    if (at(planned, m) >= 0 || hasNow(dense, m) <= floor) continue;
    for (let i = at(heldStart, m); i < at(heldStart, m + 1); i++) {
      const task = at(heldTask, i);
      if (at(active, task) === m && isTaskOfKind(dense, task, 'stateful')) few[length++] = task;
    }
  }
  return length;
}

/** Gathers in `few` the tasks of givers that processes with a member below the floor are candidates of; returns how many. */
function gatherOfLacking(dense: Dense, floor: number, kind: CandidateKind): number {
  const { procOf, procLacks, candTask } = dense;
  const start = kind === 'copies' ? dense.copyStart : dense.diskStart;
  let entries = 0;
  for (let m = 0; m < procOf.length; m++) {
    if (procLacks[procOf[m] as number] === 1) entries += at(start, m + 1) - at(start, m);
  }
  if (entries === 0) return 0;
  if (!areFewListed(dense, entries)) return gatherOfMany(dense, floor, kind);
  let length = 0;
  for (let m = 0; m < procOf.length; m++) {
    if (procLacks[procOf[m] as number] === 0) continue;
    const end = start[m + 1] as number;
    for (let i = start[m] as number; i < end; i++) {
      const task = candTask[i] as number;
      if (!isOfGiver(dense, task, floor) || !isTaskOfKind(dense, task, 'stateful')) continue;
      length = addToFew(dense, task, length);
    }
  }
  return length;
}

function gatherOfMany(dense: Dense, floor: number, kind: CandidateKind): number {
  const { size, base, stateful, few } = dense;
  let length = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (isOfGiver(dense, task, floor) && isWithLacking(dense, task, kind)) few[length++] = task;
    }
  }
  return length;
}

/** Whether a task is still with somebody who has more than the floor. */
function isOfGiver(dense: Dense, task: number, floor: number): boolean {
  const holder = dense.prevActive[task] as number;
  if (holder === -1 || dense.active[task] !== holder) return false;
  return (dense.planned[holder] as number) < 0 && hasNow(dense, holder) > floor;
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
