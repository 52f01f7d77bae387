import type { BrokerGroupSettings } from '../../machines/model/group-config.ts';

/** A broker with Kafka's defaults. */
export const BROKER: BrokerGroupSettings = {
  sessionTimeoutMs: 45_000,
  sessionTimeoutMsMin: 45_000,
  sessionTimeoutMsMax: 60_000,
  heartbeatIntervalMs: 5_000,
  heartbeatIntervalMsMin: 5_000,
  heartbeatIntervalMsMax: 15_000,
  numStandbyReplicas: 0,
  numStandbyReplicasMax: 2,
  initialRebalanceDelayMs: 3_000,
  assignmentIntervalMs: 1_000,
  assignmentIntervalMsMin: 0,
  assignmentIntervalMsMax: 15_000,
  assignorOffload: true,
  taskOffsetIntervalMs: 60_000,
  taskOffsetIntervalMsMin: 15_000,
  numWarmupReplicas: 2,
  numWarmupReplicasMax: 20,
  acceptableRecoveryLag: 10_000n,
  rackAwareAssignmentTags: [],
  assignors: ['sticky', 'balanced'],
  assignorsExplicit: false,
};
