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
  /** Lists and reports name the tasks of a subtopology one after the other. */
  #last: Range = { subtopologyId: '', first: 0, taskCount: 0 };

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
    if (subtopologyId !== this.#last.subtopologyId) {
      const range = this.#ranges.get(subtopologyId);
      if (range === undefined) return undefined;
      this.#last = range;
    }
    const { first, taskCount } = this.#last;
    return partition < taskCount ? first + partition : undefined;
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
