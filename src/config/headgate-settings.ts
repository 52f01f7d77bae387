import {
  ALLOWED_MODULES,
  faultInModules,
  readAssignorModules,
  writeAssignorModules,
} from './assignor-modules.ts';
import { formatHostPort, type HostPort, parseHostPort } from './host-port.ts';
import { choice, flag, int, long, optional, required, type Setting, splitList } from './setting.ts';

const INT_MAX = 2 ** 31 - 1;
const ms = { unit: 'ms', min: 1 };
const msOrZero = { unit: 'ms', min: 0 };
const port = { min: 0, max: 65_535 };

const host = {
  allowed: 'a host name or an address',
  read: (text: string) => (/^[^\s,=/]+$/.test(text) ? text : undefined),
};

function wholeNumber(min: number, max: number) {
  return {
    type: 'int',
    allowed: `a whole number from ${min} to ${max}`,
    read: (text: string) => {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  } as const;
}

/** Where the admin server listens; `off` closes it. */
export type AdminPort = number | 'off';

function readAdminPort(text: string): AdminPort | undefined {
  return text.toLowerCase() === 'off' ? 'off' : wholeNumber(0, port.max).read(text);
}

function readHostPorts(text: string): readonly HostPort[] | undefined {
  const places = splitList(text).map(parseHostPort);
  return places.every((place) => place !== undefined && place.port > 0)
    ? (places as readonly HostPort[])
    : undefined;
}

/** Node id of an upstream broker to the address that stands for it. */
export type GatewayAddresses = ReadonlyMap<number, HostPort>;

function readGatewayAddresses(text: string): GatewayAddresses | undefined {
  const addresses = new Map<number, HostPort>();
  const places = new Set<string>();
  for (const entry of splitList(text)) {
    const [, id, place = ''] = /^(\d{1,10})=(.+)$/.exec(entry) ?? [];
    const address = parseHostPort(place);
    const nodeId = Number(id);
    if (id === undefined || address === undefined || nodeId > INT_MAX) return undefined;
    if (addresses.has(nodeId) || (address.port > 0 && places.has(place))) return undefined;
    addresses.set(nodeId, address);
    places.add(place);
  }
  return addresses;
}

/** Settings of our own (records-and-configs 7.2). */
export const headgateSettings = {
  'protocol.profile': choice(
    ['kip', 'kafka'],
    'kip',
    {},
    'What counts where the KIP and Apache Kafka differ: kip does what the KIP promises, kafka answers as Apache Kafka 4.4.0, save for plain defects of it.',
  ),
  'fence.removes.member': flag(
    { kip: true, kafka: false },
    {},
    'A member that is fenced for its epoch also leaves its group.',
  ),
  'join.with.stale.topology': flag(
    { kip: false, kafka: true },
    {},
    'A member may join with an older topology than the group has.',
  ),
  'source.topic.regex': flag(
    { kip: true, kafka: false },
    {},
    'Source topics given as patterns are looked up, rather than refused.',
  ),
  'source.topic.regex.topics.max': int(
    1_000,
    { min: 1, max: 100_000 },
    'How many topics a source topic pattern may match; one that matches more is taken for missing.',
  ),
  'assignor.answer.wait.ms': int(
    { kip: 100, kafka: 10_000 },
    msOrZero,
    "How long a heartbeat's answer waits for the assignment it caused.",
  ),
  'assignor.run.timeout.ms': int(30_000, ms, 'An assignment that takes longer is given up.'),
  'assignor.threads': optional(
    wholeNumber(1, 1_024),
    'Threads that compute assignments; without it, one fewer than the machine has cores.',
  ),
  'assignors.modules': optional(
    {
      type: 'list',
      allowed: ALLOWED_MODULES,
      read: readAssignorModules,
      write: writeAssignorModules,
      wrongPart: faultInModules,
    },
    'Assignors of your own, as ES modules; paths count from the folder of the properties file, or from where the process was started. Groups may select them by name (docs/own-assignor.md).',
  ),
  'assignor.module.timeout.ms': int(
    3_000,
    ms,
    'An assignor of your own that takes longer is ended, and one of ours assigns in its place.',
  ),
  'assignor.module.memory.max.bytes': long(
    512 * 1_024 * 1_024,
    { unit: 'bytes', min: 128 * 1_024 * 1_024 },
    'The process of an assignor of your own that takes more memory is ended.',
  ),
  'handover.heartbeat.interval.ms': int(
    { kip: 300, kafka: 0 },
    msOrZero,
    'Heartbeat interval of members between which tasks are handed over; 0 leaves it as it is.',
  ),
  'handover.members.max': int(
    1_000,
    { min: 0 },
    'How many members may have the hand-over interval at a time.',
  ),
  'warmup.wait.max.ms': int(
    600_000,
    msOrZero,
    'How long a task stays where it is while its copy on its new owner gets no closer to being caught up; 0 sets no bound.',
  ),
  host: required('127.0.0.1', host, 'Address to listen on for clients.'),
  port: int(9_092, port, 'Port to listen on for clients; 0 takes any that is free.'),
  'advertised.host': optional(host, 'Host that clients are told; without it, the one listened on.'),
  'advertised.port': optional(
    wholeNumber(1, port.max),
    'Port that clients are told; without it, the one listened on.',
  ),
  'upstream.bootstrap.servers': optional(
    {
      type: 'list',
      allowed: 'host:port, between commas',
      read: readHostPorts,
      write: (places) => places.map(formatHostPort).join(','),
    },
    'Brokers of the cluster to stand in front of; with it Headgate is a gateway, without it standalone.',
  ),
  'upstream.fail.fast': flag(
    false,
    {},
    'An upstream that cannot be reached at the start ends the process, rather than being tried again.',
  ),
  'upstream.metadata.poll.ms': int(
    5_000,
    { ...ms, min: 10 },
    "How often the upstream cluster's topics are looked at.",
  ),
  'upstream.topic.list.poll.ms': int(
    30_000,
    { ...ms, min: 10 },
    'How often all topics of the upstream cluster are listed, while there are groups with source topic patterns.',
  ),
  'gateway.addresses': optional(
    {
      type: 'list',
      allowed: 'node=host:port, between commas, each node and each address once',
      read: readGatewayAddresses,
      write: (addresses) =>
        [...addresses].map(([id, place]) => `${id}=${formatHostPort(place)}`).join(','),
    },
    'Address that stands for each upstream node id; the others get the ports behind the client port, in the order in which they were first seen.',
  ),
  'admin.host': required('127.0.0.1', host, 'Address to listen on for the admin server.'),
  'admin.port': required<AdminPort>(
    10_093,
    { type: 'int', allowed: 'a whole number from 0 to 65535, or off', read: readAdminPort },
    'Port of the admin server: metrics, health, live states and the journal; off closes it.',
  ),
  store: choice(
    ['level', 'memory'],
    'level',
    {},
    'Where groups are kept: level on this disk, memory nowhere.',
  ),
  'data.dir': required(
    './headgate-data',
    { allowed: 'a folder', read: (text) => (text.includes('\0') ? undefined : text) },
    'Folder of the store; a relative one counts from where the process was started, wherever it is set.',
  ),
  'cluster.id': optional(
    {
      allowed: 'letters, digits, "_" and "-"',
      read: (text) => (/^[\w-]{1,255}$/.test(text) ? text : undefined),
    },
    'The cluster id that clients of a standalone coordinator are told; without it, one that is made once and kept.',
  ),
  'connections.max': int(20_000, { min: 1 }, 'How many client connections are open at a time.'),
  'connection.idle.ms': int(600_000, ms, 'A client connection without traffic is closed after it.'),
  'requests.in.flight.max': int(
    100,
    { min: 1 },
    'Requests of one connection that are worked on at a time; the rest waits in its socket.',
  ),
  'mailbox.max': int(
    100_000,
    { min: 1, unit: 'messages' },
    'How much a shard lets wait; more is answered with an error that clients retry.',
  ),
  'stop.timeout.ms': int(
    10_000,
    { ...msOrZero },
    'How long a stop waits for what is under way before it closes; 5 s later the process ends in any case.',
  ),
  'journal.retention.ms': long(
    7 * 24 * 60 * 60 * 1_000,
    msOrZero,
    'How long the history of decisions is kept.',
  ),
  'journal.max.bytes': long(
    256 * 1_024 * 1_024,
    { unit: 'bytes', min: 0 },
    'How much room the history of decisions takes; the oldest goes first.',
  ),
  'log.level': choice(
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
    {},
    'The least urgent events that are logged.',
  ),
  'log.pretty': choice(
    ['auto', 'true', 'false'],
    'auto',
    {},
    'Logs for people rather than JSON lines; auto: on a terminal.',
  ),
} as const satisfies Record<string, Setting<unknown>>;
