/**
 * What a module of `assignors.modules` exports by default: given a group, who is to have which task. It may be async. It runs in
 * a process of its own; what it returns is checked before anyone sees it (docs/own-assignor.md).
 */
export type Assignor = (problem: Problem) => Assignment | Promise<Assignment>;

/** Subtopology and partition: `0_3`. */
export type TaskId = string;

/** Tasks by member id. A member that is left out gets none. */
export type Assignment = ReadonlyMap<string, MemberTasks> | Readonly<Record<string, MemberTasks>>;

export type MemberTasks = {
  readonly active?: readonly TaskId[];
  readonly standby?: readonly TaskId[];
};

/** A group at the moment its tasks are to be assigned. A copy: what is done to it reaches nobody. */
export type Problem = {
  readonly groupId: string;
  /** By subtopology id, then partition. */
  readonly tasks: readonly Task[];
  /** By id. */
  readonly members: readonly Member[];
  /** By id. */
  readonly processes: readonly Process[];
  /** Standbys that each stateful task must have where all members take new tasks: the configured ones, or as many as there are other processes. */
  readonly standbysPerTask: number;
  /** Keys of client tags over which copies are to be spread, the most important first. */
  readonly rackAwareAssignmentTags: readonly string[];
};

export type Task = {
  readonly taskId: TaskId;
  readonly subtopologyId: string;
  readonly partition: number;
  /** It has a changelog: it may have standbys, and its state is worth keeping in place. */
  readonly stateful: boolean;
  /** The member that runs it now; null: nobody in the group. */
  readonly activeOn: string | null;
  /** Whoever else has its state, best first. Empty for a stateless task. */
  readonly copies: readonly Copy[];
};

/** State of a task that a member has, now or on its disk. */
export type Copy = {
  readonly memberId: string;
  readonly processId: string;
  /** `disk`: left there by an earlier role. `active`: a second member that claims to run it. */
  readonly role: 'standby' | 'warmup' | 'disk' | 'active';
  /** Its lag is within `acceptable.recovery.lag`. */
  readonly caughtUp: boolean;
  /** Sum of the offsets reached, rounded above 2^53; 0: restoring has not begun; null: not reported. */
  readonly offset: number | null;
};

export type Member = {
  readonly memberId: string;
  readonly processId: string;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly clientTags: Readonly<Record<string, string>>;
  /** False: it has another topology than the group; it may keep what it has in the same role, and get nothing else. */
  readonly takesNewTasks: boolean;
  readonly active: readonly TaskId[];
  readonly standby: readonly TaskId[];
};

/** Members of one process share disk and memory: a task may be on one of them only. */
export type Process = {
  readonly processId: string;
  /** In the order of their ids. */
  readonly memberIds: readonly string[];
};
