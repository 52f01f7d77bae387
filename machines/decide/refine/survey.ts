import {
  ACTIVE,
  type MembersByMover,
  NONE,
  type Processes,
  type RefinerMember,
  ROLES_OF_ROW,
  STANDBY,
  type Survey,
  type TaskRows,
  WARMUP,
} from '../../model/survey.ts';
import { forEachTaskIn } from '../../model/task-list.ts';
import { type Subtopologies, TaskPlaces } from '../../model/task-places.ts';
import { NO_TASKS, type TasksByRole } from '../../model/tasks.ts';

/**
 * Finds the stateful tasks that are not active where the target wants them, and who has or is to have them.
 *
 * @param input.members in any order.
 * @param input.isPart they are those that matter: a task that none of them has nor is to have is with its owner.
 * @param input.known an earlier survey: what has not changed since is taken from it.
 */
export function surveyOf(input: {
  readonly subtopologies: Subtopologies;
  readonly members: readonly RefinerMember[];
  readonly isPart: boolean;
  readonly known?: Survey | undefined;
}): Survey {
  const { members, isPart, subtopologies } = input;
  const known = input.known?.places.subtopologies === subtopologies ? input.known : undefined;
  const places = known?.places ?? new TaskPlaces(subtopologies);
  const earlier = earlierNumbers(members, known);
  const held = rowsOf(
    places,
    members,
    ({ assigned }) => assigned,
    known && { rows: known.held, earlier, members: known.members },
  );
  const wanted = rowsOf(
    places,
    members,
    ({ target }) => target,
    known && { rows: known.wanted, earlier, members: known.members },
  );
  const { movers, holders, owners } = findMovers(places, members, { held, wanted, isPart });
  const copies = new Chains(members, movers, owners.length);
  const standbyCount = copies.add(held, STANDBY);
  copies.add(held, WARMUP);
  const standbyTargets = new Chains(members, movers, owners.length);
  standbyTargets.add(wanted, STANDBY);
  const { firsts, nexts, members: copyMembers } = copies.made;
  let warmupCount = 0;
  for (let member = 0; member < members.length; member++) {
    const revoked = members[member]?.revokedWarmups ?? NO_TASKS;
    warmupCount += lengthOf(held, member, WARMUP) + places.countIn(revoked);
  }
  return {
    places,
    members,
    numbers: numbersOf(members),
    processes: findProcesses(members, held),
    held,
    wanted,
    movers,
    holders,
    owners,
    // Written out: each spread with a field more would make a shape of its own, in the innermost loops.
    copies: { firsts, nexts, members: copyMembers, standbyCount },
    standbyTargets: standbyTargets.made,
    warmupCount,
  };
}

/** Filled one by one: pairs for all would be made only to be thrown away. */
function numbersOf(members: readonly RefinerMember[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const { memberId } of members) numbers.set(memberId, numbers.size);
  return numbers;
}

/** By member its number in an earlier survey, or `NONE`. */
function earlierNumbers(members: readonly RefinerMember[], known: Survey | undefined): Int32Array {
  const numbers = new Int32Array(members.length).fill(NONE);
  if (known === undefined) return numbers;
  for (let member = 0; member < members.length; member++) {
    const memberId = idOf(members, member);
    // Most often nobody came or went.
    const isSame = known.members[member]?.memberId === memberId;
    numbers[member] = isSame ? member : (known.numbers.get(memberId) ?? NONE);
  }
  return numbers;
}

/** What some rows are made from: lists of tasks, and rows of an earlier survey of the same places. */
type EarlierRows = {
  readonly rows: TaskRows;
  readonly members: readonly RefinerMember[];
  /** See {@link earlierNumbers}. */
  readonly earlier: Int32Array;
};

function rowsOf(
  places: TaskPlaces,
  members: readonly RefinerMember[],
  tasksOf: (member: RefinerMember) => TasksByRole,
  known: EarlierRows | undefined,
): TaskRows {
  const starts = new Int32Array(ROLES_OF_ROW * members.length + 1);
  let found: Int32Array = new Int32Array(Math.max(places.count, known?.rows.places.length ?? 0));
  let count = 0;
  const add = (subtopologyId: string, partition: number): void => {
    const place = places.of(subtopologyId, partition);
    if (place === undefined) return;
    if (count === found.length) found = twice(found);
    found[count++] = place;
  };
  for (let member = 0; member < members.length; member++) {
    const one = members[member] as RefinerMember;
    const tasks = tasksOf(one);
    const before = known?.earlier[member] ?? NONE;
    const row = ROLES_OF_ROW * member;
    const was = before === NONE ? undefined : known?.members[before];
    if (known !== undefined && was !== undefined && tasksOf(was) === tasks) {
      const from = known.rows.starts[ROLES_OF_ROW * before] as number;
      const to = known.rows.starts[ROLES_OF_ROW * (before + 1)] as number;
      while (count + to - from > found.length) found = twice(found);
      for (let role = 0; role < ROLES_OF_ROW; role++) {
        starts[row + role] =
          count + (known.rows.starts[ROLES_OF_ROW * before + role] as number) - from;
      }
      for (let at = from; at < to; at++) found[count++] = known.rows.places[at] as number;
      continue;
    }
    starts[row] = count;
    forEachTaskIn(tasks, 'active', add);
    starts[row + STANDBY] = count;
    forEachTaskIn(tasks, 'standby', add);
    starts[row + WARMUP] = count;
    forEachTaskIn(tasks, 'warmup', add);
  }
  starts[ROLES_OF_ROW * members.length] = count;
  return { starts, places: found.subarray(0, count) };
}

/** How many tasks a member has in a role. */
function lengthOf({ starts }: TaskRows, member: number, role: number): number {
  const row = ROLES_OF_ROW * member + role;
  return (starts[row + 1] as number) - (starts[row] as number);
}

function findMovers(
  places: TaskPlaces,
  members: readonly RefinerMember[],
  { held, wanted, isPart }: Pick<Survey, 'held' | 'wanted'> & { readonly isPart: boolean },
): Pick<Survey, 'movers' | 'holders' | 'owners'> {
  const holderAt = findHolders(places, members, held);
  const ownerAt = findHolders(places, members, wanted);
  const movers = new Int32Array(places.count).fill(NONE);
  let count = 0;
  for (let place = 0; place < places.count; place++) {
    const owner = ownerAt[place];
    if (holderAt[place] === owner && (isPart || owner !== NONE)) continue;
    // Moved to the front, where nobody looks any more.
    holderAt[count] = holderAt[place] ?? NONE;
    ownerAt[count] = owner ?? NONE;
    movers[place] = count++;
  }
  return { movers, holders: holderAt.slice(0, count), owners: ownerAt.slice(0, count) };
}

/** By place: the member that has the task as its active one, or `NONE`; of two, the one with the lower id. */
function findHolders(
  places: TaskPlaces,
  members: readonly RefinerMember[],
  rows: TaskRows,
): Int32Array {
  const holders = new Int32Array(places.count).fill(NONE);
  for (let member = 0; member < members.length; member++) {
    const row = ROLES_OF_ROW * member + ACTIVE;
    const to = rows.starts[row + 1] as number;
    for (let at = rows.starts[row] as number; at < to; at++) {
      const place = rows.places[at] as number;
      const known = holders[place] as number;
      if (known === NONE || idOf(members, member) < idOf(members, known)) holders[place] = member;
    }
  }
  return holders;
}

function idOf(members: readonly RefinerMember[], member: number): string {
  return members[member]?.memberId ?? '';
}

function findProcesses(members: readonly RefinerMember[], held: TaskRows): Processes {
  const numbers = new Map<string, number>();
  const ofMember = new Int32Array(members.length);
  const nextMember = new Int32Array(members.length).fill(NONE);
  const firstMember: number[] = [];
  const sizes: number[] = [];
  const tasks: number[] = [];
  for (let number = 0; number < members.length; number++) {
    const { processId } = members[number] as RefinerMember;
    let process = numbers.get(processId);
    if (process === undefined) {
      process = sizes.length;
      numbers.set(processId, process);
      firstMember.push(NONE);
      sizes.push(0);
      tasks.push(0);
    }
    ofMember[number] = process;
    nextMember[number] = firstMember[process] ?? NONE;
    firstMember[process] = number;
    sizes[process] = (sizes[process] ?? 0) + 1;
    const row = ROLES_OF_ROW * number;
    const count = (held.starts[row + ROLES_OF_ROW] as number) - (held.starts[row] as number);
    tasks[process] = (tasks[process] ?? 0) + count;
  }
  return { ofMember, nextMember, firstMember, sizes, tasks };
}

/** {@link MembersByMover} in the making. */
class Chains {
  readonly #members: readonly RefinerMember[];
  readonly #movers: Int32Array;
  readonly #firsts: Int32Array;
  #nexts: Int32Array;
  #entries: Int32Array;
  #count = 0;

  constructor(members: readonly RefinerMember[], movers: Int32Array, moverCount: number) {
    this.#members = members;
    this.#movers = movers;
    this.#firsts = new Int32Array(moverCount).fill(NONE);
    // A copy of each, to begin with.
    this.#nexts = new Int32Array(moverCount);
    this.#entries = new Int32Array(moverCount);
  }

  get made(): MembersByMover {
    return { firsts: this.#firsts, nexts: this.#nexts, members: this.#entries };
  }

  /** Adds the members that have movers in such a role. @returns how many entries there are now. */
  add({ starts, places }: TaskRows, role: number): number {
    if (this.#firsts.length === 0) return 0;
    for (let member = 0; member < this.#members.length; member++) {
      const row = ROLES_OF_ROW * member + role;
      const to = starts[row + 1] as number;
      for (let at = starts[row] as number; at < to; at++) {
        const mover = this.#movers[places[at] as number] as number;
        if (mover !== NONE) this.#chain(mover, member);
      }
    }
    return this.#count;
  }

  /** Puts a member behind those of the mover whose ids are not higher; a task has few copies. */
  #chain(mover: number, member: number): void {
    const entry = this.#count++;
    if (entry === this.#entries.length) {
      this.#nexts = twice(this.#nexts);
      this.#entries = twice(this.#entries);
    }
    const before = this.#lastUpTo(mover, member);
    const next = (before === NONE ? this.#firsts[mover] : this.#nexts[before]) ?? NONE;
    this.#entries[entry] = member;
    this.#nexts[entry] = next;
    if (before === NONE) this.#firsts[mover] = entry;
    else this.#nexts[before] = entry;
  }

  /** The last entry of the mover whose id is not higher than the member's, or `NONE`. */
  #lastUpTo(mover: number, member: number): number {
    let last = NONE;
    let entry = this.#firsts[mover] ?? NONE;
    // Most often there is none yet.
    if (entry === NONE) return last;
    const memberId = idOf(this.#members, member);
    while (entry !== NONE && idOf(this.#members, this.#entries[entry] ?? NONE) <= memberId) {
      last = entry;
      entry = this.#nexts[entry] ?? NONE;
    }
    return last;
  }
}

/** With as much room again. */
function twice(numbers: Int32Array): Int32Array {
  const more = new Int32Array(2 * numbers.length);
  more.set(numbers);
  return more;
}

/** The process of a member. */
export function processOf({ processes }: Survey, member: number): number {
  return processes.ofMember[member] ?? NONE;
}

/** Stateful tasks per member of a process, in all roles (WU-7). */
export function loadOf({ processes }: Survey, process: number): number {
  return (processes.tasks[process] ?? 0) / (processes.sizes[process] ?? 1);
}

/** The mover of that name, or {@link NONE}. */
export function moverOf(
  { places, movers }: Survey,
  subtopologyId: string,
  partition: number,
): number {
  const place = places.of(subtopologyId, partition);
  return place === undefined ? NONE : (movers[place] ?? NONE);
}

/** The members that a chain has for a mover, by id. */
export function membersOf({ firsts, nexts, members }: MembersByMover, mover: number): number[] {
  const found: number[] = [];
  for (let entry = firsts[mover] ?? NONE; entry !== NONE; entry = nexts[entry] ?? NONE) {
    found.push(members[entry] ?? NONE);
  }
  return found;
}

const NO_COPIES: readonly number[] = [];

/** The copies of a mover on a process, in the order of members. */
export function copiesOn(survey: Survey, mover: number, process: number): readonly number[] {
  const { firsts, nexts, members } = survey.copies;
  let found: number[] | undefined;
  for (let copy = firsts[mover] ?? NONE; copy !== NONE; copy = nexts[copy] ?? NONE) {
    if (processOf(survey, members[copy] ?? NONE) !== process) continue;
    // Of most tasks there is none.
    if (found === undefined) found = [copy];
    else found.push(copy);
  }
  return found ?? NO_COPIES;
}
