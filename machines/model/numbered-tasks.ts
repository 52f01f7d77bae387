import type { Role, TaskIds, TaskList, TasksByRole } from './tasks.ts';
import { NO_TASKS, ROLES } from './tasks.ts';

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

/** The targets of members by their places. An array is one, too. */
export type TargetList = Iterable<TasksByRole> & {
  readonly length: number;
  at(place: number): TasksByRole | undefined;
};

/**
 * The targets of all members in task numbers. Whether one is as it was is found without making it: of a thousand members
 * that an assignment leaves alone, none is made.
 */
export class NumberedTargets implements TargetList {
  readonly numbering: TaskNumbering;
  readonly actives: NumberedLists;
  readonly standbys: NumberedLists;
  #idLength: number | undefined;

  /** @param actives, standbys by the same members; they must not change any more. */
  constructor(numbering: TaskNumbering, actives: NumberedLists, standbys: NumberedLists) {
    this.numbering = numbering;
    this.actives = actives;
    this.standbys = standbys;
  }

  get length(): number {
    return this.actives.start.length - 1;
  }

  /** Of the longest id of a subtopology. */
  get idLength(): number {
    this.#idLength ??= longest(this.numbering.subtopologyIds);
    return this.#idLength;
  }

  at(place: number): NumberedTasks | undefined {
    return place < this.length ? new NumberedTasks(this, place) : undefined;
  }

  *[Symbol.iterator](): Generator<NumberedTasks> {
    for (let place = 0; place < this.length; place++) yield new NumberedTasks(this, place);
  }

  /** Undefined: no assignment has tasks in this role, which comes with a refinement only. */
  listsOf(role: Role): NumberedLists | undefined {
    if (role === 'warmup') return undefined;
    return role === 'active' ? this.actives : this.standbys;
  }

  /** Whether the member at a place has the very tasks of another target. */
  isSame(place: number, other: TasksByRole): boolean {
    if (other instanceof NumberedTasks && other.of.numbering === this.numbering) {
      return (
        sameRow(this.actives, place, other.of.actives, other.place) &&
        sameRow(this.standbys, place, other.of.standbys, other.place)
      );
    }
    return (
      isRowOf(this.numbering, this.actives, place, other.active) &&
      isRowOf(this.numbering, this.standbys, place, other.standby) &&
      other.warmup.length === 0
    );
  }

  /** The target of one member alone. */
  alone(place: number): NumberedTargets {
    return new NumberedTargets(
      this.numbering,
      onlyRow(this.actives, place),
      onlyRow(this.standbys, place),
    );
  }
}

/**
 * A target in task numbers, whose lists are made when somebody reads them.
 *
 * To the outside it is like any other {@link TasksByRole}.
 */
export class NumberedTasks implements TasksByRole {
  declare readonly active: TaskList;
  declare readonly standby: TaskList;
  declare readonly warmup: TaskList;
  #of: NumberedTargets;
  #place: number;
  #active: TaskList | undefined;
  #standby: TaskList | undefined;

  constructor(of: NumberedTargets, place: number) {
    this.#of = of;
    this.#place = place;
  }

  /** Whether it holds the same tasks as another value, found without making lists; undefined = not to be found so. */
  static same(a: TasksByRole, b: TasksByRole): boolean | undefined {
    if (a instanceof NumberedTasks) return a.of.isSame(a.place, b);
    return b instanceof NumberedTasks ? b.of.isSame(b.place, a) : undefined;
  }

  /** How many tasks it has in a role, found without making lists. */
  countIn(role: Role): number {
    const lists = this.#of.listsOf(role);
    return lists === undefined ? 0 : lengthOfRow(lists, this.#place);
  }

  /** Calls back for each task of a role in order, without making lists. */
  forEachIn(role: Role, each: (subtopologyId: string, partition: number) => void): void {
    const lists = this.#of.listsOf(role);
    if (lists === undefined) return;
    const { start, tasks } = lists;
    const { subtopologyIds, base, subtopologyOf } = this.#of.numbering;
    const to = start[this.#place + 1] as number;
    for (let i = start[this.#place] as number; i < to; i++) {
      const task = tasks[i] as number;
      const s = subtopologyOf[task] as number;
      each(subtopologyIds[s] as string, task - (base[s] as number));
    }
  }

  /** The targets that it is one of, and which. */
  get of(): NumberedTargets {
    return this.#of;
  }

  get place(): number {
    return this.#place;
  }

  /** Lets go of the lists of all the others: to be called when most of them are not kept. */
  letGo(): void {
    this.#of = this.#of.alone(this.#place);
    this.#place = 0;
  }

  toJSON(): TasksByRole {
    return { active: this.active, standby: this.standby, warmup: this.warmup };
  }

  /** The list of a role, made at the first need. */
  listOf(role: Role): TaskList {
    if (role === 'active') {
      this.#active ??= listRow(this.#of.numbering, this.#of.actives, this.#place);
      return this.#active;
    }
    if (role === 'warmup') return NO_TASKS;
    this.#standby ??= listRow(this.#of.numbering, this.#of.standbys, this.#place);
    return this.#standby;
  }
}

/**
 * How many tasks there are in all roles, in how many entries of their lists, and how long an id of their subtopologies can
 * be, in UTF-16 code units; found without making lists.
 */
export function extentOf(tasks: TasksByRole): {
  readonly tasks: number;
  readonly entries: number;
  readonly idLength: number;
} {
  if (tasks instanceof NumberedTasks) {
    const { of, place } = tasks;
    return {
      tasks: lengthOfRow(of.actives, place) + lengthOfRow(of.standbys, place),
      entries: entriesOfRow(of, of.actives, place) + entriesOfRow(of, of.standbys, place),
      idLength: of.idLength,
    };
  }
  const lists = ROLES.flatMap((role) => tasks[role]);
  return {
    tasks: lists.reduce((sum, { partitions }) => sum + partitions.length, 0),
    entries: lists.length,
    idLength: longest(lists.map(({ subtopologyId }) => subtopologyId)),
  };
}

function lengthOfRow({ start }: NumberedLists, at: number): number {
  return (start[at + 1] as number) - (start[at] as number);
}

/** Tasks of a subtopology follow one another. */
function entriesOfRow(
  { numbering: { subtopologyOf } }: NumberedTargets,
  { start, tasks }: NumberedLists,
  at: number,
): number {
  let entries = 0;
  let before = -1;
  for (let i = start[at] as number; i < (start[at + 1] as number); i++) {
    const subtopology = subtopologyOf[tasks[i] as number] as number;
    if (subtopology !== before) entries++;
    before = subtopology;
  }
  return entries;
}

function longest(ids: readonly string[]): number {
  return ids.reduce((most, { length }) => Math.max(most, length), 0);
}

// Visible to whoever looks through the fields of a value, as fields of a class are not.
for (const role of ROLES) {
  Object.defineProperty(NumberedTasks.prototype, role, {
    enumerable: true,
    get(this: NumberedTasks) {
      return this.listOf(role);
    },
  });
}

function sameRow(a: NumberedLists, i: number, b: NumberedLists, j: number): boolean {
  let from = a.start[i] as number;
  let other = b.start[j] as number;
  const to = a.start[i + 1] as number;
  if (to - from !== (b.start[j + 1] as number) - other) return false;
  while (from < to) if (a.tasks[from++] !== b.tasks[other++]) return false;
  return true;
}

/** Whether a row holds the tasks of a list. */
function isRowOf(
  { subtopologyIds, base, subtopologyOf }: TaskNumbering,
  { start, tasks }: NumberedLists,
  at: number,
  list: TaskList,
): boolean {
  let i = start[at] as number;
  const to = start[at + 1] as number;
  for (const { subtopologyId, partitions } of list) {
    if (i + partitions.length > to) return false;
    const s = subtopologyOf[tasks[i] as number] as number;
    if (subtopologyIds[s] !== subtopologyId) return false;
    const first = base[s] as number;
    for (const partition of partitions) {
      if (first + partition !== tasks[i] || first + partition >= (base[s + 1] as number))
        return false;
      i++;
    }
  }
  return i === to;
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
    let count = 1;
    while (i + count < to && (tasks[i + count] as number) < end) count++;
    // Kept for long, and often one task alone: no longer than it has to be.
    const partitions = new Array<number>(count);
    for (let nth = 0; nth < count; nth++) partitions[nth] = (tasks[i++] as number) - first;
    list.push({ subtopologyId: subtopologyIds[s] as string, partitions });
  }
  return list;
}
