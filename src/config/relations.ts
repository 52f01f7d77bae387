import { ASSIGNORS } from '../../machines/model/assignors.ts';
import { rows, type SettingName, type SettingValues } from './definitions.ts';

/** A rule between settings (BC-1): checked when each of them is fine by itself. */
type Relation = {
  /** The first is the one to blame. */
  readonly keys: readonly [SettingName, ...SettingName[]];
  readonly holds: (values: SettingValues) => boolean;
  /** Completes "wanted …". */
  readonly wanted: string;
  /** Where only a part of the value is wrong: that part, and what is the matter with it. */
  readonly wrongPart?: (values: SettingValues) => string | undefined;
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

/** Addresses to listen on that stand for all of a machine's: no client can connect to them. */
const WILDCARDS: readonly string[] = ['0.0.0.0', '::'];

/** The first name that is neither one of Headgate's assignors nor one of the user's own. */
function unknownAssignor(values: SettingValues): string | undefined {
  const own = values['assignors.modules']?.map(({ name }) => name) ?? [];
  const known: readonly string[] = [...ASSIGNORS, ...own];
  return values['group.streams.assignors'].find((name) => !known.includes(name));
}

/** All rules between settings. */
const relations: readonly Relation[] = [
  {
    keys: ['host', 'advertised.host'],
    holds: (values) => values['advertised.host'] !== undefined || !WILDCARDS.includes(values.host),
    wanted: 'an address that clients can be told, or another one for them in advertised.host',
  },
  {
    keys: ['admin.port', 'port'],
    holds: (values) =>
      values.port === 0 ||
      values['admin.port'] !== values.port ||
      values['admin.host'] !== values.host,
    wanted: 'another port than the one for clients',
  },
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
  {
    keys: ['group.streams.assignors', 'assignors.modules'],
    holds: (values) => unknownAssignor(values) === undefined,
    wanted: rows['group.streams.assignors'].allowed,
    wrongPart: (values) => `there is no "${unknownAssignor(values)}"`,
  },
];

/** Settings that are fine one by one and contradict each other. */
export type Contradiction = {
  /** The first is the one to blame. */
  readonly keys: Relation['keys'];
  /** Its value as text; null where nothing is set. */
  readonly seen: string | null;
  /** Completes "wanted …", with the values of the others. */
  readonly wanted: string;
  /** Where only a part of the value is wrong: that part, and what is the matter with it. */
  readonly wrongPart: string | undefined;
};

/** All rules that the values break (BC-1). */
export function contradictionsIn(values: SettingValues): readonly Contradiction[] {
  return relations
    .filter(({ holds }) => !holds(values))
    .map(({ keys, wanted, wrongPart }) => {
      const [name, ...others] = keys;
      const limits = others.map((other) => rows[other].format(values[other]) ?? 'not set');
      const seen = rows[name].format(values[name]);
      return {
        keys,
        seen,
        wanted: `${wanted} (${limits.join(', ')})`,
        wrongPart: wrongPart?.(values),
      };
    });
}
