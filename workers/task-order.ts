import { at, type Dense, isSet } from './dense.ts';

/** Which tasks a pass is about. */
export type TaskKind = 'stateful' | 'stateless';

export function isOfKind({ stateful }: Dense, subtopology: number, kind: TaskKind): boolean {
  return isSet(stateful, subtopology) === (kind === 'stateful');
}

export function isTaskOfKind(
  { stateful, subtopologyOf }: Dense,
  task: number,
  kind: TaskKind,
): boolean {
  return (stateful[subtopologyOf[task] as number] === 1) === (kind === 'stateful');
}

/** Whether a task that somebody had as active is somebody else's now, or nobody's. */
export function hasMoved({ active, prevActive }: Dense, task: number): boolean {
  return prevActive[task] !== -1 && prevActive[task] !== active[task];
}

export function countTasks(dense: Dense, kind: TaskKind): number {
  const { size, base } = dense;
  let tasks = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (isOfKind(dense, s, kind)) tasks += at(base, s + 1) - at(base, s);
  }
  return tasks;
}

/** Visits the tasks of a kind by (subtopology, partition); for passes that no time depends on. */
export function forEachTask(dense: Dense, kind: TaskKind, visit: (task: number) => void): void {
  const { size, base } = dense;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    for (let task = at(base, s); task < at(base, s + 1); task++) visit(task);
  }
}

/** Lists in `rest` the tasks of a kind that have no owner yet, ascending; returns how many there are. */
export function listUnplaced(dense: Dense, kind: TaskKind): number {
  const { size, base, active, rest } = dense;
  let length = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (active[task] === -1) rest[length++] = task;
    }
  }
  return length;
}

/** Takes those out of `rest` that have an owner by now; returns how many are left. */
export function dropPlaced({ rest, active }: Dense, restLength: number): number {
  let length = 0;
  for (let i = 0; i < restLength; i++) {
    const task = rest[i] as number;
    if (active[task] === -1) rest[length++] = task;
  }
  return length;
}

/**
 * Writes the tasks of a kind in (partition, subtopology) order into a list: goes over the partitions, and for each over
 * the subtopologies that have it.
 *
 * @returns how many tasks there are.
 *
 * Source: assignors 9.1.
 */
export function orderTasks(dense: Dense, kind: TaskKind, into: Int32Array): number {
  const { size, base } = dense;
  // The first tasks of the subtopologies that have the partition, and how many tasks those have.
  const first = new Int32Array(size.subtopologies);
  const length = new Int32Array(size.subtopologies);
  let leftCount = 0;
  let fewest = ENDLESS;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    first[leftCount] = at(base, s);
    length[leftCount] = at(base, s + 1) - at(base, s);
    fewest = Math.min(fewest, at(length, leftCount++));
  }
  let filled = 0;
  for (let partition = 0; leftCount > 0; partition++) {
    if (partition === fewest) {
      // Some end here; they are looked for only then.
      let staying = 0;
      fewest = ENDLESS;
      for (let i = 0; i < leftCount; i++) {
        if (at(length, i) <= partition) continue;
        first[staying] = at(first, i);
        length[staying] = at(length, i);
        fewest = Math.min(fewest, at(length, staying++));
      }
      leftCount = staying;
    }
    for (let i = 0; i < leftCount; i++) into[filled++] = (first[i] as number) + partition;
  }
  return filled;
}

const ENDLESS = 2 ** 31 - 1;

/**
 * How many times longer a task takes that is sorted, or found by a member's list, than one that is passed on the way. They
 * decide which of two ways to the same result is taken; tests change them, to go both.
 */
export const COSTS = { sorted: 64, listed: 8 };

/** Whether so many tasks are sorted sooner than all tasks are looked through for them. */
export function isFew({ size }: Dense, taskCount: number): boolean {
  return taskCount * COSTS.sorted <= size.tasks;
}

/** Whether so many entries of members' lists are read sooner than all tasks are looked through for what is in them. */
export function areFewListed({ size }: Dense, entryCount: number): boolean {
  return entryCount * COSTS.listed <= size.tasks;
}

/**
 * Puts a task behind the first `length` entries of `few`, if it is not among them. Uses `rest`, in which each task that was
 * put finds its place.
 *
 * @returns how many there are then.
 */
export function addToFew({ few, rest }: Dense, task: number, length: number): number {
  const place = rest[task] as number;
  if (place >= 0 && place < length && few[place] === task) return length;
  rest[task] = length;
  few[length] = task;
  return length + 1;
}

/**
 * Lists the first `length` entries of `few`, different tasks of a kind, in (partition, subtopology) order. Counting sort.
 *
 * @returns the list, in scratch that the next call uses.
 */
export function sortFew(dense: Dense, length: number, kind: TaskKind): Int32Array {
  const { base, few, fewSorted, buckets } = dense;
  if (length < 2) return few;
  if (length === countTasks(dense, kind)) {
    orderTasks(dense, kind, fewSorted);
    return fewSorted;
  }
  if (!isAscending(few, length)) bringTogether(dense, length);
  const most = mostTasks(dense, kind);
  buckets.fill(0, 0, most);
  for (let i = 0, s = 0, from = 0, end = 0; i < length; i++) {
    const task = few[i] as number;
    for (; task >= end; s++) {
      from = at(base, s);
      end = at(base, s + 1);
    }
    buckets[task - from] = (buckets[task - from] as number) + 1;
  }
  let start = 0;
  for (let partition = 0; partition < most; partition++) {
    const tasks = buckets[partition] as number;
    buckets[partition] = start;
    start += tasks;
  }
  for (let i = 0, s = 0, from = 0, end = 0; i < length; i++) {
    const task = few[i] as number;
    for (; task >= end; s++) {
      from = at(base, s);
      end = at(base, s + 1);
    }
    const to = buckets[task - from] as number;
    fewSorted[to] = task;
    buckets[task - from] = to + 1;
  }
  return fewSorted;
}

function isAscending(list: Int32Array, length: number): boolean {
  for (let i = 1; i < length; i++) if ((list[i] as number) < (list[i - 1] as number)) return false;
  return true;
}

/** Brings the tasks of each subtopology in `few` together, subtopologies ascending. */
function bringTogether(
  { size, subtopologyOf, few, fewSorted, buckets }: Dense,
  length: number,
): void {
  buckets.fill(0, 0, size.subtopologies + 1);
  for (let i = 0; i < length; i++) {
    const next = (subtopologyOf[few[i] as number] as number) + 1;
    buckets[next] = (buckets[next] as number) + 1;
  }
  for (let s = 1; s < size.subtopologies; s++) buckets[s] = at(buckets, s) + at(buckets, s - 1);
  for (let i = 0; i < length; i++) {
    const task = few[i] as number;
    const s = subtopologyOf[task] as number;
    const to = buckets[s] as number;
    fewSorted[to] = task;
    buckets[s] = to + 1;
  }
  for (let i = 0; i < length; i++) few[i] = fewSorted[i] as number;
}

/** How many tasks the largest subtopology of a kind has. */
function mostTasks(dense: Dense, kind: TaskKind): number {
  const { size, base } = dense;
  let most = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (isOfKind(dense, s, kind)) most = Math.max(most, at(base, s + 1) - at(base, s));
  }
  return most;
}
