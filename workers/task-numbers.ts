import type { AssignmentSubtopology } from '../machines/model/assignment.ts';
import { byCodeUnits } from '../machines/model/ids.ts';
import type { TaskNumbering } from '../machines/model/numbered-tasks.ts';
import type { TaskList } from '../machines/model/tasks.ts';

/** The numbers of a subtopology's tasks: from `base` up to `end`. */
export type TaskRange = { readonly base: number; readonly end: number; readonly stateful: boolean };

/** Numbers tasks by (subtopology id, partition), ids in code-unit order. */
export class TaskNumbers implements TaskNumbering {
  readonly subtopologyIds: readonly string[];
  readonly base: Int32Array;
  readonly subtopologyOf: Int32Array;
  /** By subtopology: 1 = has a changelog. */
  readonly stateful: Uint8Array;
  readonly #ranges = new Map<string, TaskRange>();

  constructor(subtopologies: readonly AssignmentSubtopology[]) {
    const sorted = subtopologies.toSorted((a, b) => byCodeUnits(a.subtopologyId, b.subtopologyId));
    this.subtopologyIds = sorted.map(({ subtopologyId }) => subtopologyId);
    this.base = new Int32Array(sorted.length + 1);
    this.stateful = new Uint8Array(sorted.length);
    let end = 0;
    sorted.forEach(({ subtopologyId, taskCount, stateful }, s) => {
      const base = end;
      end += taskCount;
      this.#ranges.set(subtopologyId, { base, end, stateful });
      this.base[s + 1] = end;
      this.stateful[s] = stateful ? 1 : 0;
    });
    this.subtopologyOf = new Int32Array(end);
    for (const [s, base] of this.base.subarray(0, -1).entries()) {
      this.subtopologyOf.fill(s, base, this.base[s + 1]);
    }
  }

  get count(): number {
    return this.subtopologyOf.length;
  }

  /** Undefined: the topology has no such subtopology. */
  of(subtopologyId: string): TaskRange | undefined {
    return this.#ranges.get(subtopologyId);
  }

  /** Whether these are the numbers of other subtopologies, too. */
  fit(subtopologies: readonly AssignmentSubtopology[]): boolean {
    if (subtopologies.length !== this.subtopologyIds.length) return false;
    return subtopologies.every(({ subtopologyId, taskCount, stateful }) => {
      const range = this.of(subtopologyId);
      return (
        range !== undefined && range.end - range.base === taskCount && range.stateful === stateful
      );
    });
  }

  /** Visits the tasks of a list that the topology has; with `statefulOnly` only those with a changelog. */
  forEachIn(list: TaskList, statefulOnly: boolean, visit: (task: number) => void): void {
    for (const { subtopologyId, partitions } of list) {
      const range = this.of(subtopologyId);
      if (range === undefined || (statefulOnly && !range.stateful)) continue;
      for (const partition of partitions) {
        const task = range.base + partition;
        if (partition >= 0 && task < range.end) visit(task);
      }
    }
  }
}
