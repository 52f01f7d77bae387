import { invariant } from '../../model/refusal.ts';
import type { RefinerMember } from './mover.ts';
import type { TaskPlaces } from './task-places.ts';

/** The members of one process. Its load is found where somebody asks. */
export class ProcessLoad {
  /** By id. */
  readonly members: RefinerMember[] = [];
  readonly #places: TaskPlaces;
  #tasks: number | undefined;

  constructor(places: TaskPlaces) {
    this.#places = places;
  }

  /** Stateful tasks per member, in all roles (WU-7). */
  get load(): number {
    return this.#count() / this.members.length;
  }

  /** From now on it has so many tasks more, or less. */
  add(tasks: number): void {
    this.#tasks = this.#count() + tasks;
  }

  #count(): number {
    if (this.#tasks !== undefined) return this.#tasks;
    let tasks = 0;
    for (const { assigned } of this.members) {
      for (const list of [assigned.active, assigned.standby, assigned.warmup]) {
        tasks += this.#places.countIn(list);
      }
    }
    this.#tasks = tasks;
    return tasks;
  }
}

/** The processes of members. */
export class Loads {
  readonly #members: readonly RefinerMember[];
  readonly #places: TaskPlaces;
  #processes: ReadonlyMap<string, ProcessLoad> | undefined;

  constructor(members: readonly RefinerMember[], places: TaskPlaces) {
    this.#members = members;
    this.#places = places;
  }

  /** @param processId of one of the members. */
  process(processId: string): ProcessLoad {
    this.#processes ??= byProcess(this.#members, this.#places);
    const process = this.#processes.get(processId);
    invariant(process !== undefined, 'a load is that of a process with members');
    return process;
  }
}

function byProcess(
  members: readonly RefinerMember[],
  places: TaskPlaces,
): ReadonlyMap<string, ProcessLoad> {
  const processes = new Map<string, ProcessLoad>();
  for (const member of members) {
    let process = processes.get(member.processId);
    if (process === undefined) {
      process = new ProcessLoad(places);
      processes.set(member.processId, process);
    }
    process.members.push(member);
  }
  return processes;
}
