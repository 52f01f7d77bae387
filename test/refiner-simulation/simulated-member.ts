import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { NOT_STARTED } from '../../machines/model/lag.ts';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
import type { TaskList, TaskOffset, TasksByRole } from '../../machines/model/tasks.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { GROUP_ID } from '../support/lone-coordinator.ts';
import { steadyBeat } from '../support/steady-beat.ts';
import type { Disks } from './disks.ts';

/** A client as the released one is: it does at once what it is told, and reports what is news (WU, "what it sends"). */
export class SimulatedMember {
  readonly memberId: string;
  readonly processId: string;
  /** 0: it is to join. */
  epoch = 0;
  has: TasksByRole = NO_TASKS_BY_ROLE;
  /** Sent with the next heartbeat; another one asks for a new target. */
  rackId: string | null = null;
  readonly #topology: Topology;
  readonly #disks: Disks;
  readonly #running = new Set<string>();
  #said: TasksByRole | undefined;
  #saidOffsets = '';
  #saidEnds = '';

  constructor(memberId: string, processId: string, topology: Topology, disks: Disks) {
    this.memberId = memberId;
    this.processId = processId;
    this.#topology = topology;
    this.#disks = disks;
  }

  /** @param isHeld whether a member of its process has a task. */
  request(isHeld: (task: string) => boolean): HeartbeatRequest {
    const { offsets, ends } = this.#reports(isHeld);
    const reported = {
      taskOffsets: this.#news('offsets', offsets),
      taskEndOffsets: this.#news('ends', ends),
    };
    const { rackId } = this;
    this.rackId = null;
    if (this.epoch === 0) {
      return {
        ...steadyBeat(GROUP_ID, this.memberId, 0),
        ...reported,
        rackId,
        rebalanceTimeoutMs: 60_000,
        topology: this.#topology,
        activeTasks: [],
        standbyTasks: [],
        warmupTasks: [],
        processId: this.processId,
      };
    }
    const own = this.has === this.#said ? undefined : this.has;
    this.#said = this.has;
    return {
      ...steadyBeat(GROUP_ID, this.memberId, this.epoch),
      ...reported,
      rackId,
      activeTasks: own?.active ?? null,
      standbyTasks: own?.standby ?? null,
      warmupTasks: own?.warmup ?? null,
    };
  }

  /** Another coordinator answers: it is told everything again. */
  meetCoordinator(): void {
    this.#said = undefined;
    this.#saidOffsets = '';
    this.#saidEnds = '';
  }

  leave(): HeartbeatRequest {
    return steadyBeat(GROUP_ID, this.memberId, -1);
  }

  /** @returns the tasks it had before, if it was told others. */
  read(answer: HeartbeatAnswer): TasksByRole | undefined {
    if (answer.error !== 'NONE') throw new Error(`${this.memberId}: ${answer.errorMessage}`);
    this.epoch = answer.memberEpoch;
    const { activeTasks, standbyTasks, warmupTasks } = answer;
    if (activeTasks === null || standbyTasks === null || warmupTasks === null) return undefined;
    const before = this.has;
    this.has = { active: activeTasks, standby: standbyTasks, warmup: warmupTasks };
    for (const task of this.#running) if (!this.holds('active', task)) this.#running.delete(task);
    return before;
  }

  holds(role: keyof TasksByRole, task: string): boolean {
    return keysOf(this.has[role]).includes(task);
  }

  runs(task: string): boolean {
    return this.#running.has(task);
  }

  /** A tick of what runs. */
  process(): void {
    for (const task of this.#running) {
      if (this.#disks.isStateful(task)) this.#disks.write(this.processId, task);
    }
  }

  /** A tick of what does not run: copies go on only when no active task is to be restored. */
  restore(): void {
    const restoring = keysOf(this.has.active).filter((task) => !this.#running.has(task));
    for (const task of restoring) {
      if (this.#disks.isStateful(task) && this.#disks.lagOn(this.processId, task) > 0) {
        this.#disks.restore(this.processId, task);
      } else this.#running.add(task);
    }
    if (restoring.some((task) => !this.#running.has(task))) return;
    for (const role of ['standby', 'warmup'] as const) {
      for (const task of keysOf(this.has[role])) this.#disks.restore(this.processId, task);
    }
  }

  #reports(isHeld: (task: string) => boolean): {
    readonly offsets: readonly TaskOffset[];
    readonly ends: readonly TaskOffset[];
  } {
    const offsets: TaskOffset[] = [];
    const ends: TaskOffset[] = [];
    const { processId } = this;
    const say = (task: string, isOpen: boolean): void => {
      const { subtopologyId = '', partition = 0 } = this.#disks.tasks.get(task) ?? {};
      const offset = BigInt(this.#disks.positionOn(processId, task) ?? 0);
      offsets.push({ subtopologyId, partition, offset });
      if (!isOpen) return;
      // Of a changelog that is empty no client tells the end.
      const end = this.#disks.isEmpty(task) ? NOT_STARTED : BigInt(this.#disks.endOf(task));
      ends.push({ subtopologyId, partition, offset: end });
    };
    for (const task of keysOf(this.has.active)) {
      if (this.#disks.isStateful(task) && !this.#running.has(task)) say(task, true);
    }
    for (const task of [...keysOf(this.has.standby), ...keysOf(this.has.warmup)]) say(task, true);
    for (const task of this.#disks.tasksOn(processId)) if (!isHeld(task)) say(task, false);
    return { offsets, ends };
  }

  /** A list is sent when it differs from the one sent last. */
  #news(list: 'offsets' | 'ends', now: readonly TaskOffset[]): readonly TaskOffset[] | null {
    const text = now.map((one) => `${one.subtopologyId}_${one.partition}:${one.offset}`).join();
    const known = list === 'offsets' ? this.#saidOffsets : this.#saidEnds;
    if (list === 'offsets') this.#saidOffsets = text;
    else this.#saidEnds = text;
    return text === known ? null : now;
  }
}

/** The names of the tasks of a list. */
export function keysOf(tasks: TaskList): readonly string[] {
  const keys: string[] = [];
  forEachTask(tasks, (subtopologyId, partition) => keys.push(taskKey(subtopologyId, partition)));
  return keys;
}
