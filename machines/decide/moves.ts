import type { MoveReason, TargetChange } from '../model/look-back.ts';
import { appendTask, type OpenTaskList } from '../model/task-list.ts';
import type { TaskList } from '../model/tasks.ts';

/** Why a task goes its way: `held` it is with that member already; undefined: nothing is known. */
export type Why = MoveReason | 'held' | undefined;

/** Tasks that go the same way from one target to the next, for the same reason. */
export type Way = {
  readonly role: 'active' | 'standby';
  /** Of an active task: who was to have it. */
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

/**
 * Finds what moves from one target to the next: active tasks that get another owner, then those that lose theirs, then new
 * standbys, by members in the order of the changes.
 *
 * @returns the ways until there are enough, and how many tasks go them or others.
 */
export function findMoves(
  changes: readonly TargetChange[],
  whyIn: WhyIn,
  enough: Enough,
): { readonly ways: readonly Way[]; readonly taskCount: number } {
  const found = new FoundWays(enough);
  const owners = ownersBefore(changes);
  findNewOwners(found, changes, owners, whyIn);
  findLost(found, changes, owners);
  findNewStandbys(found, changes, whyIn);
  return { ways: found.ways, taskCount: found.taskCount };
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
function ownersBefore(changes: readonly TargetChange[]): ByTask {
  const owners: ByTask = new Map();
  changes.forEach(({ before }, place) => {
    for (const { subtopologyId, partitions } of before.active) {
      const owner = partitionsIn(owners, subtopologyId);
      for (const partition of partitions) owner[partition] = place;
    }
  });
  return owners;
}

/** In place of an owner: the task has one in the new target. */
const OWNED = -1;

function findNewOwners(
  found: FoundWays,
  changes: readonly TargetChange[],
  owners: ByTask,
  whyIn: WhyIn,
): void {
  changes.forEach(({ memberId, after }, place) => {
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

function findLost(found: FoundWays, changes: readonly TargetChange[], owners: ByTask): void {
  changes.forEach(({ memberId, before }, place) => {
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

function findNewStandbys(found: FoundWays, changes: readonly TargetChange[], whyIn: WhyIn): void {
  const holders: ByTask = new Map();
  changes.forEach(({ memberId, before, after }, place) => {
    if (after.standby.length === 0) return;
    for (const { subtopologyId, partitions } of before.standby) {
      const holder = partitionsIn(holders, subtopologyId);
      for (const partition of partitions) holder[partition] = place;
    }
    const isTold = found.startMember();
    for (const { subtopologyId, partitions } of after.standby) {
      const holder = holders.get(subtopologyId);
      const whyOf = isTold ? whyIn(memberId, 'standby', subtopologyId) : unknown;
      for (const partition of partitions) {
        if (holder?.[partition] === place) continue;
        found.taskCount++;
        if (!isTold) continue;
        const from = undefined;
        const way = { role: 'standby', from, to: memberId, why: whyOf(partition) } as const;
        appendTask(found.tasksOf(way), subtopologyId, partition);
      }
    }
  });
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
      known = { ...way, tasks: [] };
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
