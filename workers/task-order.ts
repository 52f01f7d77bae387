import { at, type Dense, isSet } from './dense.ts';

/** Which tasks a pass is about. */
export type TaskKind = 'stateful' | 'stateless';

export function isOfKind({ stateful }: Dense, subtopology: number, kind: TaskKind): boolean {
  return isSet(stateful, subtopology) === (kind === 'stateful');
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
  const left = new Int32Array(size.subtopologies);
  let leftCount = 0;
  let fewest = ENDLESS;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, kind)) continue;
    left[leftCount++] = s;
    fewest = Math.min(fewest, at(base, s + 1) - at(base, s));
  }
  let filled = 0;
  for (let partition = 0; leftCount > 0; partition++) {
    if (partition === fewest) {
      // Some end here; they are looked for only then.
      let staying = 0;
      fewest = ENDLESS;
      for (let i = 0; i < leftCount; i++) {
        const s = at(left, i);
        const length = at(base, s + 1) - at(base, s);
        if (length <= partition) continue;
        left[staying++] = s;
        fewest = Math.min(fewest, length);
      }
      leftCount = staying;
    }
    for (let i = 0; i < leftCount; i++) {
      into[filled++] = (base[left[i] as number] as number) + partition;
    }
  }
  return filled;
}

const ENDLESS = 2 ** 31 - 1;

/** Brings the first `length` entries of `few`, ascending tasks of a kind, into (partition, subtopology) order. Counting sort. */
export function sortFew(dense: Dense, length: number, kind: TaskKind): void {
  const { base, subtopologyOf, few, fewKey, fewSpare, buckets } = dense;
  if (length < 2) return;
  if (length === countTasks(dense, kind)) {
    orderTasks(dense, kind, few);
    return;
  }
  let most = 0;
  for (let i = 0; i < length; i++) {
    const task = at(few, i);
    const partition = task - at(base, at(subtopologyOf, task));
    fewKey[i] = partition;
    if (partition > most) most = partition;
  }
  buckets.fill(0, 0, most + 2);
  for (let i = 0; i < length; i++) {
    const above = at(fewKey, i) + 1;
    buckets[above] = at(buckets, above) + 1;
  }
  for (let k = 1; k <= most; k++) buckets[k] = at(buckets, k) + at(buckets, k - 1);
  for (let i = 0; i < length; i++) {
    const partition = at(fewKey, i);
    const to = at(buckets, partition);
    fewSpare[to] = at(few, i);
    buckets[partition] = to + 1;
  }
  few.set(fewSpare.subarray(0, length));
}
