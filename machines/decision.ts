import type { Client, HeartbeatAnswer, HeartbeatRequest } from './commands.ts';
import type { GroupProblem, GroupResult, RunProblem } from './model/assignment.ts';
import type { Group, Offsets } from './model/group.ts';
import type { Untold } from './model/look-back.ts';
import type { PatternQuery } from './model/patterns.ts';
import type { Behaviour } from './model/profile.ts';
import type { CoordinatorSettings, GroupSettings } from './model/settings.ts';
import type { GroupSoft } from './model/soft.ts';
import type { TopicsView } from './model/topics.ts';
import type { CreatableTopic } from './model/topology.ts';
import type { PreparedTarget } from './new-target.ts';
import type { GroupRecord } from './records.ts';

/** Everything one command leads to. Plain data; the shard actor carries it out, in this order. */
export type Decision<TRecord, TSoft, TReply, TEffect> = {
  /** One atomic batch, applied at once and appended with the turn's other batches. Empty for an idle heartbeat. */
  readonly records: readonly TRecord[];
  /** The next in-memory state; goes with the batch: kept when it is appended, undone with it when that fails. */
  readonly soft: TSoft;
  /** Sent once the batch is committed. */
  readonly reply: Reply<TReply>;
  /**
   * Timers to arm, work to start: carried out when the batch was handed to the log, undone when it fails. Topics to
   * create, which nothing takes back, wait for the commit (C-2).
   */
  readonly effects: readonly TEffect[];
  /** Why, in words a person can read in the journal. Empty when nothing happened that anyone would ask about. */
  readonly because: readonly string[];
  /** A target that this installs, whose reasons come when its run has been looked back on; the journal waits for them. */
  readonly untold?: Untold | undefined;
};

/** An answer now, or one that waits for the run of the assignor that the heartbeat started (OFF-8). */
export type Reply<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'held'; readonly held: HeldHeartbeat };

/** What steps 12 to 15 of a held heartbeat need (OFF-8): from the ME and PE the member had before it. */
export type HeldHeartbeat = {
  readonly run: number;
  readonly request: HeartbeatRequest;
  readonly client: Client;
  /** The member was made or joined by this heartbeat; its answer always carries task lists. */
  readonly joined: boolean;
  /** The group was made by this heartbeat. */
  readonly created: boolean;
  /** It raised the endpoint epoch already: once per heartbeat, whatever follows (IQ-1). */
  readonly endpointEpochRaised: boolean;
};

/** All that is known under one group id. Several of them make a shard's state. */
export type GroupSlot = {
  readonly groupId: string;
  /** Undefined: no streams group; the id may still hold offsets (a simple group). */
  readonly group: Group | undefined;
  readonly soft: GroupSoft;
  readonly offsets: Offsets;
};

/** What a decision may look at beside the slot; the same for all decisions of one turn. */
export type Context = {
  /** Wall clock, ms. */
  readonly nowMs: number;
  readonly settings: GroupSettings;
  readonly coordinator: CoordinatorSettings;
  readonly behaviour: Behaviour;
  readonly topics: TopicsView;
  /** Taken when this decision makes a group (OFF-2). */
  readonly freshIncarnation: number;
  /** There is room to hurry one more member (RSP-8). */
  readonly mayHurry: boolean;
  /** Failures to create this group's internal topics, as text to append to status 3 (C-8); undefined if none. */
  readonly creationFailures: (topics: readonly CreatableTopic[]) => string | undefined;
};

/** What the shard actor does beside writing and answering. Timers are keyed by group, and member where one is named. */
export type Effect =
  | { readonly type: 'armSession'; readonly memberId: string; readonly delayMs: number }
  | {
      readonly type: 'armRebalance';
      readonly memberId: string;
      readonly delayMs: number;
      readonly memberEpoch: number;
    }
  | { readonly type: 'cancelRebalance'; readonly memberId: string }
  /** Session and rebalance timers of a member that is gone. */
  | { readonly type: 'cancelMember'; readonly memberId: string }
  | { readonly type: 'armInitialDelay'; readonly delayMs: number }
  | { readonly type: 'cancelInitialDelay' }
  | { readonly type: 'startRun'; readonly run: AssignmentRun }
  /** A run is due and has to wait. */
  | { readonly type: 'prepareRun'; readonly problem: GroupProblem }
  | { readonly type: 'searchTopics'; readonly query: PatternQuery }
  | {
      readonly type: 'createTopics';
      readonly topics: readonly CreatableTopic[];
      readonly failureTtlMs: number;
    };

/** One run of the assignor; the result comes back with these tags (OFF-2). */
export type AssignmentRun = {
  readonly incarnation: number;
  readonly run: number;
  readonly groupEpoch: number;
  readonly problem: RunProblem;
};

/** What became of a run. */
export type RunOutcome =
  | {
      readonly kind: 'assigned';
      readonly incarnation: number;
      readonly run: number;
      readonly groupEpoch: number;
      readonly problem: RunProblem;
      readonly result: GroupResult;
      /** What there is to install of the result; left out: it is found when it is installed. */
      readonly prepared?: PreparedTarget;
      /** The run is being looked back on: reasons and figures come later. Left out: they never do. */
      readonly looksBack?: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly incarnation: number;
      readonly run: number;
      readonly reason: string;
    };

export type GroupDecision<TReply> = Decision<GroupRecord, GroupSoft, TReply, Effect> & {
  /** The group with the records folded in, where the decision had to do it to go on; left out: that is still to be done. */
  readonly folded?: GroupSlot;
};
export type HeartbeatDecision = GroupDecision<HeartbeatAnswer>;
