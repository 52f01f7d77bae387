import {
  type Bounds,
  type BrokerGroupSettings,
  listEntries,
  wantedDistinct,
  wholeNumber,
} from './group-config.ts';
import type { GroupSettings } from './settings.ts';
import {
  ACCEPTABLE_RECOVERY_LAG,
  ASSIGNMENT_INTERVAL,
  ASSIGNOR_NAME,
  boundsOf,
  HEARTBEAT_INTERVAL,
  INITIAL_REBALANCE_DELAY,
  NUM_STANDBY_REPLICAS,
  NUM_WARMUP_REPLICAS,
  type NumericGroupConfig,
  RACK_AWARE_TAGS,
  SESSION_TIMEOUT,
  TASK_OFFSET_INTERVAL,
} from './streams-group-configs.ts';

/**
 * The settings of a group in force: its own override, else the broker's value. A stored override may no longer fit
 * a broker that was started with other bounds: it is brought back to the bound, or dropped if it cannot be read,
 * with a warning. So is an assignor that is not registered any more, for which the default one is used.
 *
 * @param warn is told what was changed, in words for the operator.
 *
 * Source: records-and-configs GC-1, GC-5, BC-4, RT-6; SC-2.
 */
export function resolveGroupSettings(
  broker: BrokerGroupSettings,
  overrides: ReadonlyMap<string, string>,
  warn: (text: string) => void,
): GroupSettings {
  const number = (name: NumericGroupConfig, brokerValue: number | bigint): bigint => {
    const override = overrides.get(name);
    const read = override === undefined ? undefined : wholeNumber(override);
    if (override !== undefined && read === undefined) {
      warn(
        `${name} of a group is "${override}", not a number: the broker's ${brokerValue} is used`,
      );
    }
    const value = read ?? BigInt(brokerValue);
    const clamped = clamp(value, boundsOf[name](broker));
    if (clamped !== value) warn(`${name} is ${value}, out of bounds: ${clamped} is used`);
    return clamped;
  };

  const sessionTimeoutMs = Number(number(SESSION_TIMEOUT, broker.sessionTimeoutMs));
  const heartbeatIntervalMs = Number(number(HEARTBEAT_INTERVAL, broker.heartbeatIntervalMs));
  if (sessionTimeoutMs <= heartbeatIntervalMs) {
    warn(
      `${SESSION_TIMEOUT} is ${sessionTimeoutMs}, not above ${HEARTBEAT_INTERVAL}, ` +
        `which is ${heartbeatIntervalMs}: members may time out between two heartbeats`,
    );
  }
  return {
    sessionTimeoutMs,
    heartbeatIntervalMs,
    numStandbyReplicas: Number(number(NUM_STANDBY_REPLICAS, broker.numStandbyReplicas)),
    numWarmupReplicas: Number(number(NUM_WARMUP_REPLICAS, broker.numWarmupReplicas)),
    acceptableRecoveryLag: number(ACCEPTABLE_RECOVERY_LAG, broker.acceptableRecoveryLag),
    taskOffsetIntervalMs: Number(number(TASK_OFFSET_INTERVAL, broker.taskOffsetIntervalMs)),
    initialRebalanceDelayMs: Number(
      number(INITIAL_REBALANCE_DELAY, broker.initialRebalanceDelayMs),
    ),
    assignmentIntervalMs: Number(number(ASSIGNMENT_INTERVAL, broker.assignmentIntervalMs)),
    rackAwareAssignmentTags: tagsInForce(broker, overrides, warn),
    ...assignorInForce(broker, overrides, warn),
  };
}

function tagsInForce(
  broker: BrokerGroupSettings,
  overrides: ReadonlyMap<string, string>,
  warn: (text: string) => void,
): readonly string[] {
  const override = overrides.get(RACK_AWARE_TAGS);
  if (override === undefined) return broker.rackAwareAssignmentTags;
  if (wantedDistinct(override) === undefined) return listEntries(override);
  warn(`${RACK_AWARE_TAGS} of a group is "${override}": the broker's tags are used`);
  return broker.rackAwareAssignmentTags;
}

function assignorInForce(
  broker: BrokerGroupSettings,
  overrides: ReadonlyMap<string, string>,
  warn: (text: string) => void,
): Pick<GroupSettings, 'assignorName' | 'assignorSelected' | 'assignorMissing'> {
  const wanted = overrides.get(ASSIGNOR_NAME)?.trim();
  if (wanted !== undefined && broker.assignors.includes(wanted)) {
    return { assignorName: wanted, assignorSelected: true };
  }
  const assignorName = broker.assignors[0] ?? '';
  const byDefault = { assignorName, assignorSelected: broker.assignorsExplicit };
  if (wanted === undefined) return byDefault;
  warn(
    `${ASSIGNOR_NAME} is "${wanted}", which is not registered: the default one stands in for it`,
  );
  return { ...byDefault, assignorMissing: wanted };
}

function clamp(value: bigint, { min, max }: Bounds): bigint {
  if (min !== undefined && value < min) return BigInt(min);
  if (max !== undefined && value > max) return BigInt(max);
  return value;
}
