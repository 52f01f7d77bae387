import {
  type Bounds,
  type GroupConfig,
  type GroupConfigType,
  wantedBoolean,
  wantedNumber,
  wantedOneOf,
} from './group-config.ts';

/**
 * Configs of other group types that live on the same resource. They are stored and shown, and mean nothing to a
 * streams group; their bounds are those of a broker with Kafka's own defaults.
 *
 * Source: records-and-configs GC-6.
 */
export const foreignGroupConfigs: readonly GroupConfig[] = [
  int('consumer.assignment.interval.ms', 1_000, { min: 0, max: 15_000 }),
  int('consumer.heartbeat.interval.ms', 5_000, { min: 5_000, max: 15_000 }),
  int('consumer.session.timeout.ms', 45_000, { min: 45_000, max: 60_000 }),
  flag('errors.deadletterqueue.copy.record.enable', 'false'),
  text('errors.deadletterqueue.topic.name', ''),
  int('share.assignment.interval.ms', 1_000, { min: 0, max: 15_000 }),
  { ...text('share.auto.offset.reset', 'latest'), wantedInstead: wantedStart },
  int('share.delivery.count.limit', 5, { min: 2, max: 10 }),
  int('share.heartbeat.interval.ms', 5_000, { min: 5_000, max: 15_000 }),
  {
    ...text('share.isolation.level', 'read_uncommitted'),
    wantedInstead: (value) => wantedOneOf(value, ['read_committed', 'read_uncommitted']),
  },
  int('share.partition.max.record.locks', 2_000, { min: 100, max: 4_000 }),
  int('share.record.lock.duration.ms', 30_000, { min: 15_000, max: 60_000 }),
  flag('share.renew.acknowledge.enable', 'true'),
  int('share.session.timeout.ms', 45_000, { min: 45_000, max: 60_000 }),
];

/** ISO 8601, as days and smaller; at least one number. */
const DURATION = /^P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?)?$/i;
const BY_DURATION = 'by_duration:';

function wantedStart(value: string): string | undefined {
  const text = value.trim();
  const isFine = text.startsWith(BY_DURATION)
    ? DURATION.test(text.slice(BY_DURATION.length))
    : text === 'earliest' || text === 'latest';
  return isFine ? undefined : `earliest, latest or ${BY_DURATION} and a duration as PT1H`;
}

function int(name: string, fallback: number, bounds: Bounds): GroupConfig {
  return row(name, 'int', String(fallback), `group.${name}`, (value) =>
    wantedNumber(value, 'int', bounds),
  );
}

function flag(name: string, fallback: string): GroupConfig {
  return row(name, 'boolean', fallback, name, wantedBoolean);
}

function text(name: string, fallback: string): GroupConfig {
  return row(name, 'string', fallback, name, () => undefined);
}

function row(
  name: string,
  type: GroupConfigType,
  fallback: string,
  brokerConfig: string,
  wantedInstead: (value: string) => string | undefined,
): GroupConfig {
  return {
    name,
    type,
    brokerConfig,
    brokerValue: () => fallback,
    wantedInstead,
    listedOnlyWhenSet: false,
  };
}
