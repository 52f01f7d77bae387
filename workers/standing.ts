import { at, type Dense, isSet } from './dense.ts';
import { LAND, LEAVE } from './reason-codes.ts';
import type { Tally } from './tally.ts';

/** How members stand to their even shares, as halves of reason codes; 0: their counts say nothing. By member. */
export type Standing = {
  /** Why a task with state leaves. */
  readonly statefulLeaves: Uint8Array;
  /** Why a task without state leaves. */
  readonly statelessLeaves: Uint8Array;
  /** It has its share of actives without one more; of tasks in both roles. */
  readonly fullOfActives: Uint8Array;
  readonly fullOfTasks: Uint8Array;
  /** It would have less than its share without one of them. */
  readonly hasRoomForStateful: Uint8Array;
  readonly hasRoomForActive: Uint8Array;
  readonly hasRoomForStandby: Uint8Array;
};

export function standingOf(dense: Dense, tally: Tally): Standing {
  const { size, frozen, procOf, activeStart, standbyStart } = dense;
  const { heldActive, heldStateful, hasActive, hasStateful, statefulTasks, procSharers } = tally;
  const flags = (): Uint8Array => new Uint8Array(size.members);
  const standing: Standing = {
    statefulLeaves: flags(),
    statelessLeaves: flags(),
    fullOfActives: flags(),
    fullOfTasks: flags(),
    hasRoomForStateful: flags(),
    hasRoomForActive: flags(),
    hasRoomForStandby: flags(),
  };
  const procActive = new Int32Array(size.processes);
  const procStateful = new Int32Array(size.processes);
  for (let m = 0; m < size.members; m++) {
    const process = at(procOf, m);
    procActive[process] = at(procActive, process) + at(heldActive, m);
    procStateful[process] = at(procStateful, process) + at(heldStateful, m);
  }
  const share = (tasks: number, members: number): number => (tasks * members) / tally.sharers;
  const statefulShare = share(statefulTasks, 1);
  const activeShare = share(size.tasks, 1);
  const taskShare = share(at(activeStart, size.members) + at(standbyStart, size.members), 1);
  for (let m = 0; m < size.members; m++) {
    const process = at(procOf, m);
    const members = at(procSharers, process);
    const isStale = isSet(frozen, m);
    const ofActives = isStale
      ? LEAVE.staleOwner
      : isAbove(at(heldActive, m), activeShare)
        ? LEAVE.aboveShare
        : isAbove(at(procActive, process), share(size.tasks, members))
          ? LEAVE.processAboveShare
          : 0;
    standing.statelessLeaves[m] = ofActives;
    standing.statefulLeaves[m] = isStale
      ? LEAVE.staleOwner
      : isAbove(at(heldStateful, m), statefulShare)
        ? LEAVE.aboveStatefulShare
        : ofActives === 0 && isAbove(at(procStateful, process), share(statefulTasks, members))
          ? LEAVE.processAboveShare
          : ofActives;
    const actives = at(hasActive, m);
    const tasks = actives + at(standbyStart, m + 1) - at(standbyStart, m);
    standing.fullOfActives[m] = actives + 1 > activeShare ? LEAVE.ownerFull : 0;
    standing.fullOfTasks[m] = tasks + 1 > taskShare ? LEAVE.holderFull : 0;
    standing.hasRoomForStateful[m] = at(hasStateful, m) - 1 < statefulShare ? LAND.belowShare : 0;
    standing.hasRoomForActive[m] = actives - 1 < activeShare ? LAND.belowShare : 0;
    standing.hasRoomForStandby[m] = tasks - 1 < taskShare ? LAND.belowShare : 0;
  }
  return standing;
}

/** One task alone is above nobody's share. */
export function isAbove(held: number, share: number): boolean {
  return held > Math.max(1, share);
}
