import type { RefinerMember } from './mover.ts';
import type { TaskPlaces } from './task-places.ts';

type Process = { readonly members: RefinerMember[]; tasks: number | undefined };

/** The members by process, and stateful tasks per member of each, in all roles (WU-7). Found where somebody asks. */
export class Loads {
  readonly #members: readonly RefinerMember[];
  readonly #places: TaskPlaces;
  #processes: ReadonlyMap<string, Process> | undefined;

  constructor(members: readonly RefinerMember[], places: TaskPlaces) {
    this.#members = members;
    this.#places = places;
  }

  /** 0 for a process without members. */
  of(processId: string): number {
    const process = this.#process(processId);
    return process === undefined ? 0 : this.#tasksOf(process) / process.members.length;
  }

  /** From now on a process has so many tasks more, or less. */
  add(processId: string, tasks: number): void {
    const process = this.#process(processId);
    if (process !== undefined) process.tasks = this.#tasksOf(process) + tasks;
  }

  /** By id. */
  membersOf(processId: string): readonly RefinerMember[] {
    return this.#process(processId)?.members ?? [];
  }

  #tasksOf(process: Process): number {
    if (process.tasks === undefined) {
      process.tasks = 0;
      for (const { assigned } of process.members) {
        for (const list of [assigned.active, assigned.standby, assigned.warmup]) {
          process.tasks += this.#places.countIn(list);
        }
      }
    }
    return process.tasks;
  }

  #process(processId: string): Process | undefined {
    this.#processes ??= byProcess(this.#members);
    return this.#processes.get(processId);
  }
}

function byProcess(members: readonly RefinerMember[]): ReadonlyMap<string, Process> {
  const processes = new Map<string, Process>();
  for (const member of members) {
    const known = processes.get(member.processId);
    if (known === undefined) {
      processes.set(member.processId, { members: [member], tasks: undefined });
    } else known.members.push(member);
  }
  return processes;
}
