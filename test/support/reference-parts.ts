import { byCodeUnits } from '../../machines/model/ids.ts';
import type { TaskList, TaskOffset } from '../../machines/model/tasks.ts';

// What the reference assignors are written with: objects and linear scans, to be checked by reading.

export type Task = {
  readonly subtopologyId: string;
  readonly partition: number;
  readonly stateful: boolean;
};
export const NOT_STARTED = 2n ** 63n - 1n;

/** The three numbers of a shrinking quota (assignors 4). */
export type Quota = { tasks: number; members: number; limit: number };

export function quotaOf(tasks: number, members: number): Quota {
  return { tasks, members, limit: members === 0 ? 0 : Math.ceil(tasks / members) };
}

export function reached(quota: Quota, count: number): void {
  if (count !== quota.limit) return;
  Object.assign(quota, quotaOf(quota.tasks - count, quota.members - 1));
}

export function inPartitionOrder(tasks: readonly Task[]): Task[] {
  return tasks.toSorted(
    (a, b) => a.partition - b.partition || byCodeUnits(a.subtopologyId, b.subtopologyId),
  );
}

export function has(list: TaskList, task: Task): boolean {
  return list.some(
    (each) => each.subtopologyId === task.subtopologyId && each.partitions.includes(task.partition),
  );
}

export function offsetOf(reports: readonly TaskOffset[], task: Task): bigint | undefined {
  return reports.findLast(
    (each) => each.subtopologyId === task.subtopologyId && each.partition === task.partition,
  )?.offset;
}

export function listOf(tasks: readonly Task[]): TaskList {
  const grouped = new Map<string, number[]>();
  for (const { subtopologyId, partition } of tasks) {
    grouped.set(subtopologyId, [...(grouped.get(subtopologyId) ?? []), partition]);
  }
  return [...grouped].map(([subtopologyId, partitions]) => ({ subtopologyId, partitions }));
}
