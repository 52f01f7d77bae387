import type { Survey } from './survey.ts';
import type { TasksByRole } from './tasks.ts';

/** How a task is warmed up on the process it is to move to while somebody else runs it (WU-11). */
export type Warming =
  /** Its target owner gets, or keeps, a warm-up; takes one place of the budget. */
  | 'warmup'
  /** A standby on that process warms it, free of charge. */
  | 'standby'
  /** Nothing does: the budget is used up. */
  | 'noRoom'
  /** Nothing does: the target owner was not heard since a load, so nobody knows whether it reports its copies (WU-16). */
  | 'unheard'
  /** Nothing does: the member that the target names is not in the group (WU-9.2). */
  | 'ownerGone';

/** Why a task goes to its target owner. */
export type Grant =
  /** Its process has a copy that is caught up (WU-9.3). */
  | 'caughtUp'
  /** Its process has a copy that stands still, of a changelog whose end its owner cannot tell. */
  | 'atRest'
  /** It stays in its process (WU-9.3). */
  | 'sameProcess'
  /** The owner speaks a version in which copies are not reported: it could never be promoted (WU-16). */
  | 'neverReports'
  /** There was no progress with its copy there for `warmup.wait.max.ms`. */
  | 'waited'
  /** Nobody runs it, and the owner's process has it on disk (WU-9.5). */
  | 'onDisk'
  /** Nobody runs it well, and no copy is caught up (WU-9.6). */
  | 'cold';

/** What became of one stateful task that is not active where the target wants it (WU-9). Members by id. */
export type TaskMove = {
  readonly subtopologyId: string;
  readonly partition: number;
  /** Who has it as its active task; undefined = nobody. */
  readonly holder: string | undefined;
  /** Whom the target names; undefined = nobody in the group. */
  readonly owner: string | undefined;
  /** How far the best copy on the owner's process is behind; undefined = unknown. */
  readonly lag: bigint | undefined;
} & (
  | { readonly kind: 'granted'; readonly because: Grant }
  /** `runner` keeps it, or runs it meanwhile. */
  | { readonly kind: 'staged'; readonly runner: string; readonly warming: Warming }
);

/** Since when there is no progress with a copy of a task that is to move. */
export type WarmupWait = {
  /** The process of the copy. */
  readonly processId: string;
  /** Wall clock, ms. */
  readonly sinceMs: number;
  /** The least it was behind so far; undefined = it was never known. */
  readonly leastLag: bigint | undefined;
  /** The least that its owner had left to restore of its active tasks, by steps of the acceptable lag. */
  readonly restoringLag: bigint;
  /**
   * From where the way of the copy is measured while its owner cannot tell the end of the changelog. Of no time: active
   * tasks keep it from going.
   */
  readonly from: { readonly offset: bigint; readonly atMs: number | undefined };
};

/** By subtopology and partition; many places are empty. */
export type WarmupWaits = ReadonlyMap<string, readonly (WarmupWait | undefined)[]>;

/** Where a copy was, and when (wall clock, ms). */
export type Position = { readonly offset: bigint; readonly atMs: number };

/** Where a task that moves is to be active; `left`: no member that could have it is in the group. */
export type Verdict = 'staged' | 'left' | Grant;

/** What was found of one mover. Most of them are found alike, and share one value. */
export type Judged = {
  readonly verdict: Verdict;
  /** The copy that runs a staged task meanwhile; `NONE`: its holder keeps it. */
  readonly runningCopy: number;
  /** How far the best copy on the owner's process is behind; undefined = unknown. */
  readonly lag: bigint | undefined;
  readonly wait: WarmupWait | undefined;
  /** Wall clock, ms, from which on something else is found though nothing else is reported; infinite: never. */
  readonly untilMs: number;
  /** What becomes of a staged task that gets no place of the budget. */
  readonly warming: Exclude<Warming, 'warmup'>;
  /** The standby that warms it then, or `NONE`. */
  readonly standby: number;
  /** Why it would take a place of the budget: a new warm-up, one that it has, or one that has restored something. */
  readonly claim: 'none' | 'new' | 'kept' | 'underWay';
};

/** By member id the slices of the members for whom the intermediate assignment is not the target. A map is one, too. */
export type Slices = Iterable<[string, TasksByRole]> & {
  has(memberId: string): boolean;
  get(memberId: string): TasksByRole | undefined;
};

/** A target held against what members hold and report (coordination, section 8). */
export type Refinement = {
  readonly slices: Slices;
  /** In the order of tasks. */
  readonly moves: readonly TaskMove[];
  readonly waits: WarmupWaits;
  /** Wall clock, ms, at which a wait is over and the same input gives another result; infinite if there is none. */
  readonly untilMs: number;
};

/** What a refinement is held against. */
export type RefinerLimits = {
  /** The budget: how many warm-ups the group may have. */
  readonly warmupsMax: number;
  readonly acceptableRecoveryLag: bigint;
  /** Wall clock, ms. */
  readonly nowMs: number;
  /** How long one may wait for a copy that gets no closer, ms; 0: without bound. */
  readonly waitMaxMs: number;
  /** A member that says nothing for so many ms would have, had its offsets changed. */
  readonly silenceMs: number;
};

/** What a refinement was derived from, kept so that a few reports more cost only what they concern. */
export type RefinementBasis = {
  readonly survey: Survey;
  /** By mover. */
  readonly judged: readonly Judged[];
  /** The movers that have places of the budget. */
  readonly funded: ReadonlySet<number>;
  /** By mover: the member that runs it while it is staged; `NONE`: it is not. */
  readonly runners: Int32Array;
  /** By mover: the member whose standby warms it where it is, or `NONE`. */
  readonly lenders: Int32Array;
  /** Some runner has not had its task as its active one. */
  readonly doCopiesRun: boolean;
  readonly areStandbysLent: boolean;
  /** By member, as far as it was asked for: how much it has left to restore of its active tasks. */
  readonly restoringLags: readonly (bigint | undefined)[];
};

/** The intermediate assignment is the target (WU-1). */
export const UNREFINED: Refinement = {
  slices: new Map(),
  moves: [],
  waits: new Map(),
  untilMs: Number.POSITIVE_INFINITY,
};
