import type { TaskPlaces } from './task-places.ts';
import type { TaskList, TaskOffset, TasksByRole } from './tasks.ts';

/** A member as the refiner sees it. */
export type RefinerMember = {
  readonly memberId: string;
  readonly processId: string;
  /** What it has now, without what it is to give up. */
  readonly assigned: TasksByRole;
  /** The warm-ups it is to give up and has until it says that it did. */
  readonly revokedWarmups: TaskList;
  /** What the assignor wants it to have: active and standby tasks. */
  readonly target: TasksByRole;
  readonly taskOffsets: readonly TaskOffset[];
  readonly taskEndOffsets: readonly TaskOffset[];
  /** Wall clock, ms, at which the last of these lists came; undefined = none did. */
  readonly reportedAtMs: number | undefined;
  /** Whether it reports how far its copies are; `unknown`: it was not heard since a load (OFS-4). */
  readonly reportsCopies: 'yes' | 'no' | 'unknown';
};

/** Nobody or nothing, among numbers. */
export const NONE = -1;

/**
 * The stateful tasks of members by their places, role by role, in one piece: they are walked through many times, and lists
 * of ten thousand tasks lie all over the heap.
 */
export type TaskRows = {
  /** By row, {@link ROLES_OF_ROW} × member + role: where its tasks begin; they end where those of the next row begin. */
  readonly starts: Int32Array;
  readonly places: Int32Array;
};

/** The roles in the order of a row. */
export const [ACTIVE, STANDBY, WARMUP] = [0, 1, 2] as const;
export const ROLES_OF_ROW = 3;

/** Some members of each mover, one entry each, in the order of their ids: lists that are chained in arrays. */
export type MembersByMover = {
  /** By mover: its first entry, or {@link NONE}. */
  readonly firsts: Int32Array;
  /** By entry: the next one of the mover, or {@link NONE}. */
  readonly nexts: Int32Array;
  /** By entry. */
  readonly members: Int32Array;
};

/** Copies of tasks that members have now. */
export type Copies = MembersByMover & {
  /** How many of the entries are standbys: they come first, and the rest are warm-ups. */
  readonly standbyCount: number;
};

/** The processes of members. */
export type Processes = {
  /** By member: its process. */
  readonly ofMember: Int32Array;
  /** By member: another one of its process, or {@link NONE}. */
  readonly nextMember: Int32Array;
  /** By process: one of its members. */
  readonly firstMember: readonly number[];
  /** By process: how many members it has. */
  readonly sizes: readonly number[];
  /** By process: the stateful tasks of its members, in all roles. */
  readonly tasks: readonly number[];
};

/**
 * Who has and who is to have each *mover*: a stateful task that is not active where the target wants it. It stays the
 * same whatever members report.
 *
 * Members, processes, movers and copies are numbers from 0. Were the movers objects, ten thousand of them would have to
 * be made for each look at a large group, and be carried along by the garbage collector.
 */
export type Survey = {
  readonly places: TaskPlaces;
  /** Those that matter, or all, with what they reported when a refinement was last derived from it. */
  readonly members: readonly RefinerMember[];
  /** By id: the member. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly processes: Processes;
  /** What members have now. */
  readonly held: TaskRows;
  /** What the target gives them. */
  readonly wanted: TaskRows;
  /** By the place of a task: the mover, or {@link NONE}. Movers are in the order of tasks. */
  readonly movers: Int32Array;
  /** By mover: the member that has it as its active task, or {@link NONE}. Of two, the one with the lower id. */
  readonly holders: Int32Array;
  /** By mover: the member that the target names, or {@link NONE}. */
  readonly owners: Int32Array;
  readonly copies: Copies;
  /** The members that the target wants to have a standby. */
  readonly standbyTargets: MembersByMover;
  /** How many warm-ups of stateful tasks members have, with those they are to give up. */
  readonly warmupCount: number;
};
