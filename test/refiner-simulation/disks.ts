import { taskKey } from '../../machines/model/task-list.ts';
import type { Scenario, SimulatedTask } from './draw-scenario.ts';

/** The truth about the state of tasks: how long changelogs are, and how much of them each process has on its disk. */
export class Disks {
  readonly tasks: ReadonlyMap<string, SimulatedTask>;
  readonly #ends = new Map<string, number>();
  readonly #positions = new Map<string, Map<string, number>>();
  readonly #restoreRate: number;

  constructor({ tasks, restoreRate }: Scenario) {
    this.tasks = new Map(tasks.map((task) => [taskKey(task.subtopologyId, task.partition), task]));
    for (const [key, { records }] of this.tasks) this.#ends.set(key, records);
    this.#restoreRate = restoreRate;
  }

  isStateful(task: string): boolean {
    return this.tasks.get(task)?.isStateful === true;
  }

  /** Nothing was ever written to it, nor will be. */
  isEmpty(task: string): boolean {
    const { records = 0, writeRate = 0 } = this.tasks.get(task) ?? {};
    return records + writeRate === 0;
  }

  endOf(task: string): number {
    return this.#ends.get(task) ?? 0;
  }

  /** Undefined: the process has nothing of it. */
  positionOn(processId: string, task: string): number | undefined {
    return this.#positions.get(processId)?.get(task);
  }

  /** How much a process has to restore. */
  lagOn(processId: string, task: string): number {
    return this.endOf(task) - (this.positionOn(processId, task) ?? 0);
  }

  /** The tasks of which a process has something. */
  tasksOn(processId: string): Iterable<string> {
    return this.#positions.get(processId)?.keys() ?? [];
  }

  /** A tick of restoration. */
  restore(processId: string, task: string): void {
    const position = (this.positionOn(processId, task) ?? 0) + this.#restoreRate;
    this.#put(processId, task, Math.min(position, this.endOf(task)));
  }

  /** A tick of processing by a process that is at the end. */
  write(processId: string, task: string): void {
    const end = this.endOf(task) + (this.tasks.get(task)?.writeRate ?? 0);
    this.#ends.set(task, end);
    this.#put(processId, task, end);
  }

  /** The machine is gone, with all that it had. */
  lose(processId: string): void {
    this.#positions.delete(processId);
  }

  #put(processId: string, task: string, position: number): void {
    const known = this.#positions.get(processId) ?? new Map<string, number>();
    this.#positions.set(processId, known);
    known.set(task, position);
  }
}
