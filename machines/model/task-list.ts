import { byCodeUnits } from './ids.ts';
import { NumberedTasks } from './numbered-tasks.ts';
import type {
  ActiveTaskIds,
  ActiveTaskList,
  Role,
  TaskIds,
  TaskList,
  TasksByRole,
} from './tasks.ts';
import { NO_TASKS } from './tasks.ts';

/**
 * Set operations on {@link TaskList}s. All take lists in their defined order and give lists in that order; a
 * result equal to the first argument is that very argument wherever that costs nothing. Where lists of active
 * tasks go in, the epochs come along from the first one.
 */

/** The name of a task, as Kafka prints it and as the keys of holders: `0_3`. */
export function taskKey(subtopologyId: string, partition: number): string {
  return `${subtopologyId}_${partition}`;
}

/** A list from what a client sent: sorted, each task once, no empty entry (SC-9). */
export function toTaskList(sent: readonly TaskIds[]): TaskList {
  if (isOrdered(sent)) return sent;
  const bySubtopology = new Map<string, Set<number>>();
  for (const { subtopologyId, partitions } of sent) {
    const seen = bySubtopology.get(subtopologyId) ?? new Set<number>();
    for (const partition of partitions) seen.add(partition);
    bySubtopology.set(subtopologyId, seen);
  }
  return [...bySubtopology]
    .filter(([, partitions]) => partitions.size > 0)
    .sort(([a], [b]) => byCodeUnits(a, b))
    .map(([subtopologyId, partitions]) => ({
      subtopologyId,
      partitions: [...partitions].sort((a, b) => a - b),
    }));
}

function isOrdered(tasks: readonly TaskIds[]): boolean {
  let before: string | undefined;
  for (const { subtopologyId, partitions } of tasks) {
    if (partitions.length === 0 || (before !== undefined && before >= subtopologyId)) return false;
    before = subtopologyId;
    for (let at = 1; at < partitions.length; at++) {
      if ((partitions[at - 1] ?? 0) >= (partitions[at] ?? 0)) return false;
    }
  }
  return true;
}

/** Whether both hold the same tasks; epochs do not count. */
export function sameTasks(a: TaskList, b: TaskList): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) {
    const one = a[at];
    const other = b[at];
    if (one === undefined || other === undefined) return false;
    if (one.subtopologyId !== other.subtopologyId) return false;
    if (!sameNumbers(one.partitions, other.partitions)) return false;
  }
  return true;
}

/** Whether both hold the same tasks in every role; epochs do not count. */
export function sameTasksByRole(a: TasksByRole, b: TasksByRole): boolean {
  if (a === b) return true;
  return (
    NumberedTasks.same(a, b) ??
    (sameTasks(a.active, b.active) &&
      sameTasks(a.standby, b.standby) &&
      sameTasks(a.warmup, b.warmup))
  );
}

/** Whether both hold the same tasks since the same epochs. */
export function sameActiveTasks(a: ActiveTaskList, b: ActiveTaskList): boolean {
  if (a === b) return true;
  if (!sameTasks(a, b)) return false;
  return a.every((tasks, at) =>
    sameNumbers(tasks.assignmentEpochs, b[at]?.assignmentEpochs ?? NO_NUMBERS),
  );
}

const NO_NUMBERS: readonly number[] = [];

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Whether the list holds the task. */
export function hasTask(tasks: TaskList, subtopologyId: string, partition: number): boolean {
  return hasNumber(partitionsOf(tasks, subtopologyId), partition);
}

/** Where a list holds the task: in which entry, and at which place there. */
export function placeOfTask<T extends TaskIds>(
  tasks: readonly T[],
  subtopologyId: string,
  partition: number,
): { readonly entry: T; readonly at: number } | undefined {
  const entry = entryOf(tasks, subtopologyId);
  const at = entry === undefined ? -1 : placeOf(entry.partitions, partition);
  return entry === undefined || at < 0 ? undefined : { entry, at };
}

function partitionsOf(tasks: TaskList, subtopologyId: string): readonly number[] {
  return entryOf(tasks, subtopologyId)?.partitions ?? NO_NUMBERS;
}

/** By halves: what a client sends may name any number of subtopologies, and is looked at before anything is known of it. */
function entryOf<T extends TaskIds>(tasks: readonly T[], subtopologyId: string): T | undefined {
  let low = 0;
  let high = tasks.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const entry = tasks[middle];
    if (entry === undefined || entry.subtopologyId === subtopologyId) return entry;
    if (entry.subtopologyId < subtopologyId) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

function hasNumber(sorted: readonly number[], wanted: number): boolean {
  return placeOf(sorted, wanted) >= 0;
}

/** By halves; -1: it is not there. */
function placeOf(sorted: readonly number[], wanted: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = sorted[middle] ?? 0;
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** Whether every task of `a` is in `b`. */
export function isSubset(a: TaskList, b: TaskList): boolean {
  return a === b || subtractTasks(a, b).length === 0;
}

/** Whether no task is in both. */
export function areDisjoint(a: TaskList, b: TaskList): boolean {
  if (a.length === 0 || b.length === 0) return true;
  return intersectTasks(a, b).length === 0;
}

/** The tasks of `a` that are in `b`, with the epochs of `a`. */
export function intersectTasks<T extends TaskIds>(a: readonly T[], b: TaskList): readonly T[] {
  return filterTasks(a, b, true);
}

/** The tasks of `a` that are not in `b`, with the epochs of `a`. */
export function subtractTasks<T extends TaskIds>(a: readonly T[], b: TaskList): readonly T[] {
  return b.length === 0 ? a : filterTasks(a, b, false);
}

function filterTasks<T extends TaskIds>(
  a: readonly T[],
  b: TaskList,
  wanted: boolean,
): readonly T[] {
  if (a.length === 0) return a;
  const kept: T[] = [];
  let changed = false;
  for (const entry of a) {
    const other = partitionsOf(b, entry.subtopologyId);
    const picked = entry.partitions.filter((partition) => hasNumber(other, partition) === wanted);
    if (picked.length === entry.partitions.length) {
      kept.push(entry);
      continue;
    }
    changed = true;
    if (picked.length > 0) kept.push(pick(entry, picked));
  }
  return changed ? kept : a;
}

/** The entry reduced to `partitions`, a part of its own in the same order; epochs follow. */
function pick<T extends TaskIds>(entry: T, partitions: readonly number[]): T {
  const epochs = (entry as Partial<ActiveTaskIds>).assignmentEpochs;
  if (epochs === undefined) return { ...entry, partitions };
  const kept = new Set(partitions);
  const assignmentEpochs = epochs.filter((_, at) => kept.has(entry.partitions[at] ?? -1));
  return { ...entry, partitions, assignmentEpochs };
}

/** The tasks of either list, without epochs where both have tasks of a subtopology. */
export function unionTasks(a: TaskList, b: TaskList): TaskList {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const union: TaskIds[] = [];
  let at = 0;
  for (const entry of a) {
    const { subtopologyId } = entry;
    let other = b[at];
    while (other !== undefined && other.subtopologyId < subtopologyId) {
      union.push(other);
      other = b[++at];
    }
    if (other?.subtopologyId === subtopologyId) {
      union.push({ subtopologyId, partitions: mergeNumbers(entry.partitions, other.partitions) });
      at++;
    } else union.push(entry);
  }
  return at < b.length ? [...union, ...b.slice(at)] : union;
}

/** Two ascending lists as one, each number once. */
function mergeNumbers(a: readonly number[], b: readonly number[]): readonly number[] {
  const merged: number[] = [];
  let at = 0;
  for (const number of a) {
    let other = b[at];
    while (other !== undefined && other < number) {
      merged.push(other);
      other = b[++at];
    }
    if (other === number) at++;
    merged.push(number);
  }
  for (; at < b.length; at++) merged.push(b[at] ?? 0);
  return merged;
}

/** A list of tasks in the making. */
export type OpenTaskList = { readonly subtopologyId: string; readonly partitions: number[] }[];

/** Puts a task at the end of a list; it comes after all that are there. */
export function appendTask(tasks: OpenTaskList, subtopologyId: string, partition: number): void {
  const last = tasks.at(-1);
  if (last?.subtopologyId === subtopologyId) last.partitions.push(partition);
  else tasks.push({ subtopologyId, partitions: [partition] });
}

/** The tasks of two lists that do not overlap, each with its epoch. */
export function unionActiveTasks(a: ActiveTaskList, b: ActiveTaskList): ActiveTaskList {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const epochs = new Map<string, number>();
  for (const list of [a, b]) {
    forEachTask(list, (subtopologyId, partition, epoch) => {
      epochs.set(taskKey(subtopologyId, partition), epoch);
    });
  }
  return unionTasks(a, b).map(({ subtopologyId, partitions }) => ({
    subtopologyId,
    partitions,
    assignmentEpochs: partitions.map((at) => epochs.get(taskKey(subtopologyId, at)) ?? 0),
  }));
}

/** The tasks as owned since one epoch. */
export function ownedSince(tasks: TaskList, epoch: number): ActiveTaskList {
  return tasks.map(({ subtopologyId, partitions }) => ({
    subtopologyId,
    partitions,
    assignmentEpochs: partitions.map(() => epoch),
  }));
}

/** The tasks alone, without their epochs. */
export function withoutEpochs(tasks: ActiveTaskList): TaskList {
  if (tasks.length === 0) return NO_TASKS;
  return tasks.map(({ subtopologyId, partitions }) => ({ subtopologyId, partitions }));
}

/** Calls back for each task in order; `epoch` is 0 in lists that carry none. */
export function forEachTask(
  tasks: readonly (TaskIds & Partial<Pick<ActiveTaskIds, 'assignmentEpochs'>>)[],
  each: (subtopologyId: string, partition: number, epoch: number) => void,
): void {
  for (const { subtopologyId, partitions, assignmentEpochs } of tasks) {
    for (let at = 0; at < partitions.length; at++) {
      each(subtopologyId, partitions[at] ?? 0, assignmentEpochs?.[at] ?? 0);
    }
  }
}

/** The part of a list for which `keep` holds. */
export function selectTasks(
  tasks: TaskList,
  keep: (subtopologyId: string, partition: number) => boolean,
): TaskList {
  if (tasks.length === 0) return tasks;
  return tasks
    .map((entry) => ({
      subtopologyId: entry.subtopologyId,
      partitions: entry.partitions.filter((partition) => keep(entry.subtopologyId, partition)),
    }))
    .filter((entry) => entry.partitions.length > 0);
}

/** How many tasks a list holds. */
export function countTasks(tasks: TaskList): number {
  let count = 0;
  for (const entry of tasks) count += entry.partitions.length;
  return count;
}

/** How many tasks a member has, or is to have, in a role. */
export function countTasksIn(tasks: TasksByRole, role: Role): number {
  return tasks instanceof NumberedTasks ? tasks.countIn(role) : countTasks(tasks[role]);
}

/** Calls back for each task of a role in order; makes no list where there is none yet. */
export function forEachTaskIn(
  tasks: TasksByRole,
  role: Role,
  each: (subtopologyId: string, partition: number) => void,
): void {
  if (tasks instanceof NumberedTasks) tasks.forEachIn(role, each);
  else forEachTask(tasks[role], each);
}

/** The names of the first `limit` tasks. */
export function taskKeys(tasks: TaskList, limit: number): string[] {
  const names: string[] = [];
  for (const { subtopologyId, partitions } of tasks) {
    for (const partition of partitions) {
      if (names.length === limit) return names;
      names.push(taskKey(subtopologyId, partition));
    }
  }
  return names;
}

/** The first `limit` tasks in words, then how many more: `0_2, 0_3 and 7 more`. */
export function nameTasks(tasks: TaskList, limit = 10): string {
  const names = taskKeys(tasks, limit);
  const more = countTasks(tasks) - names.length;
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`;
}
