import {
  type MembersByMover,
  NONE,
  type Processes,
  type RefinerMember,
  type Survey,
} from '../../model/survey.ts';
import { TaskPlaces } from '../../model/task-places.ts';
import type { TaskList } from '../../model/tasks.ts';

/**
 * Finds the stateful tasks that are not active where the target wants them, and who has or is to have them.
 *
 * @param input.members in any order.
 * @param input.isPart they are those that matter: a task that none of them has nor is to have is with its owner.
 */
export function surveyOf(input: {
  readonly subtopologies: ConstructorParameters<typeof TaskPlaces>[0];
  readonly members: readonly RefinerMember[];
  readonly isPart: boolean;
}): Survey {
  const { members, isPart } = input;
  const places = new TaskPlaces(input.subtopologies);
  const { movers, holders, owners } = findMovers(places, members, isPart);
  const processes = findProcesses(places, members);
  const copies = new Chains(places, members, movers, owners.length);
  const standbyCount = copies.add(({ assigned }) => assigned.standby);
  copies.add(({ assigned }) => assigned.warmup);
  const standbyTargets = new Chains(places, members, movers, owners.length);
  standbyTargets.add(({ target }) => target.standby);
  const { firsts, nexts, members: copyMembers } = copies.made;
  let warmupCount = 0;
  for (const { assigned, revokedWarmups } of members) {
    warmupCount += places.countIn(assigned.warmup) + places.countIn(revokedWarmups);
  }
  return {
    places,
    members,
    numbers: numbersOf(members),
    processes,
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

type ListOf = (member: RefinerMember) => TaskList;

function findMovers(
  places: TaskPlaces,
  members: readonly RefinerMember[],
  isPart: boolean,
): Pick<Survey, 'movers' | 'holders' | 'owners'> {
  const holderAt = findHolders(places, members, ({ assigned }) => assigned.active);
  const ownerAt = findHolders(places, members, ({ target }) => target.active);
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

/** By place: the member that has the task in its list, or `NONE`; of two, the one with the lower id. */
function findHolders(
  places: TaskPlaces,
  members: readonly RefinerMember[],
  listOf: ListOf,
): Int32Array {
  const holders = new Int32Array(places.count).fill(NONE);
  for (let number = 0; number < members.length; number++) {
    const member = members[number];
    if (member === undefined) continue;
    for (const { subtopologyId, partitions } of listOf(member)) {
      const range = places.rangeOf(subtopologyId);
      if (range === undefined) continue;
      for (const partition of partitions) {
        if (partition >= range.taskCount) break;
        const place = range.first + partition;
        const known = holders[place] ?? NONE;
        if (known === NONE || member.memberId < idOf(members, known)) holders[place] = number;
      }
    }
  }
  return holders;
}

function idOf(members: readonly RefinerMember[], member: number): string {
  return members[member]?.memberId ?? '';
}

function findProcesses(places: TaskPlaces, members: readonly RefinerMember[]): Processes {
  const numbers = new Map<string, number>();
  const ofMember = new Int32Array(members.length);
  const nextMember = new Int32Array(members.length).fill(NONE);
  const firstMember: number[] = [];
  const sizes: number[] = [];
  const tasks: number[] = [];
  for (let number = 0; number < members.length; number++) {
    const member = members[number];
    if (member === undefined) continue;
    let process = numbers.get(member.processId);
    if (process === undefined) {
      process = sizes.length;
      numbers.set(member.processId, process);
      firstMember.push(NONE);
      sizes.push(0);
      tasks.push(0);
    }
    ofMember[number] = process;
    nextMember[number] = firstMember[process] ?? NONE;
    firstMember[process] = number;
    sizes[process] = (sizes[process] ?? 0) + 1;
    const { active, standby, warmup } = member.assigned;
    const count = places.countIn(active) + places.countIn(standby) + places.countIn(warmup);
    tasks[process] = (tasks[process] ?? 0) + count;
  }
  return { ofMember, nextMember, firstMember, sizes, tasks };
}

/** {@link MembersByMover} in the making. */
class Chains {
  readonly #places: TaskPlaces;
  readonly #members: readonly RefinerMember[];
  readonly #movers: Int32Array;
  readonly #firsts: Int32Array;
  #nexts: Int32Array;
  #entries: Int32Array;
  #count = 0;

  constructor(
    places: TaskPlaces,
    members: readonly RefinerMember[],
    movers: Int32Array,
    moverCount: number,
  ) {
    this.#places = places;
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

  /** Adds the members that have movers in such a list. @returns how many entries there are now. */
  add(listOf: ListOf): number {
    if (this.#firsts.length === 0) return 0;
    for (let member = 0; member < this.#members.length; member++) this.#addOf(member, listOf);
    return this.#count;
  }

  #addOf(number: number, listOf: ListOf): void {
    const member = this.#members[number];
    if (member === undefined) return;
    for (const { subtopologyId, partitions } of listOf(member)) {
      const range = this.#places.rangeOf(subtopologyId);
      if (range === undefined) continue;
      for (const partition of partitions) {
        if (partition >= range.taskCount) break;
        const mover = this.#movers[range.first + partition] ?? NONE;
        if (mover !== NONE) this.#chain(mover, number);
      }
    }
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
