/** The roles in which a member can hold a task. */
export const ROLES = ['active', 'standby', 'warmup'] as const;
export type Role = (typeof ROLES)[number];

/** The tasks of one subtopology: partitions ascending, each once, never empty inside a {@link TaskList}. */
export type TaskIds = {
  readonly subtopologyId: string;
  readonly partitions: readonly number[];
};

/**
 * A set of tasks: subtopology ids in code-unit order, no empty entry (SC-9). The same value is what the wire
 * and the records carry, so equal assignments give equal bytes without translation.
 */
export type TaskList = readonly TaskIds[];

/** As {@link TaskIds}, with the epoch since which the member owns each task, in the order of `partitions`. */
export type ActiveTaskIds = TaskIds & { readonly assignmentEpochs: readonly number[] };
export type ActiveTaskList = readonly ActiveTaskIds[];

/** Tasks by role, as a target or as a member reports them. */
export type TasksByRole = {
  readonly active: TaskList;
  readonly standby: TaskList;
  readonly warmup: TaskList;
};

/** Tasks a member holds; the active ones remember since when, to fence offset commits of zombies (SC-11). */
export type HeldTasks = {
  readonly active: ActiveTaskList;
  readonly standby: TaskList;
  readonly warmup: TaskList;
};

/** A report of how far a task's state is: the sum of its changelog positions (int64). */
export type TaskOffset = {
  readonly subtopologyId: string;
  readonly partition: number;
  readonly offset: bigint;
};

export const NO_TASKS: TaskList = [];
export const NO_TASKS_BY_ROLE: TasksByRole = { active: [], standby: [], warmup: [] };
export const NO_HELD_TASKS: HeldTasks = { active: [], standby: [], warmup: [] };
