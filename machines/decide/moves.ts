import type { MoveReason, TargetChange } from '../model/look-back.ts';
import { appendTask, type OpenTaskList } from '../model/task-list.ts';
import type { TaskList } from '../model/tasks.ts';

/** Why a task goes its way: `held` it is with that member already; undefined: nothing is known. */
export type Why = MoveReason | 'held' | undefined;

/** Tasks that go the same way from one target to the next, for the same reason. */
export type Way = {
  readonly role: 'active' | 'standby';
  /** Who was to have it, or the standby in whose place this one comes. */
  readonly from: string | undefined;
  /** Undefined: nobody is to have it any more. */
  readonly to: string | undefined;
  readonly why: Why;
  readonly tasks: TaskList;
};

/** Why a member is to have a task of a subtopology in a role. */
export type WhyIn = (
  memberId: string,
  role: Way['role'],
  subtopologyId: string,
) => (partition: number) => Why;

/** How many ways and tasks are enough to tell; the last member's are told to the end. */
export type Enough = { readonly ways: number; readonly tasks: number };

/** Changes looked at in one go. */
const CHANGES_AT_ONCE = 100;

/**
 * Finds what moves from one target to the next: active tasks that get another owner, then those that lose theirs, then new
 * standbys, each in the place of one that a member is to have no more if there is one, then those that go without; by
 * members in the order of the changes.
 *
 * All tasks of a large group may move, so it stops after every so many: whoever has others to serve goes on later.
 *
 * @returns the ways until there are enough, and how many tasks go them or others.
 */
export function* findMoves(
  changes: readonly TargetChange[],
  whyIn: WhyIn,
  enough: Enough,
): Generator<void, { readonly ways: readonly Way[]; readonly taskCount: number }> {
  const found = new FoundWays(enough);
  const owners = yield* ownersBefore(changes);
  yield* findNewOwners(found, changes, owners, whyIn);
  yield* findLost(found, changes, owners);
  const taken = new TakenStandbys();
  yield* taken.find(changes);
  yield* findNewStandbys(found, changes, taken, whyIn);
  yield* findLostStandbys(found, changes, taken);
  return { ways: found.ways, taskCount: found.taskCount };
}

function* eachChange(
  changes: readonly TargetChange[],
  look: (change: TargetChange, place: number) => void,
): Generator<void, void> {
  for (let nth = 0; nth < changes.length; nth++) {
    look(changes[nth] as TargetChange, nth);
    if (nth % CHANGES_AT_ONCE === CHANGES_AT_ONCE - 1) yield;
  }
}

/** Something about each task of a subtopology, by partition. */
type ByTask = Map<string, (number | undefined)[]>;

function partitionsIn(byTask: ByTask, subtopologyId: string): (number | undefined)[] {
  let values = byTask.get(subtopologyId);
  if (values === undefined) {
    values = [];
    byTask.set(subtopologyId, values);
  }
  return values;
}

/** By task the place of the change whose member was to have it. */
function* ownersBefore(changes: readonly TargetChange[]): Generator<void, ByTask> {
  const owners: ByTask = new Map();
  yield* eachChange(changes, ({ before }, place) => {
    mark(owners, before.active, place);
  });
  return owners;
}

/** In place of an owner: the task has one in the new target. */
const OWNED = -1;

function* findNewOwners(
  found: FoundWays,
  changes: readonly TargetChange[],
  owners: ByTask,
  whyIn: WhyIn,
): Generator<void, void> {
  yield* eachChange(changes, ({ memberId, after }, place) => {
    const isTold = found.startMember();
    for (const { subtopologyId, partitions } of after.active) {
      const owner = owners.get(subtopologyId);
      const whyOf = isTold ? whyIn(memberId, 'active', subtopologyId) : unknown;
      for (const partition of partitions) {
        const was = owner?.[partition];
        if (owner !== undefined && was !== undefined) owner[partition] = OWNED;
        if (was === place) continue;
        found.taskCount++;
        if (!isTold) continue;
        const from = was === undefined ? undefined : changes[was]?.memberId;
        const way = { role: 'active', from, to: memberId, why: whyOf(partition) } as const;
        appendTask(found.tasksOf(way), subtopologyId, partition);
      }
    }
  });
}

function* findLost(
  found: FoundWays,
  changes: readonly TargetChange[],
  owners: ByTask,
): Generator<void, void> {
  yield* eachChange(changes, ({ memberId, before }, place) => {
    const isTold = found.startMember();
    for (const { subtopologyId, partitions } of before.active) {
      const owner = owners.get(subtopologyId);
      for (const partition of partitions) {
        if (owner?.[partition] !== place) continue;
        found.taskCount++;
        if (!isTold) continue;
        const way = { role: 'active', from: memberId, to: undefined, why: undefined } as const;
        appendTask(found.tasksOf(way), subtopologyId, partition);
      }
    }
  });
}

/** Standbys that members are to have no more, by task: a list of places of changes, in their order. */
class TakenStandbys {
  readonly #heads: ByTask = new Map();
  readonly #places: number[] = [];
  readonly #nexts: (number | undefined)[] = [];

  *find(changes: readonly TargetChange[]): Generator<void, void> {
    const stays: ByTask = new Map();
    // From the last to the first, so that the first of a task comes to stand at the head.
    yield* eachChange(changes.toReversed(), ({ before, after }, fromLast) => {
      const place = changes.length - 1 - fromLast;
      if (before.standby.length > 0) mark(stays, after.standby, place);
      for (const { subtopologyId, partitions } of before.standby) {
        const stay = stays.get(subtopologyId);
        for (const partition of partitions) {
          if (stay?.[partition] !== place) this.#put(subtopologyId, partition, place);
        }
      }
    });
  }

  /** The first one left of a task, which is taken off. */
  take(subtopologyId: string, partition: number): number | undefined {
    const heads = this.#heads.get(subtopologyId);
    const head = heads?.[partition];
    if (heads === undefined || head === undefined) return undefined;
    heads[partition] = this.#nexts[head];
    return this.#places[head];
  }

  /** Whether that of this change comes next. */
  isNext(subtopologyId: string, partition: number, place: number): boolean {
    const head = this.#heads.get(subtopologyId)?.[partition];
    return head !== undefined && this.#places[head] === place;
  }

  #put(subtopologyId: string, partition: number, place: number): void {
    const heads = partitionsIn(this.#heads, subtopologyId);
    this.#nexts.push(heads[partition]);
    heads[partition] = this.#places.push(place) - 1;
  }
}

function* findNewStandbys(
  found: FoundWays,
  changes: readonly TargetChange[],
  taken: TakenStandbys,
  whyIn: WhyIn,
): Generator<void, void> {
  const holders: ByTask = new Map();
  yield* eachChange(changes, ({ memberId, before, after }, place) => {
    if (after.standby.length === 0) return;
    mark(holders, before.standby, place);
    const isTold = found.startMember();
    for (const { subtopologyId, partitions } of after.standby) {
      const holder = holders.get(subtopologyId);
      const whyOf = isTold ? whyIn(memberId, 'standby', subtopologyId) : unknown;
      for (const partition of partitions) {
        if (holder?.[partition] === place) continue;
        const was = taken.take(subtopologyId, partition);
        found.taskCount++;
        if (!isTold) continue;
        const from = was === undefined ? undefined : changes[was]?.memberId;
        const way = { role: 'standby', from, to: memberId, why: whyOf(partition) } as const;
        appendTask(found.tasksOf(way), subtopologyId, partition);
      }
    }
  });
}

/** What is left when every new standby has taken the place of one: there are fewer than before. */
function* findLostStandbys(
  found: FoundWays,
  changes: readonly TargetChange[],
  taken: TakenStandbys,
): Generator<void, void> {
  yield* eachChange(changes, ({ memberId, before }, place) => {
    const isTold = found.startMember();
    for (const { subtopologyId, partitions } of before.standby) {
      for (const partition of partitions) {
        if (!taken.isNext(subtopologyId, partition, place)) continue;
        taken.take(subtopologyId, partition);
        found.taskCount++;
        if (!isTold) continue;
        const way = { role: 'standby', from: memberId, to: undefined, why: undefined } as const;
        appendTask(found.tasksOf(way), subtopologyId, partition);
      }
    }
  });
}

function mark(byTask: ByTask, tasks: TaskList, place: number): void {
  for (const { subtopologyId, partitions } of tasks) {
    const values = partitionsIn(byTask, subtopologyId);
    for (const partition of partitions) values[partition] = place;
  }
}

const unknown = (): Why => undefined;

type OpenWay = Way & { readonly tasks: OpenTaskList };

/** The ways found so far; those of a member are found together. */
class FoundWays {
  readonly ways: OpenWay[] = [];
  taskCount = 0;
  readonly #enough: Enough;
  /** Where the ways of the member at hand begin. */
  #first = 0;
  /** The way that a task was put on last. */
  #last: OpenWay | undefined;

  constructor(enough: Enough) {
    this.#enough = enough;
  }

  /** Begins with the next member. @returns whether its ways are to be told. */
  startMember(): boolean {
    this.#first = this.ways.length;
    this.#last = undefined;
    return this.ways.length < this.#enough.ways || this.taskCount < this.#enough.tasks;
  }

  /** The tasks that go this way so far. */
  tasksOf(way: Omit<Way, 'tasks'>): OpenTaskList {
    if (this.#last !== undefined && isSameWay(this.#last, way)) return this.#last.tasks;
    let known = this.ways.slice(this.#first).find((each) => isSameWay(each, way));
    if (known === undefined) {
      known = { tasks: [], ...way };
      this.ways.push(known);
    }
    this.#last = known;
    return known.tasks;
  }
}

/** Of one member and one role; equal reasons are one object. */
function isSameWay(one: Omit<Way, 'tasks'>, other: Omit<Way, 'tasks'>): boolean {
  return one.from === other.from && one.why === other.why;
}
