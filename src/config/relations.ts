import type { SettingName, SettingValues } from './definitions.ts';

/** A rule between settings (BC-1): checked when each of them is fine by itself. */
export type Relation = {
  /** The first is the one to blame. */
  readonly keys: readonly [SettingName, ...SettingName[]];
  readonly holds: (values: SettingValues) => boolean;
  /** Completes "wanted …". */
  readonly wanted: string;
};

type NumberName = {
  [Name in SettingName]: SettingValues[Name] extends number ? Name : never;
}[SettingName];

function atMost(key: NumberName, limit: NumberName): Relation {
  return {
    keys: [key, limit],
    holds: (values) => values[key] <= values[limit],
    wanted: `no more than ${limit}`,
  };
}

function atLeast(key: NumberName, limit: NumberName): Relation {
  return {
    keys: [key, limit],
    holds: (values) => values[key] >= values[limit],
    wanted: `no less than ${limit}`,
  };
}

function between(key: NumberName, min: NumberName, max: NumberName): readonly Relation[] {
  return [atMost(min, max), atLeast(key, min), atMost(key, max)];
}

/** All rules between settings. */
export const relations: readonly Relation[] = [
  ...between(
    'group.streams.session.timeout.ms',
    'group.streams.min.session.timeout.ms',
    'group.streams.max.session.timeout.ms',
  ),
  ...between(
    'group.streams.heartbeat.interval.ms',
    'group.streams.min.heartbeat.interval.ms',
    'group.streams.max.heartbeat.interval.ms',
  ),
  {
    keys: ['group.streams.heartbeat.interval.ms', 'group.streams.session.timeout.ms'],
    holds: (values) =>
      values['group.streams.heartbeat.interval.ms'] < values['group.streams.session.timeout.ms'],
    wanted: 'less than group.streams.session.timeout.ms',
  },
  atMost('group.streams.num.standby.replicas', 'group.streams.max.standby.replicas'),
  ...between(
    'group.streams.assignment.interval.ms',
    'group.streams.min.assignment.interval.ms',
    'group.streams.max.assignment.interval.ms',
  ),
  atLeast('group.streams.task.offset.interval.ms', 'group.streams.min.task.offset.interval.ms'),
  atMost('group.streams.num.warmup.replicas', 'group.streams.max.warmup.replicas'),
];
