import type { TaskList } from '../../model/tasks.ts';

type Range = {
  readonly subtopologyId: string;
  /** The place of its first task. */
  readonly first: number;
  readonly taskCount: number;
};

/** Gives every stateful task of a topology a place, in (subtopology, partition) order, from 0. */
export class TaskPlaces {
  /** How many stateful tasks there are. */
  readonly count: number;
  readonly #ranges = new Map<string, Range>();

  /** @param subtopologies sorted by id. */
  constructor(
    subtopologies: readonly {
      readonly subtopologyId: string;
      readonly taskCount: number;
      readonly stateful: boolean;
    }[],
  ) {
    let first = 0;
    for (const { subtopologyId, taskCount, stateful } of subtopologies) {
      if (!stateful) continue;
      this.#ranges.set(subtopologyId, { subtopologyId, first, taskCount });
      first += taskCount;
    }
    this.count = first;
  }

  /** Undefined: no stateful task of this topology. */
  of(subtopologyId: string, partition: number): number | undefined {
    const range = this.#ranges.get(subtopologyId);
    return range === undefined || partition >= range.taskCount
      ? undefined
      : range.first + partition;
  }

  /** Calls back for each stateful task of a list. */
  forEachIn(tasks: TaskList, each: (place: number) => void): void {
    for (const { subtopologyId, partitions } of tasks) {
      const range = this.#ranges.get(subtopologyId);
      if (range === undefined) continue;
      for (const partition of partitions) {
        if (partition < range.taskCount) each(range.first + partition);
      }
    }
  }

  /** How many tasks of a list are stateful. */
  countIn(tasks: TaskList): number {
    if (tasks.length === 0) return 0;
    let count = 0;
    this.forEachIn(tasks, () => count++);
    return count;
  }

  /** Calls back for each stateful task, in order. */
  forEach(each: (place: number, subtopologyId: string, partition: number) => void): void {
    for (const { subtopologyId, first, taskCount } of this.#ranges.values()) {
      for (let at = 0; at < taskCount; at++) each(first + at, subtopologyId, at);
    }
  }
}
