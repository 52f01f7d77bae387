import type { GroupSettings } from '../../machines/model/settings.ts';

/** A group's settings by their Kafka names, without prefix, where neither trace nor broker says another value. */
export const DEFAULTS: Readonly<Record<string, string>> = {
  'session.timeout.ms': '45000',
  'heartbeat.interval.ms': '5000',
  'num.standby.replicas': '0',
  'initial.rebalance.delay.ms': '3000',
  'assignment.interval.ms': '1000',
  'rack.aware.assignment.tags': '',
  'acceptable.recovery.lag': '10000',
  'task.offset.interval.ms': '60000',
};

/** What a value of a setting, by its Kafka name without prefix, changes. */
export const SETTINGS: Readonly<Record<string, (value: string) => Partial<GroupSettings>>> = {
  'session.timeout.ms': (value) => ({ sessionTimeoutMs: Number(value) }),
  'heartbeat.interval.ms': (value) => ({ heartbeatIntervalMs: Number(value) }),
  'num.standby.replicas': (value) => ({ numStandbyReplicas: Number(value) }),
  'initial.rebalance.delay.ms': (value) => ({ initialRebalanceDelayMs: Number(value) }),
  'assignment.interval.ms': (value) => ({ assignmentIntervalMs: Number(value) }),
  'rack.aware.assignment.tags': (value) => ({
    rackAwareAssignmentTags: value === '' ? [] : value.split(','),
  }),
  'acceptable.recovery.lag': (value) => ({ acceptableRecoveryLag: BigInt(value) }),
  'task.offset.interval.ms': (value) => ({ taskOffsetIntervalMs: Number(value) }),
  'assignor.name': (value) => ({ assignorName: value, assignorSelected: true }),
};
