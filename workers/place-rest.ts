import { at, type Dense, isSet } from './dense.ts';
import { Rounds } from './rounds.ts';
import { leastLoadedProcesses, type Run } from './run.ts';

/**
 * Gives tasks the standbys that are missing yet, in descending (subtopology, partition) order, each to the least loaded process
 * that does not hold the task; without regard to the quota, as H5 demands. Where nobody has room a copy stays where it is, or
 * it would go to and fro between runs (P4).
 *
 * Source: assignors 6.1 (standby pass).
 */
export function placeRest(run: Run): void {
  const { dense, members } = run;
  const { size, base, active, procOf, standby, standbyCount, marks, count, procCount } = dense;
  const { slots } = size;
  const leastLoaded = leastLoadedProcesses(run, 'stateful');
  const bin = leastLoaded.onlyBin;
  const processes = bin ?? leastLoaded;
  let rounds =
    slots === 1 && bin !== undefined ? new Rounds(bin, leastLoaded.round, procCount) : undefined;
  for (let s = size.subtopologies - 1; s >= 0; s--) {
    if (!isSet(dense.stateful, s)) continue;
    const from = at(base, s);
    for (let task = at(base, s + 1) - 1; task >= from; task--) {
      const placed = standbyCount[task] as number;
      if (placed === slots) continue;
      const first = task * slots;
      const owner = active[task] as number;
      const ownerProcess = owner === -1 ? -1 : (procOf[owner] as number);
      if (rounds !== undefined) {
        const process = rounds.nextBut(ownerProcess);
        if (process !== -1) {
          const member = members.least(process);
          if ((count[member] as number) < run.totalQuota.limit) {
            standby[first] = member;
            count[member] = (count[member] as number) + 1;
            procCount[process] = (procCount[process] as number) + 1;
            continue;
          }
          // From here on it is where copies are that counts.
          rounds.breakOff();
          rounds = undefined;
        }
      }
      if (owner !== -1) marks[ownerProcess] = task;
      for (let i = 0; i < placed; i++) marks[procOf[standby[first + i] as number] as number] = task;
      for (let i = placed; i < slots; i++) {
        const least = processes.firstUnmarked(task);
        if (least === -1) break;
        let member = members.least(least);
        // Above the quota anyway: then where a copy is.
        if (at(count, member) >= run.totalQuota.limit) member = holderOfCopy(dense, task, member);
        const process = at(procOf, member);
        standby[first + i] = member;
        if (i + 1 < slots) marks[process] = task;
        count[member] = (count[member] as number) + 1;
        procCount[process] = (procCount[process] as number) + 1;
      }
    }
  }
}

/** The first fresh member with a copy of the task whose process does not hold it yet, or else the one given. */
function holderOfCopy(dense: Dense, task: number, otherwise: number): number {
  const { candStart, candDisk, candMember, frozen, procOf, marks } = dense;
  for (let c = at(candStart, task); c < at(candDisk, task); c++) {
    const member = at(candMember, c);
    if (!isSet(frozen, member) && at(marks, at(procOf, member)) !== task) return member;
  }
  return otherwise;
}
