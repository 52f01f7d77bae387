import type { StandIn } from './assignors.ts';
import type { Group } from './group.ts';
import type { AssignmentFigures } from './look-back.ts';
import type { GroupPatterns } from './patterns.ts';
import type { PersistentMap } from './persistent-map.ts';
import type { Refinement, RefinementBasis, RefinerLimits } from './refinement.ts';
import type { TaskOffset } from './tasks.ts';
import type { ConfiguredTopology } from './topology.ts';

/** What is known of a member beside the log; gone after a load (LOAD-2). */
export type MemberSoft = {
  readonly taskOffsets: readonly TaskOffset[];
  readonly taskEndOffsets: readonly TaskOffset[];
  /** Wall clock, ms, at which the last of these lists came; undefined = none did. */
  readonly reportedAtMs: number | undefined;
  /** The version of its last heartbeat: 1 and above report offsets (OFS-4). */
  readonly heartbeatVersion: number | undefined;
  /** It has reported the task lists it was last sent (RSP-6). */
  readonly acknowledged: boolean;
  /** Its last answer told it the hand-over interval (RSP-8). */
  readonly hurried: boolean;
};

/** A run of the assignor in flight (OFF-1, OFF-2). */
export type RunInFlight = {
  readonly run: number;
  readonly groupEpoch: number;
  readonly topologyEpoch: number;
  /** Instance id to member id, as the run was started. */
  readonly instanceIds: Group['staticMembers'];
  /** Whose answer waits for it; a further heartbeat of the same member takes the wait over (OFF-8). */
  readonly waitingMemberId: string | undefined;
};

/** The refinement found last, and what it follows from: compared by identity, so that an idle heartbeat costs nothing (WU-2). */
export type DerivedRefinement = {
  readonly refinement: Refinement;
  /** Undefined: nothing moves, whatever is reported. */
  readonly basis: RefinementBasis | undefined;
  readonly members: Group['members'];
  readonly targets: Group['targets'];
  readonly configured: ConfiguredTopology | undefined;
  readonly limits: RefinerLimits;
};

/** The intermediate assignment of one target: frozen while its epoch lasts (WU-4). */
export type IntermediateAssignment = {
  readonly assignmentEpoch: number;
  readonly refinement: Pick<Refinement, 'slices' | 'moves'>;
};

/** State held outside the log. It is part of what a decision decided: kept and undone together with its batch (ORD-2). */
export type GroupSoft = {
  /** New whenever the group object is made, never used twice while the process lives (OFF-2). */
  readonly incarnation: number;
  readonly members: PersistentMap<MemberSoft>;
  readonly configured: ConfiguredTopology | undefined;
  readonly patterns: GroupPatterns;
  /** Topics may have changed since the topology was configured (H-4, H-5). */
  readonly refreshDue: boolean;
  /** Endpoint information epoch (IQ-1). */
  readonly endpointEpoch: number;
  /** The member that first asked for the application's shutdown (SHUT-1). */
  readonly shutdownBy: string | undefined;
  /** The initial rebalance delay is running (ASG-3). */
  readonly delaying: boolean;
  readonly run: RunInFlight | undefined;
  /** The number the next run gets; never falls within an incarnation. */
  readonly nextRun: number;
  /** Wall clock, ms, of the last failed run; no new one sooner than an interval later (OFF-6). */
  readonly runFailedAtMs: number | undefined;
  /** The target in force is of one of our assignors, in place of a user's own. */
  readonly standIn: StandIn | undefined;
  /** How good the target in force is; undefined where no run of this process made it. */
  readonly targetFigures: AssignmentFigures | undefined;
  /** The ids of members with reports that make a difference to what is derived, since it was. */
  readonly reporters: PersistentMap<true>;
  readonly derived: DerivedRefinement | undefined;
  readonly intermediate: IntermediateAssignment | undefined;
  /** How many members are hurried (RSP-8). */
  readonly hurriedMembers: number;
};
