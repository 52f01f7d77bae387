import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { forEachTask, subtractTasks, unionTasks } from '../../machines/model/task-list.ts';
import type { TaskOffset, TasksByRole } from '../../machines/model/tasks.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { GROUP_ID } from './lone-coordinator.ts';
import { steadyBeat } from './steady-beat.ts';

/** What a member says it owns in a heartbeat: nothing, what it was last told, or also what it has not closed yet. */
export type Said = 'silent' | 'told' | 'all';

/** A client of the protocol in a test, honest and slow: it runs what it was told, and what it has not closed yet. */
export class PlayMember {
  readonly memberId: string;
  readonly processId: string;
  readonly topology: Topology;
  /** 0: it is to join. */
  epoch = 0;
  /** The lists of the last answer it read. */
  told: TasksByRole = NO_TASKS_BY_ROLE;
  /** What it really runs. */
  runs: TasksByRole = NO_TASKS_BY_ROLE;

  constructor(memberId: string, processId: string, topology: Topology) {
    this.memberId = memberId;
    this.processId = processId;
    this.topology = topology;
  }

  /** Its next request; a join when it has no epoch, having dropped everything first. */
  request(said: Said): HeartbeatRequest {
    if (this.epoch === 0) return this.join();
    if (said === 'told') this.runs = this.told;
    const own = said === 'silent' ? undefined : this.runs;
    return {
      ...steadyBeat(GROUP_ID, this.memberId, this.epoch),
      activeTasks: own?.active ?? null,
      standbyTasks: own?.standby ?? null,
      warmupTasks: own?.warmup ?? null,
    };
  }

  join(): HeartbeatRequest {
    this.told = NO_TASKS_BY_ROLE;
    this.runs = NO_TASKS_BY_ROLE;
    return {
      ...steadyBeat(GROUP_ID, this.memberId, 0),
      rebalanceTimeoutMs: 60_000,
      topology: this.topology,
      activeTasks: [],
      standbyTasks: [],
      warmupTasks: [],
      processId: this.processId,
    };
  }

  leave(): HeartbeatRequest {
    this.#drop();
    return steadyBeat(GROUP_ID, this.memberId, -1);
  }

  /** What it says of the copies it was told to have: all are this far behind; nothing without a lag. */
  reports(lag: number | undefined): Partial<HeartbeatRequest> {
    if (lag === undefined) return {};
    const ends: TaskOffset[] = [];
    forEachTask(unionTasks(this.told.standby, this.told.warmup), (subtopologyId, partition) => {
      ends.push({ subtopologyId, partition, offset: 20_000n });
    });
    const behind = ends.map((end) => ({ ...end, offset: end.offset - BigInt(lag) }));
    return { taskOffsets: behind, taskEndOffsets: ends };
  }

  /** Reads an answer to one of its requests. */
  read(answer: HeartbeatAnswer): void {
    if (answer.error !== 'NONE') {
      this.#drop();
      return;
    }
    if (answer.memberEpoch < 0) return;
    this.epoch = answer.memberEpoch;
    const { activeTasks, standbyTasks, warmupTasks } = answer;
    if (activeTasks === null || standbyTasks === null || warmupTasks === null) return;
    this.told = { active: activeTasks, standby: standbyTasks, warmup: warmupTasks };
    // What is not in the lists any more takes time to close; until then it is what it was.
    const active = unionTasks(activeTasks, this.runs.active);
    const standby = subtractTasks(unionTasks(standbyTasks, this.runs.standby), active);
    this.runs = { active, standby, warmup: warmupTasks };
  }

  #drop(): void {
    this.epoch = 0;
    this.told = NO_TASKS_BY_ROLE;
    this.runs = NO_TASKS_BY_ROLE;
  }
}
