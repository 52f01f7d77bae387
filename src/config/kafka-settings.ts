import { ASSIGNORS } from '../../machines/model/assignors.ts';
import { choice, flag, int, int64, list, long, optional, orList, type Setting } from './setting.ts';

const INT_MAX = 2 ** 31 - 1;
const ms = { unit: 'ms', min: 1 };
const msOrZero = { unit: 'ms', min: 0 };

/** Settings of streams groups under Kafka's names (records-and-configs 7). */
export const streamsSettings = {
  'group.streams.session.timeout.ms': int(
    45_000,
    ms,
    'A member that is not heard of for this long is taken out of its group.',
  ),
  'group.streams.min.session.timeout.ms': int(
    45_000,
    ms,
    'Lower bound of the session timeout, for the broker and for every group.',
  ),
  'group.streams.max.session.timeout.ms': int(
    60_000,
    ms,
    'Upper bound of the session timeout, for the broker and for every group.',
  ),
  'group.streams.heartbeat.interval.ms': int(
    5_000,
    ms,
    'How often members are asked to send a heartbeat.',
  ),
  'group.streams.min.heartbeat.interval.ms': int(
    5_000,
    ms,
    'Lower bound of the heartbeat interval, for the broker and for every group.',
  ),
  'group.streams.max.heartbeat.interval.ms': int(
    15_000,
    ms,
    'Upper bound of the heartbeat interval, for the broker and for every group.',
  ),
  'group.streams.max.size': int(
    INT_MAX,
    { min: 1 },
    'How many members a group takes; the next one is refused.',
  ),
  'group.streams.num.standby.replicas': int(
    0,
    { min: 0 },
    'Standby copies wanted of each stateful task.',
  ),
  'group.streams.max.standby.replicas': int(
    2,
    { min: 0 },
    'Upper bound of the standby copies, for the broker and for every group.',
  ),
  'group.streams.initial.rebalance.delay.ms': int(
    3_000,
    msOrZero,
    'How long a group that was empty waits for more members before its first assignment.',
  ),
  'group.streams.assignment.interval.ms': int(
    1_000,
    { ...msOrZero, dynamic: true },
    'Shortest time between two assignments of one group.',
  ),
  'group.streams.min.assignment.interval.ms': int(
    0,
    msOrZero,
    'Lower bound of the assignment interval, for the broker and for every group.',
  ),
  'group.streams.max.assignment.interval.ms': int(
    15_000,
    msOrZero,
    'Upper bound of the assignment interval, for the broker and for every group.',
  ),
  'group.streams.assignors': list<string>(
    { kip: ASSIGNORS, kafka: ['sticky'] },
    { entries: `${orList(ASSIGNORS)}, or names of assignors.modules,`, notEmpty: true },
    'Assignors that groups may select by name. When set, the first is the default; else those of assignors.modules may be selected as well, and kip uses highly_available for topologies with state and sticky for others.',
  ),
  'group.streams.assignor.offload.enable': flag(
    true,
    { listedOnlyWhenSet: true, dynamic: true, inert: true },
    'Assignments are always computed off the event loop here.',
  ),
  'group.streams.task.offset.interval.ms': int(
    60_000,
    { ...ms, listedOnlyWhenSet: true },
    'How often members are asked to report how far their tasks are.',
  ),
  'group.streams.min.task.offset.interval.ms': int(
    15_000,
    { ...ms, listedOnlyWhenSet: true },
    'Lower bound of the task offset interval, for the broker and for every group.',
  ),
  'group.streams.num.warmup.replicas': int(
    2,
    { listedOnlyWhenSet: true, min: 0 },
    'Tasks of one group that may be warmed up elsewhere at the same time.',
  ),
  'group.streams.max.warmup.replicas': int(
    20,
    { listedOnlyWhenSet: true, min: 0 },
    'Upper bound of the warm-up tasks, for the broker and for every group.',
  ),
  'group.streams.acceptable.recovery.lag': int64(
    10_000n,
    { listedOnlyWhenSet: true, unit: 'offsets' },
    'A copy of a task that lags no more than this counts as caught up.',
  ),
  'group.streams.rack.aware.assignment.tags': list<string>(
    [],
    {},
    'Keys of client tags over which the copies of a task are spread, the most important first.',
  ),
  'group.streams.topology.description.plugin.class': optional(
    { type: 'class', allowed: 'no plugin yet', read: () => undefined },
    'Where topology descriptions are kept; without one the feature is off.',
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** Kafka's other broker settings that count here (records-and-configs 7.1). */
export const brokerSettings = {
  'group.coordinator.rebalance.protocols': list(
    ['classic', 'consumer', 'streams'],
    { words: ['classic', 'consumer', 'share', 'streams'], notEmpty: true },
    'Group protocols that are served; without streams its requests are refused.',
  ),
  'group.coordinator.threads': int(
    4,
    { min: 1, inert: true },
    'One event loop serves all groups here.',
  ),
  'group.coordinator.background.threads': int(
    2,
    { min: 1, inert: true },
    'The size of the worker pool is assignor.threads here.',
  ),
  'group.coordinator.append.linger.ms': int(
    -1,
    { unit: 'ms', min: -1, inert: true },
    'What one turn of the event loop decides is written together here, as by -1.',
  ),
  'group.coordinator.cached.buffer.max.bytes': int(
    1_048_588,
    { unit: 'bytes', min: 524_288, dynamic: true, inert: true },
    'No buffers are kept between writes here.',
  ),
  'offsets.topic.num.partitions': int(
    50,
    { min: 1, max: 65_535 },
    'Number of shards; a store keeps the number it was made with.',
  ),
  'offsets.topic.replication.factor': int(
    3,
    { min: 1, max: 32_767, inert: true },
    'The store is not replicated here.',
  ),
  'offsets.topic.segment.bytes': int(
    104_857_600,
    { unit: 'bytes', min: 1, inert: true },
    'The store has no segments.',
  ),
  'offsets.topic.compression.codec': int(0, { inert: true }, 'Records are not compressed here.'),
  'offsets.load.buffer.size': int(
    5_242_880,
    { unit: 'bytes', min: 1, inert: true },
    'Loading needs no such buffer here.',
  ),
  'offsets.commit.timeout.ms': int(
    5_000,
    ms,
    'A write that is not durable by then fails, and what waits for it is told to try again.',
  ),
  'offset.metadata.max.bytes': int(
    4_096,
    { unit: 'bytes', min: 0 },
    'Longest text that may be committed along with an offset.',
  ),
  'offsets.retention.minutes': int(
    10_080,
    { unit: 'minutes', min: 1 },
    'Committed offsets nobody is subscribed to are dropped this long after their commit.',
  ),
  'offsets.retention.check.interval.ms': long(
    600_000,
    { ...ms, max: INT_MAX },
    'How often expired offsets and groups are looked for.',
  ),
  'group.min.session.timeout.ms': int(
    6_000,
    { unit: 'ms', inert: true },
    'Lower bound of the session timeout of classic groups.',
  ),
  'group.max.session.timeout.ms': int(
    1_800_000,
    { unit: 'ms', inert: true },
    'Upper bound of the session timeout of classic groups.',
  ),
  'group.initial.rebalance.delay.ms': int(
    3_000,
    { unit: 'ms', inert: true },
    'How long a new classic group waits for more members.',
  ),
  'group.max.size': int(
    INT_MAX,
    { min: 1, inert: true },
    'How many members a classic group takes.',
  ),
  'group.consumer.migration.policy': choice(
    ['disabled', 'upgrade', 'downgrade', 'bidirectional'],
    'bidirectional',
    { inert: true },
    'Which of classic and consumer groups may turn into the other.',
  ),
  'socket.request.max.bytes': int(
    104_857_600,
    { unit: 'bytes', min: 1 },
    'Longest request; a longer one ends its connection before memory is taken for it.',
  ),
  'node.id': int(1, { min: 0 }, 'The node id that clients of a standalone coordinator are told.'),
} as const satisfies Record<string, Setting<unknown>>;
