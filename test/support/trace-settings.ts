import { resolveBehaviour } from '../../machines/model/profile.ts';
import type { LoneCoordinator } from './lone-coordinator.ts';
import { SETTINGS } from './recorded-settings.ts';

/** What the words of `set` in a trace change. */
export const TRACE_SETTINGS: Readonly<
  Record<string, (on: LoneCoordinator, value: string) => void>
> = {
  session: group('session.timeout.ms'),
  heartbeat: group('heartbeat.interval.ms'),
  standbys: group('num.standby.replicas'),
  delay: group('initial.rebalance.delay.ms'),
  interval: group('assignment.interval.ms'),
  tags: group('rack.aware.assignment.tags'),
  lag: group('acceptable.recovery.lag'),
  'offset-interval': group('task.offset.interval.ms'),
  assignor: group('assignor.name'),
  warmups: (on, value) => {
    on.settings = { ...on.settings, numWarmupReplicas: Number(value) };
  },
  'warmup-wait': (on, value) => {
    on.coordinator = { ...on.coordinator, warmupWaitMaxMs: Number(value) };
  },
  wait: (on, value) => {
    on.coordinator = { ...on.coordinator, assignorAnswerWaitMs: Number(value) };
  },
  handover: (on, value) => {
    on.coordinator = { ...on.coordinator, handoverHeartbeatIntervalMs: Number(value) };
  },
  size: (on, value) => {
    on.coordinator = { ...on.coordinator, maxGroupSize: Number(value) };
  },
  retention: (on, value) => {
    on.coordinator = { ...on.coordinator, offsetsRetentionMs: Number(value) };
  },
  /** Puts back every sub-switch as well. */
  profile: (on, value) => {
    on.behaviour = resolveBehaviour(value === 'kafka' ? 'kafka' : 'kip');
  },
  fencing: (on, value) => {
    on.behaviour = { ...on.behaviour, fenceRemovesMember: value === 'removes' };
  },
  'stale-joins': (on, value) => {
    on.behaviour = { ...on.behaviour, acceptStaleTopologyJoin: value === 'accept' };
  },
  regex: (on, value) => {
    on.behaviour = { ...on.behaviour, resolveSourceTopicRegex: value === 'resolve' };
  },
  /** Why searches for patterns fail; nothing after `=`: they do not. */
  searches: (on, value) => {
    on.searchFailure = value === '' ? undefined : value;
  },
  /** What went wrong when topics were created; nothing after `=`: nothing went wrong. */
  failures: (on, value) => {
    on.creationFailures = value === '' ? undefined : value;
  },
};

/** A setting of the group, by its Kafka name without prefix. */
function group(kafkaName: string): (on: LoneCoordinator, value: string) => void {
  return (on, value) => {
    on.settings = { ...on.settings, ...SETTINGS[kafkaName]?.(value) };
  };
}
