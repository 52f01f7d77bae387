import type { Chance } from './chance.ts';
import type { StepKind } from './draw-heartbeats.ts';
import type { Fields, Step } from './history.ts';
import type { Picture } from './picture.ts';

const GROUP_RESOURCE = 32;
const STATES = [
  'Empty',
  'Stable',
  'Assigning',
  'reconciling',
  'not_ready',
  'NotReady',
  ' Dead',
  'x',
];
const TYPES = ['streams', 'Streams', 'classic', 'consumer', 'x'];

/** A kind that sends a request of this API, so that a server without the API is spared it. */
export type AdminKind = StepKind & { readonly api: string };

/** Looks at the group, offsets, settings, topics, and requests meant for groups of other types. */
export const ADMIN_KINDS: readonly AdminKind[] = [
  kind('describe', 'STREAMS_GROUP_DESCRIBE', 8, (chance) => ({
    do: 'describe',
    ...(chance.percent(25) ? { version: 0 } : {}),
    ...(chance.percent(15)
      ? { groups: chance.pick([['{group}', '{group-none}'], ['{group}', '{group}'], ['']]) }
      : {}),
    ...(chance.percent(15) ? { body: { includeAuthorizedOperations: true } } : {}),
  })),
  kind('list', 'LIST_GROUPS', 3, (chance) => {
    const version = chance.pick([3, 4, 5, 5]);
    const states = version >= 4 && chance.percent(60) ? { states: chance.some(STATES, 30) } : {};
    const types = version >= 5 && chance.percent(60) ? { types: chance.some(TYPES, 40) } : {};
    return { do: 'list', version, ...states, ...types };
  }),
  kind('commit', 'OFFSET_COMMIT', 6, drawCommit),
  kind('fetch', 'OFFSET_FETCH', 3, drawFetch),
  kind('delete offsets', 'OFFSET_DELETE', 2, (chance, picture) => ({
    do: 'offsetDelete',
    topics: { [drawTopic(chance, picture)]: chance.pick([[0], [0, 1], [9]]) },
    ...(chance.percent(10) ? { group: '{group-none}' } : {}),
  })),
  kind('delete the group', 'DELETE_GROUPS', 1, (chance) => ({
    do: 'deleteGroup',
    version: chance.pick([1, 2, 3]),
    ...(chance.percent(10) ? { group: '{group-none}' } : {}),
  })),
  kind('create a topic', 'CREATE_TOPICS', 2, (chance, picture) => {
    const missing = ['late', 'late', 'in1', 'in2', 'r9'].filter(
      (name) => !picture.topics.has(name),
    );
    if (missing.length === 0) return undefined;
    return { do: 'createTopics', topics: { [chance.pick(missing)]: chance.between(1, 4) } };
  }),
  kind('grow a topic', 'CREATE_PARTITIONS', 2, (chance, picture) => {
    const small = [...picture.topics].filter(([, count]) => count < 5);
    if (small.length === 0) return undefined;
    const [name, count] = chance.pick(small);
    return { do: 'createPartitions', topics: { [name]: count + chance.between(1, 2) } };
  }),
  kind('delete a topic', 'DELETE_TOPICS', 1, (chance, picture) => {
    const internal = chance.percent(30) ? ['r1', 'store0a', 'store1a'] : [];
    const there = [...picture.topics.keys(), ...internal];
    return there.length === 0 ? undefined : { do: 'deleteTopics', topics: [chance.pick(there)] };
  }),
  kind('set a config', 'INCREMENTAL_ALTER_CONFIGS', 3, drawConfig),
  kind('show configs', 'DESCRIBE_CONFIGS', 1, (chance) => ({
    do: 'rpc',
    api: 'DESCRIBE_CONFIGS',
    version: chance.pick([1, 4]),
    body: {
      resources: [
        {
          resourceType: GROUP_RESOURCE,
          resourceName: '{group}',
          configurationKeys: chance.pick([null, ['streams.num.standby.replicas', 'nonsense']]),
        },
      ],
      includeSynonyms: chance.percent(50),
    },
  })),
  ...foreignKinds(),
];

function kind(name: string, api: string, weight: number, draw: StepKind['draw']): AdminKind {
  return { name, api, weight, draw };
}

function drawTopic(chance: Chance, picture: Picture): string {
  return chance.pick([...picture.topics.keys(), 'in1', 'in2', 'late', 'absent']);
}

function drawCommit(chance: Chance, picture: Picture): Step {
  const { alias, epoch } = chance.pick(
    picture.joined.length > 0 ? picture.joined : picture.members,
  );
  const partitions = chance.some([0, 1, 2, 3, 7], 40);
  const who = chance.pick<() => Fields>([
    () => ({ as: alias }),
    () => ({ as: alias, memberEpoch: epoch + chance.pick([-2, -1, 1]) }),
    () => ({ as: alias, memberEpoch: -1 }),
    () => ({ memberId: 'Z', memberEpoch: epoch }),
    () => ({}),
    () => ({ memberEpoch: 0 }),
  ])();
  const topic = drawTopic(chance, picture);
  if (chance.percent(15)) return commitById(topic, { memberId: who['as'] ?? '', epoch });
  return {
    do: 'offsetCommit',
    ...who,
    version: chance.pick([8, 9, 9, 9]),
    offsets: {
      [topic]: Object.fromEntries(partitions.map((partition) => [partition, chance.between(0, 9)])),
    },
    ...(chance.percent(15) ? { instanceId: 'iA' } : {}),
  };
}

/** A commit of version 10, which names topics by their ids. */
function commitById(topic: string, who: { memberId: unknown; epoch: number }): Step {
  const partitions = [{ partitionIndex: 0, committedOffset: 3 }];
  return {
    do: 'rpc',
    api: 'OFFSET_COMMIT',
    version: 10,
    body: {
      groupId: '{group}',
      memberId: who.memberId,
      generationIdOrMemberEpoch: who.epoch,
      topics: [{ topicId: `{id:${topic}}`, partitions }],
    },
  };
}

function drawFetch(chance: Chance, picture: Picture): Step {
  const { alias, epoch } = chance.pick(picture.members);
  const who = chance.pick<Fields>([
    { as: alias },
    { as: alias, memberEpoch: epoch - 1 },
    { as: alias, memberEpoch: -1 },
    { memberId: '', memberEpoch: -1 },
    {},
    {},
  ]);
  const topics = { [drawTopic(chance, picture)]: [0, 1], in1: [0] };
  if (chance.percent(80)) return { do: 'offsetFetch', ...who, topics };
  const body = { groups: [{ groupId: '{group}', topics: null }] };
  return { do: 'rpc', api: 'OFFSET_FETCH', version: chance.pick([8, 9]), body };
}

function drawConfig(chance: Chance): Step {
  const [name, values] = chance.pick(CONFIGS);
  if (chance.percent(25)) return { do: 'alterConfig', unset: [name] };
  return { do: 'alterConfig', set: { [name]: chance.pick(values) } };
}

const CONFIGS: readonly (readonly [name: string, values: readonly (string | number)[]])[] = [
  ['streams.num.standby.replicas', [0, 1, 2, 2, 3, -1, 'x']],
  ['streams.num.standby.replicas', [0, 1, 2]],
  ['streams.heartbeat.interval.ms', [5000, 7000, 4999, 50000]],
  ['streams.session.timeout.ms', [45000, 50000, 10, 600000]],
  ['streams.task.offset.interval.ms', [15000, 70000, 14999]],
  ['streams.acceptable.recovery.lag', [0, 5, -1]],
  ['streams.num.warmup.replicas', [0, 3, 21]],
  ['streams.rack.aware.assignment.tags', ['zone', 'rack,zone', 'zone,zone', '']],
  ['streams.assignor.name', ['sticky', 'nonsense']],
  ['streams.nonsense', ['x']],
];

/** Requests of other kinds of groups to a streams group that has members: they must not touch it. */
function foreignKinds(): readonly AdminKind[] {
  const requests: readonly (readonly [api: string, version: number, body: Fields])[] = [
    ['DESCRIBE_GROUPS', 6, { groups: ['{group}', '{group-none}'] }],
    ['DESCRIBE_GROUPS', 5, { groups: ['{group}'] }],
    ['CONSUMER_GROUP_DESCRIBE', 1, { groupIds: ['{group}', '{group-none}'] }],
    [
      'CONSUMER_GROUP_HEARTBEAT',
      1,
      {
        groupId: '{group}',
        memberId: 'consumer',
        memberEpoch: 0,
        rebalanceTimeoutMs: 60000,
        subscribedTopicNames: ['{in1}'],
        topicPartitions: [],
      },
    ],
    [
      'JOIN_GROUP',
      9,
      {
        groupId: '{group}',
        sessionTimeoutMs: 30000,
        rebalanceTimeoutMs: 30000,
        memberId: '',
        protocolType: 'consumer',
        protocols: [{ name: 'range', metadata: '' }],
      },
    ],
    ['HEARTBEAT', 4, { groupId: '{group}', generationId: 1, memberId: 'A' }],
    ['LEAVE_GROUP', 5, { groupId: '{group}', members: [{ memberId: 'A' }] }],
    [
      'SYNC_GROUP',
      5,
      {
        groupId: '{group}',
        generationId: 1,
        memberId: 'A',
        protocolType: 'consumer',
        protocolName: 'range',
        assignments: [],
      },
    ],
    [
      'STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE',
      0,
      { groupId: '{group}', memberId: 'A', topologyEpoch: 0, topologyDescription: null },
    ],
    [
      'SHARE_GROUP_HEARTBEAT',
      1,
      { groupId: '{group}', memberId: 'share', memberEpoch: 0, subscribedTopicNames: ['{in1}'] },
    ],
    ['SYNC_GROUP', 5, { groupId: '{group}', generationId: 1, memberId: 'A', assignments: [] }],
  ];
  return requests.map(([api, version, body]) =>
    kind(`${api} v${version}`, api, 1, (_, picture) =>
      picture.joined.length === 0 ? undefined : { do: 'rpc', api, version, body },
    ),
  );
}
