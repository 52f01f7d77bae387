/** The settings of one group in force: its own override, else the broker's value (GC-1). All times in ms. */
export type GroupSettings = {
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly numStandbyReplicas: number;
  readonly numWarmupReplicas: number;
  readonly acceptableRecoveryLag: bigint;
  readonly taskOffsetIntervalMs: number;
  readonly initialRebalanceDelayMs: number;
  readonly assignmentIntervalMs: number;
  /** In order of priority. */
  readonly rackAwareAssignmentTags: readonly string[];
  /** The registered assignor that is selected, else the first one; `assignorInUse` says which one a run uses. */
  readonly assignorName: string;
  /** It was selected by name, by the group or by the broker, rather than by default (SC-2). */
  readonly assignorSelected: boolean;
  /** What the group selects and is not registered any more; left out where there is no such thing. */
  readonly assignorMissing?: string;
};

/** Settings of the coordinator as a whole that decisions need. */
export type CoordinatorSettings = {
  /** `group.streams.max.size` */
  readonly maxGroupSize: number;
  /** `assignor.answer.wait.ms`; 0: an answer never waits for its run (OFF-8). */
  readonly assignorAnswerWaitMs: number;
  /** `handover.heartbeat.interval.ms`; 0: off (RSP-8). */
  readonly handoverHeartbeatIntervalMs: number;
  /** `warmup.wait.max.ms`; 0: without bound. */
  readonly warmupWaitMaxMs: number;
  /** `offset.metadata.max.bytes` */
  readonly offsetMetadataMaxBytes: number;
  /** `offsets.retention.minutes`, in ms. */
  readonly offsetsRetentionMs: number;
  /** A gateway keeps offsets in its cluster: that a group has none here says nothing. */
  readonly offsetsAreElsewhere?: boolean;
};
