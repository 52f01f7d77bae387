import { keepStaleStandbys, listHolders, markHolders, onProcess } from './copies.ts';
import { at, type Dense } from './dense.ts';
import { fanOutActives, fanOutStandbys } from './fan-out.ts';
import { levelStandbys } from './level-standbys.ts';
import { ManyGroups } from './many-groups.ts';
import { listAll } from './member-lists.ts';
import { NO_NEW_VALUE, pickForDiversity } from './racks.ts';
import { leastLoadedBy, type Run, startRun } from './run.ts';
import { forEachTask, type TaskKind } from './task-order.ts';

/**
 * The balanced assignor: tasks are dealt over the processes in their order, whoever holds them; only inside a process do
 * they stay with their member. Every task goes to the process with the least to do at that moment, which deals evenly
 * over equal processes and by their members over unequal ones. Of standbys something may be left to level: the last ones
 * may find that the process with the least to do has the task.
 *
 * Fills the result arrays of `dense`, whatever stood in them and in the scratch.
 *
 * Source: assignors 6.2, 2.1.
 */
export function assignBalanced(dense: Dense): void {
  const run = startRun(dense);
  dense.taskProc.fill(-1);
  dense.procActive.set(dense.procCount);
  dealActives(run, 'stateful');
  fanOutActives(run, 'stateful', { stays: true, even: false });
  if (dense.size.slots > 0) {
    placeStandbys(run);
    levelStandbys(run);
    fanOutStandbys(run);
  }
  dealActives(run, 'stateless');
  fanOutActives(run, 'stateless', { stays: false, even: false });
  listAll(dense);
}

/** By the least load of actives. */
function dealActives(run: Run, kind: TaskKind): void {
  const { dense } = run;
  const { active, taskProc, procActive, procCount } = dense;
  const processes = leastLoadedBy(run, procActive);
  forEachTask(dense, kind, (task) => {
    const process = at(active, task) === -1 ? processes.first() : -1;
    // -1 where nobody is fresh.
    if (process === -1) return;
    taskProc[task] = process;
    procActive[process] = at(procActive, process) + 1;
    procCount[process] = at(procCount, process) + 1;
  });
}

/** What stale members keep, then what racks ask for, then the least load of all tasks. */
function placeStandbys(run: Run): void {
  const { dense, members } = run;
  const { size, facts, procCount, groupRoom, standbyCount } = dense;
  if (facts.stale > 0) keepStaleStandbys(run);
  if (size.tagKeys > 0) {
    groupRoom.fill(NO_LIMIT);
    const processes = leastLoadedBy(run, procCount, dense.tagGroup);
    const many = ManyGroups.where(run, (group, scratch) =>
      leastLoadedBy(run, procCount, group, scratch),
    );
    forEachTask(dense, 'stateful', (task) => {
      markHolders(dense, task);
      for (let key = 0; key < size.tagKeys && at(standbyCount, task) < size.slots; ) {
        const held = listHolders(dense, task);
        const pass = { dense, task, held, limit: NO_LIMIT, members, processes, many };
        const member = pickForDiversity(pass, key, 'ignored');
        if (member === NO_NEW_VALUE) key++;
        else placeCopy(dense, task, at(dense.procOf, member));
      }
    });
  }
  const processes = leastLoadedBy(run, procCount);
  forEachTask(dense, 'stateful', (task) => {
    markHolders(dense, task);
    while (at(standbyCount, task) < size.slots) {
      const process = processes.firstUnmarked(task);
      if (process === -1) return;
      placeCopy(dense, task, process);
    }
  });
}

/** Above every count, also that of a stale member. */
const NO_LIMIT = 2 ** 30;

function placeCopy(dense: Dense, task: number, process: number): void {
  const { size, standby, standbyCount, marks, procCount } = dense;
  const placed = at(standbyCount, task);
  standby[task * size.slots + placed] = onProcess(process);
  standbyCount[task] = placed + 1;
  marks[process] = task;
  procCount[process] = at(procCount, process) + 1;
}
