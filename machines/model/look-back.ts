import type { Group } from './group.ts';
import type { TasksByRole } from './tasks.ts';

/**
 * Why a task is no longer where it was, or why it needs a place at all. Each says what can be seen from what was held
 * before and what was assigned; where several hold, the first in this order is said, of former standbys the one with the
 * first. A share is an even one among the members that take part; one task alone is above nobody's share.
 *
 * Of an active task: `unheard` no member was assigned it, or reports state of it; `unowned` no member was assigned it: who
 * was may have left, or is to give it up;
 * `staleOwner` its owner has an older topology; `aboveStatefulShare`, `aboveShare` its owner had more than a share of the
 * tasks with state, or of all; `processAboveShare` its owner's process had more than its members' shares of either;
 * `aboveSubtopologyShare` its owner, or its owner's process, had more than a share of its subtopology;
 * `ownerFull` its owner has its share without it.
 *
 * Of a standby: `tooFewCopies` fewer members had a standby than are to have one; `copyPromoted` the process of a former
 * standby runs the task now; `sameTags` the process of a former standby has a tag value of another copy where the new one
 * brings its own; `holderFull` who had a standby has its share of tasks in all roles without it.
 *
 * Of both: `assignor` none of these can be said: the assignor placed it anew.
 */
export const LEAVING = [
  'unheard',
  'unowned',
  'staleOwner',
  'aboveStatefulShare',
  'aboveShare',
  'processAboveShare',
  'aboveSubtopologyShare',
  'ownerFull',
  'tooFewCopies',
  'copyPromoted',
  'sameTags',
  'holderFull',
  'assignor',
] as const;

/**
 * Why a task came to the member that has it now; where several hold, the first in this order is said.
 *
 * `wasActive` the member had it as active; `hadStandby`, `hadWarmup` it had that copy; `claimed` it said that it had it as
 * active, and another member did too; `processHad` another member of its process had it in some role; `onDisk` its process
 * has state of it on disk; `belowShare` without it the member would have less than a share: of an active task with state, of
 * those with state; of one without, of actives; of a standby, of tasks in all roles.
 *
 * Of a standby alone: `newTags` its process brings a tag value that no other copy has; `noOtherProcess` every process that
 * takes new tasks has a copy.
 *
 * `assignor` none of these can be said. Of a user's own assignor nothing else is, and for leaving only what needs no even share,
 * no tags and no motive: `unheard`, `unowned`, `staleOwner`, `tooFewCopies` and `copyPromoted`.
 */
export const LANDING = [
  'wasActive',
  'hadStandby',
  'hadWarmup',
  'claimed',
  'processHad',
  'onDisk',
  'newTags',
  'belowShare',
  'noOtherProcess',
  'assignor',
] as const;

/** Why a task moves: why from there, and why to here. */
export type MoveReason = {
  readonly leaving: (typeof LEAVING)[number];
  readonly landing: (typeof LANDING)[number];
};

/** The reasons of one run; by partition, undefined: the task is not new to its member. Equal reasons are one object. */
export interface MoveReasons {
  ofActives(subtopologyId: string): (partition: number) => MoveReason | undefined;
  ofStandbys(
    memberId: string,
    subtopologyId: string,
  ): (partition: number) => MoveReason | undefined;
}

/** What a run says of its result. */
export type LookBack = { readonly figures: AssignmentFigures; readonly reasons: MoveReasons };

/** Tasks of a new target that go the same way for the same reason. */
export type MovedTasks = {
  readonly role: 'active' | 'standby';
  /** Who was to have them by the target before; of standbys those in whose place they come. Null: nobody. */
  readonly from: string | null;
  /** Null: they are taken away and go to nobody. */
  readonly to: string | null;
  /** Null: they are not new to whoever is to have them, or nothing is known. */
  readonly reason: MoveReason | null;
  /** What is to be said of one of them: where it goes and why. Its name goes in front. */
  readonly said: string;
  /** `0_3`. */
  readonly tasks: readonly string[];
};

/** What became of a run: for the journal. */
export type TargetReport = {
  readonly assignor: string;
  readonly figures: AssignmentFigures;
  /** The first {@link MOVED_TASKS_MAX} tasks that move, in the order of the words. */
  readonly moves: readonly MovedTasks[];
  /** Tasks that move and are not among them. */
  readonly movesLeftOut: number;
};

export const MOVED_TASKS_MAX = 200;

/** The figures of an assignment that are one number each. */
export const FIGURES = [
  'tasks',
  'statefulTasks',
  'sharers',
  'unassigned',
  'statefulSpread',
  'activeSpread',
  'loadSpread',
  'held',
  'moved',
  'leastMoved',
  'statefulHeld',
  'statefulMoved',
  'leastStatefulMoved',
  'copiesBuilt',
  'copiesHeld',
  'copiesKept',
  'statesOnDisk',
  'statesReused',
] as const satisfies readonly Exclude<keyof AssignmentFigures, 'tagDiversity'>[];

/**
 * How good an assignment is and what it costs, against what members held before. "Even" is an even share over the members
 * that take part: those of the group's topology, and those of an older one that keep something.
 *
 * Source: assignors 3.
 */
export type AssignmentFigures = {
  readonly tasks: number;
  readonly statefulTasks: number;
  /** Members that take part. */
  readonly sharers: number;
  /** Tasks that nobody may take (H1). */
  readonly unassigned: number;
  /** Most minus least stateful actives of a member (Q1). */
  readonly statefulSpread: number;
  /** Most minus least actives of a member (Q2). */
  readonly activeSpread: number;
  /** Most minus least tasks, in any role, per member of a process (Q4b). */
  readonly loadSpread: number;
  /** Actives that a member of the group had before. */
  readonly held: number;
  /** Of these, those that it has no more. */
  readonly moved: number;
  /** How many must leave their member if all members of the group are to have the same number, or one more. */
  readonly leastMoved: number;
  /** The same three, of tasks with state. */
  readonly statefulHeld: number;
  readonly statefulMoved: number;
  readonly leastStatefulMoved: number;
  /** Stateful tasks that come to processes which held none of their copies, in any role; each is restored or read from disk. */
  readonly copiesBuilt: number;
  /** Standbys and warm-ups held before, at most as many of a task as can be kept, by process; and those kept (Q8). */
  readonly copiesHeld: number;
  readonly copiesKept: number;
  /** States that processes report from disk without a role; and those whose process got the task (Q9). */
  readonly statesOnDisk: number;
  readonly statesReused: number;
  /**
   * Per tag of `rack.aware.assignment.tags`, in its order: how different the copies of a task are, 1 at best, the mean over
   * stateful tasks; null where fewer than two values are to be had (Q10).
   */
  readonly tagDiversity: readonly { readonly tag: string; readonly diversity: number | null }[];
};

/** One member's target as it was and as it is. */
export type TargetChange = {
  readonly memberId: string;
  readonly before: TasksByRole;
  readonly after: TasksByRole;
};

/** A target that is told of when its run has been looked back on. */
export type Untold = {
  readonly assignor: string;
  readonly changes: readonly TargetChange[];
  /** How many lines of its decision come before what is told of it. */
  readonly place: number;
  readonly incarnation: number;
  /** With the target installed. */
  readonly group: Group;
};
