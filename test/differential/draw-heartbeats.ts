import type { Chance } from './chance.ts';
import { drawEndpoint, drawTags } from './draw-head.ts';
import { type Fields, NO_TASKS, type OwnedTasks, type ShortTasks, type Step } from './history.ts';
import type { Picture, PicturedMember } from './picture.ts';

/** A kind of step: how often it is tried, and what it is now; undefined when it makes no sense at the moment. */
export type StepKind = {
  readonly name: string;
  readonly weight: number;
  draw(chance: Chance, picture: Picture): Step | undefined;
};

const NO_LISTS = { activeTasks: null, standbyTasks: null, warmupTasks: null };

/** Joins, regular heartbeats, leaves: what clients do, and what none should do. */
export const HEARTBEAT_KINDS: readonly StepKind[] = [
  kind('join', 10, (chance, picture) => {
    const waiting = picture.rightful.filter(({ joined, mustJoin }) => !joined || mustJoin);
    return waiting.length === 0 ? undefined : join(chance.pick(waiting));
  }),
  kind('join with other fields', 5, (chance, picture) => {
    const member = anyone(chance, picture);
    return join(member, drawJoinFields(chance, picture, member));
  }),
  kind('join again', 2, (chance, picture) => ofJoined(chance, picture, (one) => join(one))),
  kind('join that cannot be', 3, (chance, picture) =>
    join(anyone(chance, picture), drawJoinFault(chance)),
  ),
  kind('beat', 12, (chance, picture) => ofJoined(chance, picture, ({ alias }) => beat(alias))),
  kind('ack', 12, (chance, picture) => {
    const told = picture.joined.filter(({ unacknowledged }) => unacknowledged);
    return told.length === 0 ? undefined : { do: 'ack', as: chance.pick(told).alias };
  }),
  kind('ack of tasks known', 3, (chance, picture) =>
    ofJoined(chance, picture, ({ alias }) => ({ do: 'ack', as: alias })),
  ),
  kind('answer lost', 3, (chance, picture) =>
    ofJoined(chance, picture, ({ alias }) => ({
      do: chance.pick(['beat', 'ack']),
      as: alias,
      lose: true,
    })),
  ),
  kind('other owned tasks', 5, (chance, picture) =>
    ofJoined(chance, picture, ({ alias, owned }) => beat(alias, drawOwned(chance, owned, picture))),
  ),
  kind('other epoch', 5, (chance, picture) =>
    ofJoined(chance, picture, (member) => beat(member.alias, drawEpoch(chance, member))),
  ),
  kind('other fields in a beat', 3, (chance, picture) =>
    ofJoined(chance, picture, ({ alias }) => beat(alias, drawBeatFields(chance))),
  ),
  kind('beat that cannot be', 3, (chance, picture) =>
    beat(anyone(chance, picture).alias, drawBeatFault(chance)),
  ),
  kind('beat of a stranger', 1, (chance, picture) =>
    beat(anyone(chance, picture).alias, {
      memberEpoch: chance.between(1, 3),
      ...chance.pick<Fields>([{ memberId: 'Z' }, { groupId: '{group-none}' }]),
    }),
  ),
  kind('task offsets', 3, (chance, picture) =>
    ofJoined(chance, picture, ({ alias }) => beat(alias, drawOffsets(chance))),
  ),
  kind('shutdown', 1, (chance, picture) =>
    ofJoined(chance, picture, ({ alias }) => beat(alias, { shutdownApplication: true })),
  ),
  kind('leave', 4, (chance, picture) =>
    ofJoined(chance, picture, ({ alias }) => ({ do: 'leave', as: alias })),
  ),
  kind('break', 4, (chance, picture) => {
    const fixed = picture.joined.filter(({ fields }) => fields['instanceId'] !== undefined);
    if (fixed.length === 0) return undefined;
    return { do: 'leave', as: chance.pick(fixed).alias, send: { memberEpoch: -2 } };
  }),
  kind('return from a break', 25, (chance, picture) => {
    const away = picture.members.filter(({ onBreak }) => onBreak);
    if (away.length === 0) return undefined;
    return join(chance.pick(picture.livesOf(chance.pick(away))));
  }),
  kind('odd leave', 2, (chance, picture) => ({
    do: 'leave',
    as: anyone(chance, picture).alias,
    send: drawLeave(chance),
  })),
  kind('settle', 6, (_, picture) =>
    picture.joined.length === 0 ? undefined : { do: 'settle', forMs: settleMs(picture) },
  ),
  kind('close', 1, (chance, picture) => ({
    do: 'close',
    as: anyone(chance, picture).alias,
  })),
];

/** A group that waits for its assignment never settles: a few rounds are enough to see that. */
function settleMs({ head }: Picture): number {
  return 'streams.initial.rebalance.delay.ms' in head.groupConfigs ? 300 : 10_000;
}

function kind(name: string, weight: number, draw: StepKind['draw']): StepKind {
  return { name, weight, draw };
}

function ofJoined(
  chance: Chance,
  picture: Picture,
  draw: (member: PicturedMember) => Step,
): Step | undefined {
  return picture.joined.length === 0 ? undefined : draw(chance.pick(picture.joined));
}

/** Mostly one that may well speak; the rest is refused for its instance id, and little can follow. */
function anyone(chance: Chance, picture: Picture): PicturedMember {
  return chance.pick(chance.percent(95) ? picture.rightful : picture.members);
}

function join({ alias }: PicturedMember, send?: Fields): Step {
  return { do: 'join', as: alias, ...(send === undefined ? {} : { send }) };
}

function beat(alias: string, send?: Fields): Step {
  return { do: 'beat', as: alias, ...(send === undefined ? {} : { send }) };
}

/** A member that has a place takes nobody else's, and the first of all says no more than it must: see NOT_ASKED. */
function drawJoinFields(chance: Chance, picture: Picture, { fields }: PicturedMember): Fields {
  const variants = Object.keys(picture.head.topologies);
  const away = picture.members
    .filter((each) => each.onBreak)
    .map(({ fields }) => fields['instanceId']);
  const instanceIds = [null, 'iA', 'i2', 'i3'].filter((instanceId) => !away.includes(instanceId));
  return chance.pick<() => Fields>([
    () => ({ topology: chance.pick(variants) }),
    () => ({ topology: chance.pick(variants) }),
    () => ({ topology: chance.pick(['newer', 'older', 'reordered']) }),
    () => ({ processId: chance.pick(['p1', 'p4', null]) }),
    () => ({ userEndpoint: chance.pick([null, drawEndpoint(chance)]) }),
    () => ({ rackId: chance.pick([null, 'r2']) }),
    () => ({ rebalanceTimeoutMs: chance.pick([45000, 90000]) }),
    () => ({ clientTags: chance.pick([null, [], drawTags(chance)]) }),
    () => ({ instanceId: chance.pick(instanceIds) }),
    () => (fields['instanceId'] === undefined ? { memberId: chance.pick(['A', 'B', 'K']) } : {}),
    () => (picture.hasGroup ? drawOffsets(chance) : {}),
    () => (picture.hasGroup ? { shutdownApplication: true } : {}),
    () => ({ endpointInformationEpoch: chance.pick([-1, 0, 1, 9]) }),
  ])();
}

function drawJoinFault(chance: Chance): Fields {
  const faults: readonly Fields[] = [
    { memberId: '' },
    { groupId: '' },
    { instanceId: '' },
    { instanceId: ' ' },
    { rackId: '' },
    { rebalanceTimeoutMs: -1 },
    { activeTasks: null },
    { activeTasks: { '0': [0] } },
    { standbyTasks: null },
    { standbyTasks: { '0': [] } },
    { warmupTasks: null },
    { topology: null },
    { memberEpoch: -3 },
    { topology: 'pattern' },
    { taskOffsets: repeatedOffsets() },
  ];
  const first = chance.pick(faults);
  return chance.percent(25) ? { ...first, ...chance.pick(faults) } : first;
}

function drawBeatFault(chance: Chance): Fields {
  return chance.pick<Fields>([
    { activeTasks: {} },
    { standbyTasks: {}, warmupTasks: {} },
    { topology: 'default' },
    { memberId: '' },
    { groupId: ' ' },
    { instanceId: '' },
    { rackId: ' ' },
    { memberEpoch: -3 },
    { memberEpoch: -2, instanceId: null },
    { taskOffsets: repeatedOffsets() },
    { taskEndOffsets: repeatedOffsets(), ...NO_TASKS },
    { instanceId: 'iA' },
    { instanceId: 'i9' },
    { instanceId: 'i9' },
    { instanceId: null },
  ]);
}

function drawBeatFields(chance: Chance): Fields {
  return chance.pick<() => Fields>([
    () => ({ processId: chance.pick(['p1', 'p2', 'p5']) }),
    () => ({ rackId: chance.pick(['r1', 'r3']) }),
    () => ({ rebalanceTimeoutMs: chance.pick([45000, 90000]) }),
    () => ({ userEndpoint: drawEndpoint(chance) }),
    () => ({ clientTags: drawTags(chance) }),
    () => ({ endpointInformationEpoch: chance.pick([-1, 0, 1, 9]) }),
    () => ({ ...NO_LISTS }),
  ])();
}

/** An epoch that is not the one told, with or without lists that show what the member has. */
function drawEpoch(chance: Chance, { epoch, owned }: PicturedMember): Fields {
  const memberEpoch = Math.max(1, epoch + chance.pick([-1, -1, -1, -2, 1, 2]));
  return { memberEpoch, ...chance.pick<Fields>([{}, owned, NO_TASKS]) };
}

function drawOwned(chance: Chance, owned: OwnedTasks, picture: Picture): OwnedTasks {
  const others = anyone(chance, picture).owned;
  return chance.pick<() => OwnedTasks>([
    () => NO_TASKS,
    () => ({ ...owned, activeTasks: withoutOne(chance, owned.activeTasks) }),
    () => ({ ...owned, standbyTasks: withoutOne(chance, owned.standbyTasks) }),
    () => ({ ...owned, activeTasks: { ...owned.activeTasks, '0': [0, 1] } }),
    () => ({ ...owned, activeTasks: owned.standbyTasks, standbyTasks: owned.activeTasks }),
    () => ({ ...owned, standbyTasks: owned.activeTasks }),
    () => ({ ...owned, warmupTasks: { '0': [0] } }),
    () => ({ ...owned, activeTasks: { ...owned.activeTasks, '9': [0] } }),
    () => ({ ...owned, standbyTasks: { '0': [chance.pick([-1, 4, 99])] } }),
    () => ({ ...owned, activeTasks: { '0': [0, 0] } }),
    () => others,
  ])();
}

function withoutOne(chance: Chance, tasks: ShortTasks): ShortTasks {
  const left = Object.entries(tasks).map(([subtopology, partitions]) => {
    const gone = partitions.length === 0 ? undefined : chance.pick(partitions);
    return [subtopology, partitions.filter((partition) => partition !== gone)] as const;
  });
  return Object.fromEntries(left.filter(([, partitions]) => partitions.length > 0));
}

function drawOffsets(chance: Chance): Fields {
  const list = () =>
    chance.some([0, 1, 2], 60).map((partition) => ({
      subtopologyId: chance.pick(['0', '1']),
      partition,
      offset: chance.pick([0, 77, 12345]),
    }));
  const distinct = () => [...new Map(list().map((one) => [one.partition, one])).values()];
  return { taskOffsets: distinct(), taskEndOffsets: chance.pick([null, distinct()]) };
}

function repeatedOffsets(): readonly Fields[] {
  const one = { subtopologyId: '0', partition: 0, offset: 5 };
  return [one, { ...one, offset: 6 }];
}

function drawLeave(chance: Chance): Fields {
  return chance.pick<Fields>([
    { memberEpoch: -2 },
    { memberEpoch: -2, instanceId: 'iA' },
    { instanceId: 'iA' },
    { instanceId: null },
    { memberId: 'Z' },
    { groupId: '{group-none}' },
    { shutdownApplication: true },
    { ...NO_TASKS },
    { activeTasks: {} },
    { topology: 'default' },
    { memberEpoch: -3 },
    { memberId: '' },
    { taskOffsets: [] },
  ]);
}
