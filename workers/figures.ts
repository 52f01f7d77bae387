import { type AssignmentFigures, FIGURES } from '../machines/model/look-back.ts';
import { at, type Dense, isSet } from './dense.ts';
import type { Tally } from './tally.ts';

type FigureName = (typeof FIGURES)[number];

/** The places of the figures in `dense.figures`; behind them there is one per tag. */
const PLACE = Object.fromEntries(FIGURES.map((name, place) => [name, place])) as Readonly<
  Record<FigureName, number>
>;

/**
 * Takes the measures of a run that is over, into `dense.figures`. One pass over tasks and candidates.
 *
 * Source: assignors 3.
 */
export function takeFigures(dense: Dense, tally: Tally): void {
  const { figures, size, activeStart } = dense;
  figures.fill(0);
  figures[PLACE.tasks] = size.tasks;
  figures[PLACE.statefulTasks] = tally.statefulTasks;
  figures[PLACE.sharers] = tally.sharers;
  figures[PLACE.unassigned] = size.tasks - at(activeStart, size.members);
  figures[PLACE.statefulSpread] = spreadOf(tally.hasStateful);
  figures[PLACE.activeSpread] = spreadOf(tally.hasActive);
  figures[PLACE.loadSpread] = loadSpread(dense);
  figures[PLACE.held] = tally.held;
  figures[PLACE.moved] = tally.moved;
  figures[PLACE.statefulHeld] = tally.statefulHeld;
  figures[PLACE.statefulMoved] = tally.statefulMoved;
  figures[PLACE.leastMoved] = leastMoves(tally.heldActive, size.tasks);
  figures[PLACE.leastStatefulMoved] = leastMoves(tally.heldStateful, tally.statefulTasks);
  countCopies(dense);
  takeDiversity(dense, tally.statefulTasks);
}

/** @param tags the names of the problem's tag keys, in their order. */
export function readFigures({ figures }: Dense, tags: readonly string[]): AssignmentFigures {
  const numbers = FIGURES.map((name, place) => [name, figures[place]] as const);
  return {
    ...(Object.fromEntries(numbers) as Record<FigureName, number>),
    tagDiversity: tags.map((tag, k) => {
      const diversity = figures[FIGURES.length + k] as number;
      return { tag, diversity: Number.isNaN(diversity) ? null : diversity };
    }),
  };
}

function spreadOf(counts: ArrayLike<number>): number {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    if (count < least) least = count;
    if (count > most) most = count;
  }
  return counts.length === 0 ? 0 : most - least;
}

function loadSpread({ size, procStart, procMember, activeStart, standbyStart }: Dense): number {
  const loads = new Float64Array(size.processes);
  for (let p = 0; p < size.processes; p++) {
    let tasks = 0;
    for (let i = at(procStart, p); i < at(procStart, p + 1); i++) {
      const m = at(procMember, i);
      tasks += at(activeStart, m + 1) - at(activeStart, m);
      tasks += at(standbyStart, m + 1) - at(standbyStart, m);
    }
    loads[p] = tasks / (at(procStart, p + 1) - at(procStart, p));
  }
  return spreadOf(loads);
}

/** How many tasks have to leave their members, when all are to hold the whole part of an even share or one more. */
function leastMoves(held: Int32Array, taskCount: number): number {
  if (held.length === 0) return 0;
  const floor = Math.floor(taskCount / held.length);
  let above = 0;
  let leaving = 0;
  for (let m = 0; m < held.length; m++) {
    const extra = at(held, m) - floor;
    if (extra <= 0) continue;
    above++;
    leaving += extra;
  }
  return leaving - Math.min(above, taskCount - floor * held.length);
}

/** Copies built, held and kept, and states found on disk. Processes are marked with the task at hand. */
function countCopies(dense: Dense): void {
  const { figures, size, base, stateful, active, standby, procOf, prevActive } = dense;
  const { candStart, candDisk, candMember } = dense;
  const held = new Int32Array(size.processes).fill(-1);
  const copied = new Int32Array(size.processes).fill(-1);
  const onDisk = new Int32Array(size.processes).fill(-1);
  const has = new Int32Array(size.processes).fill(-1);
  let copiesBuilt = 0;
  let copiesHeld = 0;
  let copiesKept = 0;
  let statesOnDisk = 0;
  let statesReused = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    for (let task = at(base, s); task < at(base, s + 1); task++) {
      const holder = at(prevActive, task);
      const holderProcess = holder === -1 ? -1 : at(procOf, holder);
      if (holderProcess !== -1) held[holderProcess] = task;
      const disk = at(candDisk, task);
      for (let c = at(candStart, task); c < disk; c++) held[at(procOf, at(candMember, c))] = task;

      const owner = at(active, task);
      if (owner !== -1) {
        const process = at(procOf, owner);
        has[process] = task;
        if (at(held, process) !== task) copiesBuilt++;
      }
      for (let slot = task * size.slots; slot < (task + 1) * size.slots; slot++) {
        const member = at(standby, slot);
        if (member === -1) continue;
        const process = at(procOf, member);
        has[process] = task;
        if (at(held, process) !== task) copiesBuilt++;
      }

      let copies = 0;
      let kept = 0;
      for (let c = at(candStart, task); c < disk; c++) {
        const process = at(procOf, at(candMember, c));
        if (at(copied, process) === task) continue;
        copied[process] = task;
        copies++;
        if (at(has, process) === task) kept++;
      }
      if (copies > 0) {
        const holderStays = holderProcess !== -1 && at(has, holderProcess) === task;
        const keepable = Math.min(copies, size.slots + (holderStays ? 0 : 1));
        copiesHeld += keepable;
        copiesKept += Math.min(keepable, kept);
      }
      for (let c = disk; c < at(candStart, task + 1); c++) {
        const process = at(procOf, at(candMember, c));
        if (at(held, process) === task || at(onDisk, process) === task) continue;
        onDisk[process] = task;
        statesOnDisk++;
        if (at(has, process) === task) statesReused++;
      }
    }
  }
  figures[PLACE.copiesBuilt] = copiesBuilt;
  figures[PLACE.copiesHeld] = copiesHeld;
  figures[PLACE.copiesKept] = copiesKept;
  figures[PLACE.statesOnDisk] = statesOnDisk;
  figures[PLACE.statesReused] = statesReused;
}

/** Q10 of every tag; NaN where it has no meaning. */
function takeDiversity(dense: Dense, statefulTasks: number): void {
  const { figures, size, base, stateful } = dense;
  for (let k = 0; k < size.tagKeys; k++) {
    const valueCount = countValues(dense, k);
    if (valueCount < 2 || statefulTasks === 0) {
      figures[FIGURES.length + k] = Number.NaN;
      continue;
    }
    const seenFor = new Int32Array(valueCount).fill(-1);
    let distinct = 0;
    for (let s = 0; s < size.subtopologies; s++) {
      if (!isSet(stateful, s)) continue;
      for (let task = at(base, s); task < at(base, s + 1); task++) {
        distinct += noteValue(dense, k, at(dense.active, task), task, seenFor);
        for (let slot = task * size.slots; slot < (task + 1) * size.slots; slot++) {
          distinct += noteValue(dense, k, at(dense.standby, slot), task, seenFor);
        }
      }
    }
    const best = Math.min(1 + size.replicas, valueCount);
    figures[FIGURES.length + k] = distinct / best / statefulTasks;
  }
}

function countValues({ size, tagValue }: Dense, k: number): number {
  let highest = -1;
  for (let p = 0; p < size.processes; p++) {
    highest = Math.max(highest, at(tagValue, p * size.tagKeys + k));
  }
  return highest + 1;
}

/** Returns 1 when the member's process brings a value that the task had not yet, else 0. */
function noteValue(
  { size, procOf, tagValue }: Dense,
  k: number,
  member: number,
  task: number,
  seenFor: Int32Array,
): number {
  if (member === -1) return 0;
  const value = at(tagValue, at(procOf, member) * size.tagKeys + k);
  if (value === -1 || at(seenFor, value) === task) return 0;
  seenFor[value] = task;
  return 1;
}
