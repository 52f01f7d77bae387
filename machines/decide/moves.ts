import type { MoveReason, TargetChange } from '../model/look-back.ts';
import { appendTask, countTasksIn, forEachTaskIn, type OpenTaskList } from '../model/task-list.ts';
import type { TaskList, TasksByRole } from '../model/tasks.ts';

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

/** A walk through the tasks that the changes have on one side in one role; see {@link eachTask}. */
type Walk = {
  readonly side: 'before' | 'after';
  readonly role: Way['role'];
  /** From the last change to the first; left out: the other way. */
  readonly isBackward?: boolean;
  /** Comes before the tasks of each change. */
  readonly start?: (change: TargetChange, place: number) => void;
  readonly look: (subtopologyId: string, partition: number, place: number) => void;
};

/** Looks at each task, change by change; `place` is that of the change. */
function* eachTask(changes: readonly TargetChange[], walk: Walk): Generator<void, void> {
  const { side, role, isBackward = false, start, look } = walk;
  let place = 0;
  const each = (subtopologyId: string, partition: number) => look(subtopologyId, partition, place);
  for (let nth = 0; nth < changes.length; nth++) {
    place = isBackward ? changes.length - 1 - nth : nth;
    const change = changes[place] as TargetChange;
    start?.(change, place);
    forEachTaskIn(change[side], role, each);
    if (nth % CHANGES_AT_ONCE === CHANGES_AT_ONCE - 1) yield;
  }
}

/** The place of a change for each task, if there is one; looked up mostly for tasks of one subtopology in a row. */
class PlaceByTask {
  readonly #bySubtopology = new Map<string, (number | undefined)[]>();
  #lastId: string | undefined;
  #last: (number | undefined)[] = [];
  #marked = 0;

  /** By partition. */
  in(subtopologyId: string): (number | undefined)[] {
    if (subtopologyId === this.#lastId) return this.#last;
    let places = this.#bySubtopology.get(subtopologyId);
    if (places === undefined) {
      places = [];
      this.#bySubtopology.set(subtopologyId, places);
    }
    this.#lastId = subtopologyId;
    this.#last = places;
    return places;
  }

  /** Gives all tasks of a role a place. */
  mark(tasks: TasksByRole, role: Way['role'], place: number): void {
    this.#marked = place;
    forEachTaskIn(tasks, role, this.#mark);
  }

  readonly #mark = (subtopologyId: string, partition: number): void => {
    this.in(subtopologyId)[partition] = this.#marked;
  };
}

/** By task the place of the change whose member was to have it. */
function* ownersBefore(changes: readonly TargetChange[]): Generator<void, PlaceByTask> {
  const owners = new PlaceByTask();
  yield* eachTask(changes, {
    side: 'before',
    role: 'active',
    look: (subtopologyId, partition, place) => {
      owners.in(subtopologyId)[partition] = place;
    },
  });
  return owners;
}

/** In place of an owner: the task has one in the new target. */
const OWNED = -1;

function* findNewOwners(
  found: FoundWays,
  changes: readonly TargetChange[],
  owners: PlaceByTask,
  whyIn: WhyIn,
): Generator<void, void> {
  yield* eachTask(changes, {
    side: 'after',
    role: 'active',
    start: ({ memberId }) => found.startMember(memberId, 'active', whyIn),
    look: (subtopologyId, partition, place) => {
      const owner = owners.in(subtopologyId);
      const was = owner[partition];
      if (was !== undefined) owner[partition] = OWNED;
      if (was === place) return;
      found.comes(subtopologyId, partition, was === undefined ? undefined : changes[was]?.memberId);
    },
  });
}

function* findLost(
  found: FoundWays,
  changes: readonly TargetChange[],
  owners: PlaceByTask,
): Generator<void, void> {
  yield* eachTask(changes, {
    side: 'before',
    role: 'active',
    start: ({ memberId }) => found.startMember(memberId, 'active'),
    look: (subtopologyId, partition, place) => {
      if (owners.in(subtopologyId)[partition] === place) found.goes(subtopologyId, partition);
    },
  });
}

/** Standbys that members are to have no more, by task: a list of places of changes, in their order. */
class TakenStandbys {
  readonly #heads = new PlaceByTask();
  readonly #places: number[] = [];
  readonly #nexts: (number | undefined)[] = [];

  *find(changes: readonly TargetChange[]): Generator<void, void> {
    const stays = new PlaceByTask();
    yield* eachTask(changes, {
      side: 'before',
      role: 'standby',
      // So that the first change of a task comes to stand at the head.
      isBackward: true,
      start: ({ before, after }, place) => {
        if (hasStandbys(before)) stays.mark(after, 'standby', place);
      },
      look: (subtopologyId, partition, place) => {
        if (stays.in(subtopologyId)[partition] === place) return;
        const heads = this.#heads.in(subtopologyId);
        this.#nexts.push(heads[partition]);
        heads[partition] = this.#places.push(place) - 1;
      },
    });
  }

  /** The first one left of a task, which is taken off. */
  take(subtopologyId: string, partition: number): number | undefined {
    const heads = this.#heads.in(subtopologyId);
    const head = heads[partition];
    if (head === undefined) return undefined;
    heads[partition] = this.#nexts[head];
    return this.#places[head];
  }

  /** Whether that of this change comes next. */
  isNext(subtopologyId: string, partition: number, place: number): boolean {
    const head = this.#heads.in(subtopologyId)[partition];
    return head !== undefined && this.#places[head] === place;
  }
}

function* findNewStandbys(
  found: FoundWays,
  changes: readonly TargetChange[],
  taken: TakenStandbys,
  whyIn: WhyIn,
): Generator<void, void> {
  const holders = new PlaceByTask();
  yield* eachTask(changes, {
    side: 'after',
    role: 'standby',
    start: ({ memberId, before, after }, place) => {
      if (hasStandbys(after)) holders.mark(before, 'standby', place);
      found.startMember(memberId, 'standby', whyIn);
    },
    look: (subtopologyId, partition, place) => {
      if (holders.in(subtopologyId)[partition] === place) return;
      const was = taken.take(subtopologyId, partition);
      found.comes(subtopologyId, partition, was === undefined ? undefined : changes[was]?.memberId);
    },
  });
}

/** What is left when every new standby has taken the place of one: there are fewer than before. */
function* findLostStandbys(
  found: FoundWays,
  changes: readonly TargetChange[],
  taken: TakenStandbys,
): Generator<void, void> {
  yield* eachTask(changes, {
    side: 'before',
    role: 'standby',
    start: ({ memberId }) => found.startMember(memberId, 'standby'),
    look: (subtopologyId, partition, place) => {
      if (!taken.isNext(subtopologyId, partition, place)) return;
      taken.take(subtopologyId, partition);
      found.goes(subtopologyId, partition);
    },
  });
}

function hasStandbys(tasks: TasksByRole): boolean {
  return countTasksIn(tasks, 'standby') > 0;
}

type OpenWay = Way & { readonly tasks: OpenTaskList };

/** The ways found so far; those of a member in a role are found together. */
class FoundWays {
  readonly ways: OpenWay[] = [];
  taskCount = 0;
  readonly #enough: Enough;
  #memberId = '';
  #role: Way['role'] = 'active';
  #isTold = false;
  /** Where the ways of the member at hand begin. */
  #first = 0;
  /** The way that a task was put on last. */
  #last: OpenWay | undefined;
  #whyIn: WhyIn | undefined;
  /** Why the member is to have tasks of the subtopology of the task told last. */
  #whyOf: { readonly subtopologyId: string; readonly find: (partition: number) => Why } | undefined;

  constructor(enough: Enough) {
    this.#enough = enough;
  }

  /** Begins with the next member, or with its other role. @param whyIn left out where tasks go to nobody. */
  startMember(memberId: string, role: Way['role'], whyIn?: WhyIn): void {
    this.#memberId = memberId;
    this.#role = role;
    this.#whyIn = whyIn;
    this.#whyOf = undefined;
    this.#first = this.ways.length;
    this.#last = undefined;
    this.#isTold = this.ways.length < this.#enough.ways || this.taskCount < this.#enough.tasks;
  }

  /** A task comes to the member. */
  comes(subtopologyId: string, partition: number, from: string | undefined): void {
    this.taskCount++;
    if (!this.#isTold) return;
    if (this.#whyOf?.subtopologyId !== subtopologyId) {
      const find = this.#whyIn?.(this.#memberId, this.#role, subtopologyId) ?? unknown;
      this.#whyOf = { subtopologyId, find };
    }
    const why = this.#whyOf.find(partition);
    const tasks = this.#tasksOf({ role: this.#role, from, to: this.#memberId, why });
    appendTask(tasks, subtopologyId, partition);
  }

  /** A task of the member goes to nobody. */
  goes(subtopologyId: string, partition: number): void {
    this.taskCount++;
    if (!this.#isTold) return;
    const way = { role: this.#role, from: this.#memberId, to: undefined, why: undefined };
    appendTask(this.#tasksOf(way), subtopologyId, partition);
  }

  /** The tasks that go this way so far. */
  #tasksOf(way: Omit<Way, 'tasks'>): OpenTaskList {
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

const unknown = (): Why => undefined;

/** Of one member and one role; equal reasons are one object. */
function isSameWay(one: Omit<Way, 'tasks'>, other: Omit<Way, 'tasks'>): boolean {
  return one.from === other.from && one.why === other.why;
}
