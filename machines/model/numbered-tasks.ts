import type { TaskIds, TaskList, TasksByRole } from './tasks.ts';
import { NO_TASKS } from './tasks.ts';

/** The numbers of a topology's tasks: by (subtopology, partition), from 0. */
export type TaskNumbering = {
  /** Sorted. */
  readonly subtopologyIds: readonly string[];
  /** First task of each subtopology, and the number of all tasks. */
  readonly base: Int32Array;
  readonly subtopologyOf: Int32Array;
};

/** Ascending task numbers by member: those of member i are `tasks[start[i]]` up to `tasks[start[i + 1]]`. */
export type NumberedLists = { readonly start: Int32Array; readonly tasks: Int32Array };

/**
 * A target in task numbers, whose lists are made when somebody reads them: of a thousand members that an assignment leaves
 * alone, nobody does.
 *
 * To the outside it is like any other {@link TasksByRole}.
 */
export class NumberedTasks implements TasksByRole {
  declare readonly active: TaskList;
  declare readonly standby: TaskList;
  declare readonly warmup: TaskList;
  readonly #numbering: TaskNumbering;
  #of: { readonly actives: NumberedLists; readonly standbys: NumberedLists; readonly at: number };
  #active: TaskList | undefined;
  #standby: TaskList | undefined;

  static {
    // Visible to whoever looks at the fields of a value, as a private field is not.
    for (const role of ['active', 'standby', 'warmup'] as const) {
      Object.defineProperty(NumberedTasks.prototype, role, {
        enumerable: true,
        get(this: NumberedTasks) {
          return this.#tasks(role);
        },
      });
    }
  }

  /** The tasks at one place of two lists, which must not change any more. */
  constructor(
    numbering: TaskNumbering,
    actives: NumberedLists,
    standbys: NumberedLists,
    at: number,
  ) {
    this.#numbering = numbering;
    this.#of = { actives, standbys, at };
  }

  /** Whether two values hold the same tasks; undefined = they cannot be compared by their numbers. */
  static same(a: TasksByRole, b: TasksByRole): boolean | undefined {
    if (!(a instanceof NumberedTasks) || !(b instanceof NumberedTasks)) return undefined;
    if (a.#numbering !== b.#numbering) return undefined;
    const [{ at: i }, { at: j }] = [a.#of, b.#of];
    return (
      sameRow(a.#of.actives, i, b.#of.actives, j) && sameRow(a.#of.standbys, i, b.#of.standbys, j)
    );
  }

  /** Lets go of the lists of all the others: to be called when most of them are not kept. */
  letGo(): void {
    const { actives, standbys, at } = this.#of;
    this.#of = { actives: onlyRow(actives, at), standbys: onlyRow(standbys, at), at: 0 };
  }

  toJSON(): TasksByRole {
    return { active: this.active, standby: this.standby, warmup: this.warmup };
  }

  #tasks(role: 'active' | 'standby' | 'warmup'): TaskList {
    const { actives, standbys, at } = this.#of;
    if (role === 'active') {
      this.#active ??= listRow(this.#numbering, actives, at);
      return this.#active;
    }
    if (role === 'warmup') return NO_TASKS;
    this.#standby ??= listRow(this.#numbering, standbys, at);
    return this.#standby;
  }
}

function sameRow(a: NumberedLists, i: number, b: NumberedLists, j: number): boolean {
  let from = a.start[i] as number;
  let other = b.start[j] as number;
  const to = a.start[i + 1] as number;
  if (to - from !== (b.start[j + 1] as number) - other) return false;
  while (from < to) if (a.tasks[from++] !== b.tasks[other++]) return false;
  return true;
}

function onlyRow({ start, tasks }: NumberedLists, at: number): NumberedLists {
  const own = tasks.slice(start[at], start[at + 1]);
  return { start: Int32Array.of(0, own.length), tasks: own };
}

function listRow(numbering: TaskNumbering, { start, tasks }: NumberedLists, at: number): TaskList {
  return listTasks(numbering, tasks, start[at] as number, start[at + 1] as number);
}

/** Ascending task numbers as a list by subtopology. */
export function listTasks(
  { subtopologyIds, base, subtopologyOf }: TaskNumbering,
  tasks: Int32Array,
  from: number,
  to: number,
): TaskList {
  if (from === to) return NO_TASKS;
  const list: TaskIds[] = [];
  for (let i = from; i < to; ) {
    const s = subtopologyOf[tasks[i] as number] as number;
    const first = base[s] as number;
    const end = base[s + 1] as number;
    const partitions: number[] = [];
    for (; i < to && (tasks[i] as number) < end; i++) partitions.push((tasks[i] as number) - first);
    list.push({ subtopologyId: subtopologyIds[s] as string, partitions });
  }
  return list;
}
