import type { TaskList } from './tasks.ts';

/** The stateful tasks of one subtopology: their places follow one another. */
export type PlaceRange = {
  readonly subtopologyId: string;
  /** The place of its first task. */
  readonly first: number;
  readonly taskCount: number;
};

/** The subtopologies of a group, as far as places follow from them. */
export type Subtopologies = readonly {
  readonly subtopologyId: string;
  readonly taskCount: number;
  readonly stateful: boolean;
}[];

/** Gives every stateful task of a topology a place, in (subtopology, partition) order, from 0. */
export class TaskPlaces {
  /** What the places are of. */
  readonly subtopologies: Subtopologies;
  /** How many stateful tasks there are. */
  readonly count: number;
  /** In the order of places. */
  readonly ranges: readonly PlaceRange[];
  readonly #byId: ReadonlyMap<string, PlaceRange>;
  /** Lists and reports name the tasks of a subtopology one after the other. */
  #last: PlaceRange = { subtopologyId: '', first: 0, taskCount: 0 };

  /** @param subtopologies sorted by id. */
  constructor(subtopologies: Subtopologies) {
    this.subtopologies = subtopologies;
    const ranges: PlaceRange[] = [];
    let first = 0;
    for (const { subtopologyId, taskCount, stateful } of subtopologies) {
      if (!stateful) continue;
      ranges.push({ subtopologyId, first, taskCount });
      first += taskCount;
    }
    this.count = first;
    this.ranges = ranges;
    this.#byId = new Map(ranges.map((range) => [range.subtopologyId, range]));
  }

  /** The place of a task; undefined: it is no stateful one of this topology. */
  of(subtopologyId: string, partition: number): number | undefined {
    const range = this.rangeOf(subtopologyId);
    if (range === undefined || partition < 0 || partition >= range.taskCount) return undefined;
    return range.first + partition;
  }

  /** Undefined: there is no such subtopology, or it has no state. */
  rangeOf(subtopologyId: string): PlaceRange | undefined {
    if (subtopologyId === this.#last.subtopologyId) return this.#last;
    const range = this.#byId.get(subtopologyId);
    if (range !== undefined) this.#last = range;
    return range;
  }

  /** How many tasks of a list are stateful. */
  countIn(tasks: TaskList): number {
    let count = 0;
    for (const { subtopologyId, partitions } of tasks) {
      const taskCount = this.rangeOf(subtopologyId)?.taskCount;
      if (taskCount === undefined) continue;
      // They ascend: where the last one is of this topology, all are.
      if ((partitions.at(-1) ?? 0) < taskCount) count += partitions.length;
      else for (const partition of partitions) if (partition < taskCount) count++;
    }
    return count;
  }
}
