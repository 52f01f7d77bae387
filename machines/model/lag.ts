import { taskKey } from './task-list.ts';
import type { TaskOffset } from './tasks.ts';

/** Restoration of a task has not started: no position, whatever the end is (OFS-3). */
export const NOT_STARTED = 2n ** 63n - 1n;

/**
 * How far a task's state is behind its end; undefined = unknown, as for a task whose restoration has not started. Exact:
 * int64 throughout. An end of one less than the offset is what clients say of a task at rest (WU-6).
 */
export function lagBetween(
  offset: bigint | undefined,
  end: bigint | undefined,
): bigint | undefined {
  if (offset === undefined || end === undefined) return undefined;
  return offset === NOT_STARTED || end === NOT_STARTED ? undefined : end - offset;
}

/** Known, and no more than the acceptable lag: the bound itself counts (X13). */
export function isWithin(lag: bigint | undefined, acceptableRecoveryLag: bigint): boolean {
  return lag !== undefined && lag <= acceptableRecoveryLag;
}

/** What a member reports of the tasks asked for, by task: found once, so that two reports are held together in linear time. */
export function offsetsByTask(
  reports: readonly TaskOffset[],
  isAskedFor: (subtopologyId: string, partition: number) => boolean,
): ReadonlyMap<string, bigint> {
  let offsets: Map<string, bigint> | undefined;
  for (const { subtopologyId, partition, offset } of reports) {
    if (!isAskedFor(subtopologyId, partition)) continue;
    offsets ??= new Map();
    offsets.set(taskKey(subtopologyId, partition), offset);
  }
  return offsets ?? NO_OFFSETS;
}

const NO_OFFSETS: ReadonlyMap<string, bigint> = new Map();
