import {
  type Bounds,
  type BrokerGroupSettings,
  type GroupConfig,
  wantedBoolean,
  wantedDistinct,
  wantedNumber,
  wantedOneOf,
} from './group-config.ts';

export const SESSION_TIMEOUT = 'streams.session.timeout.ms';
export const HEARTBEAT_INTERVAL = 'streams.heartbeat.interval.ms';
export const NUM_STANDBY_REPLICAS = 'streams.num.standby.replicas';
export const INITIAL_REBALANCE_DELAY = 'streams.initial.rebalance.delay.ms';
export const ASSIGNMENT_INTERVAL = 'streams.assignment.interval.ms';
export const ASSIGNOR_OFFLOAD = 'streams.assignor.offload.enable';
export const TASK_OFFSET_INTERVAL = 'streams.task.offset.interval.ms';
export const NUM_WARMUP_REPLICAS = 'streams.num.warmup.replicas';
export const RACK_AWARE_TAGS = 'streams.rack.aware.assignment.tags';
export const ACCEPTABLE_RECOVERY_LAG = 'streams.acceptable.recovery.lag';
export const ASSIGNOR_NAME = 'streams.assignor.name';

/** The configs whose value is a number. */
export type NumericGroupConfig =
  | typeof SESSION_TIMEOUT
  | typeof HEARTBEAT_INTERVAL
  | typeof NUM_STANDBY_REPLICAS
  | typeof INITIAL_REBALANCE_DELAY
  | typeof ASSIGNMENT_INTERVAL
  | typeof TASK_OFFSET_INTERVAL
  | typeof NUM_WARMUP_REPLICAS
  | typeof ACCEPTABLE_RECOVERY_LAG;

/** The range of a number: what an admin may set, and what a stored value is brought back to (GC-5). */
export const boundsOf: Readonly<
  Record<NumericGroupConfig, (broker: BrokerGroupSettings) => Bounds>
> = {
  [SESSION_TIMEOUT]: (broker) => ({
    min: broker.sessionTimeoutMsMin,
    max: broker.sessionTimeoutMsMax,
  }),
  [HEARTBEAT_INTERVAL]: (broker) => ({
    min: broker.heartbeatIntervalMsMin,
    max: broker.heartbeatIntervalMsMax,
  }),
  [NUM_STANDBY_REPLICAS]: (broker) => ({ min: 0, max: broker.numStandbyReplicasMax }),
  [INITIAL_REBALANCE_DELAY]: () => ({ min: 0 }),
  [ASSIGNMENT_INTERVAL]: (broker) => ({
    min: broker.assignmentIntervalMsMin,
    max: broker.assignmentIntervalMsMax,
  }),
  [TASK_OFFSET_INTERVAL]: (broker) => ({ min: broker.taskOffsetIntervalMsMin }),
  [NUM_WARMUP_REPLICAS]: (broker) => ({ min: 0, max: broker.numWarmupReplicasMax }),
  [ACCEPTABLE_RECOVERY_LAG]: () => ({ min: 0 }),
};

/**
 * Every group-level config of streams groups.
 *
 * Source: records-and-configs 8.
 */
export const streamsGroupConfigs: readonly GroupConfig[] = [
  int(SESSION_TIMEOUT, (broker) => broker.sessionTimeoutMs),
  int(HEARTBEAT_INTERVAL, (broker) => broker.heartbeatIntervalMs),
  int(NUM_STANDBY_REPLICAS, (broker) => broker.numStandbyReplicas),
  int(INITIAL_REBALANCE_DELAY, (broker) => broker.initialRebalanceDelayMs),
  int(ASSIGNMENT_INTERVAL, (broker) => broker.assignmentIntervalMs),
  {
    name: ASSIGNOR_OFFLOAD,
    type: 'boolean',
    brokerConfig: `group.${ASSIGNOR_OFFLOAD}`,
    brokerValue: (broker) => String(broker.assignorOffload),
    wantedInstead: wantedBoolean,
    listedOnlyWhenSet: true,
  },
  {
    ...int(TASK_OFFSET_INTERVAL, (broker) => broker.taskOffsetIntervalMs),
    listedOnlyWhenSet: true,
  },
  { ...int(NUM_WARMUP_REPLICAS, (broker) => broker.numWarmupReplicas), listedOnlyWhenSet: true },
  {
    name: RACK_AWARE_TAGS,
    type: 'list',
    brokerConfig: `group.${RACK_AWARE_TAGS}`,
    brokerValue: (broker) => broker.rackAwareAssignmentTags.join(','),
    wantedInstead: wantedDistinct,
    listedOnlyWhenSet: false,
  },
  {
    name: ACCEPTABLE_RECOVERY_LAG,
    type: 'long',
    brokerConfig: `group.${ACCEPTABLE_RECOVERY_LAG}`,
    brokerValue: (broker) => String(broker.acceptableRecoveryLag),
    wantedInstead: (value, broker) =>
      wantedNumber(value, 'long', boundsOf[ACCEPTABLE_RECOVERY_LAG](broker)),
    listedOnlyWhenSet: true,
  },
  {
    name: ASSIGNOR_NAME,
    type: 'string',
    brokerConfig: 'group.streams.assignors',
    brokerValue: (broker) => broker.assignors[0] ?? '',
    wantedInstead: (value, broker) => wantedOneOf(value, broker.assignors),
    listedOnlyWhenSet: false,
  },
];

function int(
  name: NumericGroupConfig,
  brokerValue: (broker: BrokerGroupSettings) => number,
): GroupConfig {
  return {
    name,
    type: 'int',
    brokerConfig: `group.${name}`,
    brokerValue: (broker) => String(brokerValue(broker)),
    wantedInstead: (value, broker) => wantedNumber(value, 'int', boundsOf[name](broker)),
    listedOnlyWhenSet: false,
  };
}
