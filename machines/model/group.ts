import type { Member } from './member.ts';
import type { PersistentMap } from './persistent-map.ts';
import type { TasksByRole } from './tasks.ts';
import type { KeyValue, Topology } from './topology.ts';

/** Kafka's print form of a streams group's state (GS-3). */
export type GroupState = 'Empty' | 'NotReady' | 'Assigning' | 'Reconciling' | 'Stable' | 'Dead';

/**
 * Who holds which task, from all members' assigned and pending tasks (section 7 of coordination). Keys are
 * `taskKey(subtopologyId, partition)`.
 */
export type Holders = {
  /** The process of the one holder; of two, the one recorded later (LOG-7). */
  readonly active: PersistentMap<string>;
  /** Process id to the number of its members that hold the task in this role. */
  readonly standby: PersistentMap<ReadonlyMap<string, number>>;
  readonly warmup: PersistentMap<ReadonlyMap<string, number>>;
};

/** One streams group, as its records say: folding the log over nothing gives this very value. */
export type Group = {
  readonly groupId: string;
  readonly groupEpoch: number;
  readonly metadataHash: bigint;
  readonly validatedTopologyEpoch: number;
  /** Ascending by key (SC-1). */
  readonly lastAssignmentConfigs: readonly KeyValue[];
  readonly storedDescriptionTopologyEpoch: number;
  readonly failedDescriptionTopologyEpoch: number;
  readonly assignmentEpoch: number;
  /** Wall clock, ms, at which the installed target was finished; 0 lets the next run start at once. */
  readonly assignmentTimestampMs: number;
  readonly topology: Topology | undefined;
  readonly members: PersistentMap<Member>;
  /** Instance id to member id. */
  readonly staticMembers: PersistentMap<string>;
  /** Target per member id. */
  readonly targets: PersistentMap<TasksByRole>;
  readonly holders: Holders;
  /** How many members have an endpoint: most groups have none, and nothing of their members is looked at for it. */
  readonly endpointCount: number;
  /** The ids of those members that have other tasks than the target gives them, in any role. */
  readonly offTarget: PersistentMap<true>;
  /** How many active tasks the targets of members name. */
  readonly targetTasks: number;
  /** How many members are in state stable at which member epoch (key: the epoch in decimal), so that the state costs the same in any group. */
  readonly stableMembersByEpoch: PersistentMap<number>;
  /** Derived after every record, never set by hand. */
  readonly state: GroupState;
};

/** A committed offset; the value of record type 1. */
export type CommittedOffset = {
  readonly offset: bigint;
  readonly leaderEpoch: number;
  readonly metadata: string;
  readonly commitTimestampMs: number;
  /** -1 = by the retention settings. */
  readonly expireTimestampMs: number;
  /** All zero = unknown. */
  readonly topicId: string;
};

/** Committed offsets by topic, then partition. */
export type Offsets = PersistentMap<ReadonlyMap<number, CommittedOffset>>;
