import { onProcess, processOfPlace } from './copies.ts';
import { at, type Dense } from './dense.ts';
import { listStandbysByProcess } from './fan-out.ts';
import { type Run, STALE } from './run.ts';

/**
 * Moves standbys for which only the process is chosen to processes with less to do, as long as the one that gives has as much
 * to do without a task as the one that takes has with it. Where copies are to be spread by tags, a standby goes only to a
 * process with the same ones.
 *
 * Every move brings two loads nearer to each other, so it ends. As a rule there is none, which a look at each process shows.
 *
 * Source: assignors 6.2, step 2 (level).
 */
export function levelStandbys(run: Run): void {
  const { dense } = run;
  // The least load never falls: whoever cannot give to it cannot give to anybody later.
  const lightest = lightestTaker(run);
  if (lightest === -1) return;
  for (let isMoving = true; isMoving; ) {
    const givers = processesThat(dense, (p) => hasToGive(dense, p, lightest));
    if (givers.length === 0) return;
    listStandbysByProcess(dense);
    const takers = processesThat(dense, (p) => isTaker(run, p));
    isMoving = false;
    for (const giver of givers) {
      for (const taker of takers) {
        if (give(dense, giver, taker)) isMoving = true;
      }
    }
  }
}

/** Whether a process has a fresh member. */
function isTaker({ dense, members }: Run, process: number): boolean {
  return at(dense.count, members.least(process)) < STALE;
}

/** The taker that has the least to do with one task more; -1: there is none. */
function lightestTaker(run: Run): number {
  const { size, procCount, procCapacity } = run.dense;
  let lightest = -1;
  for (let p = 0; p < size.processes; p++) {
    const isLighter =
      lightest === -1 ||
      (at(procCount, p) + 1) * at(procCapacity, lightest) <
        (at(procCount, lightest) + 1) * at(procCapacity, p);
    if (isLighter && isTaker(run, p)) lightest = p;
  }
  return lightest;
}

function processesThat({ size }: Dense, is: (process: number) => boolean): readonly number[] {
  const found: number[] = [];
  for (let p = 0; p < size.processes; p++) if (is(p)) found.push(p);
  return found;
}

/** Gives what one process may give to another one; returns whether that is anything. */
function give(dense: Dense, giver: number, taker: number): boolean {
  const { size, standby, entry, entryStart, procCount, tagGroup } = dense;
  if (at(tagGroup, giver) !== at(tagGroup, taker)) return false;
  let hasGiven = false;
  for (let i = at(entryStart, giver); i < at(entryStart, giver + 1); i++) {
    if (!hasToGive(dense, giver, taker)) break;
    const slot = at(entry, i);
    // It may be given away already.
    if (processOfPlace(at(standby, slot)) !== giver) continue;
    if (isOn(dense, Math.floor(slot / size.slots), taker)) continue;
    standby[slot] = onProcess(taker);
    procCount[giver] = at(procCount, giver) - 1;
    procCount[taker] = at(procCount, taker) + 1;
    hasGiven = true;
  }
  return hasGiven;
}

/** Whether a process has as much to do without one task as another with one more. */
function hasToGive({ procCount, procCapacity }: Dense, giver: number, taker: number): boolean {
  const without = (at(procCount, giver) - 1) * at(procCapacity, taker);
  return without >= (at(procCount, taker) + 1) * at(procCapacity, giver);
}

function isOn(dense: Dense, task: number, process: number): boolean {
  const { size, active, procOf, standby } = dense;
  const owner = at(active, task);
  if (owner !== -1 && at(procOf, owner) === process) return true;
  for (let slot = task * size.slots; slot < (task + 1) * size.slots; slot++) {
    const place = at(standby, slot);
    if (place === -1) continue;
    if ((place < -1 ? processOfPlace(place) : at(procOf, place)) === process) return true;
  }
  return false;
}
