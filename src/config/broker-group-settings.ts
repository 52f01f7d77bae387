import type { BrokerGroupSettings } from '../../machines/model/group-config.ts';
import type { SettingValues } from './definitions.ts';

/**
 * The broker's values of what a group may override, with their bounds.
 *
 * @param assignorsExplicit the assignors were set by somebody rather than by default (BC-3, SC-2).
 */
export function brokerGroupSettings(
  values: SettingValues,
  { assignorsExplicit }: { readonly assignorsExplicit: boolean },
): BrokerGroupSettings {
  return {
    sessionTimeoutMs: values['group.streams.session.timeout.ms'],
    sessionTimeoutMsMin: values['group.streams.min.session.timeout.ms'],
    sessionTimeoutMsMax: values['group.streams.max.session.timeout.ms'],
    heartbeatIntervalMs: values['group.streams.heartbeat.interval.ms'],
    heartbeatIntervalMsMin: values['group.streams.min.heartbeat.interval.ms'],
    heartbeatIntervalMsMax: values['group.streams.max.heartbeat.interval.ms'],
    numStandbyReplicas: values['group.streams.num.standby.replicas'],
    numStandbyReplicasMax: values['group.streams.max.standby.replicas'],
    initialRebalanceDelayMs: values['group.streams.initial.rebalance.delay.ms'],
    assignmentIntervalMs: values['group.streams.assignment.interval.ms'],
    assignmentIntervalMsMin: values['group.streams.min.assignment.interval.ms'],
    assignmentIntervalMsMax: values['group.streams.max.assignment.interval.ms'],
    assignorOffload: values['group.streams.assignor.offload.enable'],
    taskOffsetIntervalMs: values['group.streams.task.offset.interval.ms'],
    taskOffsetIntervalMsMin: values['group.streams.min.task.offset.interval.ms'],
    numWarmupReplicas: values['group.streams.num.warmup.replicas'],
    numWarmupReplicasMax: values['group.streams.max.warmup.replicas'],
    acceptableRecoveryLag: values['group.streams.acceptable.recovery.lag'],
    rackAwareAssignmentTags: values['group.streams.rack.aware.assignment.tags'],
    assignors: values['group.streams.assignors'],
    assignorsExplicit,
  };
}
