import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import type { Group } from '../../machines/model/group.ts';
import {
  forEachTask,
  intersectTasks,
  taskKey,
  toTaskList,
  unionTasks,
} from '../../machines/model/task-list.ts';
import {
  NO_TASKS_BY_ROLE,
  ROLES,
  type Role,
  type TaskList,
  type TasksByRole,
} from '../../machines/model/tasks.ts';

/**
 * What the clients of one group were told to run and have not reported as dropped: the most that they can be running,
 * whatever became of the answers. Two laws hold over it at every instant, in every test that plays a history.
 *
 * Source: scenarios S08 and S10.
 */
export class ToldTasks {
  readonly #told = new Map<string, TasksByRole>();

  /** A request that was accepted: what it says it owns is all it still runs; a join starts with nothing. */
  heard({ memberId, memberEpoch, activeTasks, standbyTasks, warmupTasks }: HeartbeatRequest): void {
    if (memberEpoch < 0) {
      this.#told.delete(memberId);
      return;
    }
    if (activeTasks === null || standbyTasks === null || warmupTasks === null) return;
    const owned = { active: activeTasks, standby: standbyTasks, warmup: warmupTasks };
    this.#change(memberId, (role, told) => intersectTasks(told, toTaskList(owned[role])));
  }

  /** An answer was sent, whether or not it arrives. Without lists it tells nothing new. */
  told({ memberId, activeTasks, standbyTasks, warmupTasks }: HeartbeatAnswer): void {
    if (activeTasks === null || standbyTasks === null || warmupTasks === null) return;
    const lists = { active: activeTasks, standby: standbyTasks, warmup: warmupTasks };
    this.#change(memberId, (role, told) => unionTasks(told, lists[role]));
  }

  /**
   * One owner: no active task with two members. One copy per process: no stateful task with two members of a process,
   * in whatever roles; one member that changes its own role has one copy. Members that the group does not have any
   * more have lost what they had.
   *
   * @returns what breaks a law, in words.
   */
  violations(group: Group | undefined): readonly string[] {
    const owners = new Map<string, Set<string>>();
    const copies = new Map<string, Set<string>>();
    const stateful = new Set(
      (group?.topology?.subtopologies ?? [])
        .filter(({ stateChangelogTopics }) => stateChangelogTopics.length > 0)
        .map(({ subtopologyId }) => subtopologyId),
    );
    for (const memberId of [...this.#told.keys()]) {
      const member = group?.members.get(memberId);
      if (member === undefined) {
        this.#told.delete(memberId);
        continue;
      }
      for (const role of ROLES) {
        forEachTask(this.#of(memberId)[role], (subtopologyId, partition) => {
          const task = taskKey(subtopologyId, partition);
          if (role === 'active') add(owners, task, memberId);
          if (stateful.has(subtopologyId)) {
            add(copies, `${task} in ${member.processId}`, memberId);
          }
        });
      }
    }
    return [
      ...several(owners).map((words) => `Two owners: ${words}`),
      ...several(copies).map((words) => `Two copies: ${words}`),
    ];
  }

  /** Throws what {@link violations} finds. */
  hold(group: Group | undefined): void {
    const broken = this.violations(group);
    if (broken.length > 0) throw new Error(broken.join('; '));
  }

  /** As it is now. @returns what brings it back, as often as wanted. */
  keep(): () => void {
    const told = [...this.#told];
    return () => {
      this.#told.clear();
      for (const [memberId, tasks] of told) this.#told.set(memberId, tasks);
    };
  }

  #of(memberId: string): TasksByRole {
    return this.#told.get(memberId) ?? NO_TASKS_BY_ROLE;
  }

  #change(memberId: string, change: (role: Role, told: TaskList) => TaskList): void {
    const told = this.#of(memberId);
    this.#told.set(memberId, {
      active: change('active', told.active),
      standby: change('standby', told.standby),
      warmup: change('warmup', told.warmup),
    });
  }
}

function add(sets: Map<string, Set<string>>, key: string, memberId: string): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([memberId]));
  else known.add(memberId);
}

function several(sets: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  return [...sets]
    .filter(([, members]) => members.size > 1)
    .map(([key, members]) => `${key} with ${[...members].join(' and ')}`);
}
