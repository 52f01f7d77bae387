import { onProcess, processOfPlace } from './copies.ts';
import { at, type Dense } from './dense.ts';
import { listByProcess } from './fan-out.ts';
import { type Run, STALE } from './run.ts';
import { forEachTask } from './task-order.ts';

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
  const processes = Array.from({ length: dense.size.processes }, (_, p) => p);
  const takers = processes.filter((p) => at(dense.count, run.members.least(p)) < STALE);
  const [first] = takers;
  if (first === undefined) return;
  // The least load never falls: whoever cannot give to it cannot give to anybody later.
  const lightest = takers.reduce(
    (least, p) => (afterTaking(dense, p, least) < 0 ? p : least),
    first,
  );
  for (let isMoving = true; isMoving; ) {
    const givers = processes.filter((p) => hasToGive(dense, p, lightest));
    if (givers.length === 0) return;
    listByProcess(dense, (visit) => {
      forEachTask(dense, 'stateful', (task) => {
        forEachSlot(dense, task, (slot) => {
          const process = processOfPlace(at(dense.standby, slot));
          if (process !== -1) visit(slot, process);
        });
      });
    });
    isMoving = false;
    for (const giver of givers) {
      for (const taker of takers) {
        if (give(dense, giver, taker)) isMoving = true;
      }
    }
  }
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

/** Below 0: the first process has less to do with one more task than the second one. */
function afterTaking({ procCount, procCapacity }: Dense, p: number, q: number): number {
  return (
    (at(procCount, p) + 1) * at(procCapacity, q) - (at(procCount, q) + 1) * at(procCapacity, p)
  );
}

function isOn(dense: Dense, task: number, process: number): boolean {
  const { active, procOf, standby } = dense;
  const owner = at(active, task);
  if (owner !== -1 && at(procOf, owner) === process) return true;
  let isHere = false;
  forEachSlot(dense, task, (slot) => {
    const place = at(standby, slot);
    if (place === -1) return;
    isHere ||= (place < -1 ? processOfPlace(place) : at(procOf, place)) === process;
  });
  return isHere;
}

function forEachSlot({ size }: Dense, task: number, visit: (slot: number) => void): void {
  for (let i = 0; i < size.slots; i++) visit(task * size.slots + i);
}
