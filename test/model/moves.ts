import type { HeartbeatRequest } from '../../machines/commands.ts';
import { STATIC_LEAVE_EPOCH } from '../../machines/model/ids.ts';
import { sameTasksByRole } from '../../machines/model/task-list.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import type { GroupRecord } from '../../machines/records.ts';
import {
  afterAnswer,
  afterLoss,
  copiesOf,
  isSettled,
  leaveOf,
  requestOf,
  settled,
  toJoin,
} from './client.ts';
import { type Outcome, Play, type Sent } from './coordinator.ts';
import { afterReport, afterTold } from './keeps.ts';
import { MEMBERS, type Setup } from './setup.ts';
import { AWAY, AWAY_CLIENT, type Client, type RunOut, type World } from './world.ts';

/** What can happen. `at` is the member, or the run, it happens to; 0 where there is only one. */
export const MOVE_KINDS = [
  /** A client closes and opens what it was told to. */
  'settle',
  /** The copies of a client catch up with what they copy. */
  'catchUp',
  'runOver',
  'waitOver',
  'delayOver',
  'sourceBack',
  'timePasses',
  'sessionOfGone',
  /** A heartbeat, a join if it has no epoch; the answer is read. */
  'beat',
  'rebalanceExpires',
  /** A client that missed its tasks drops all and joins anew. */
  'forget',
  /** Up to here is what happens when nothing goes wrong any more, in this order. */
  'join',
  'joinUpgraded',
  'beatUnread',
  'beatLost',
  'beatLate',
  'giveUp',
  'leave',
  'pause',
  'leaveLate',
  'die',
  'lateArrives',
  'sessionExpires',
  'runFails',
  'restart',
  'delete',
  'sourceGoes',
] as const;
export type MoveKind = (typeof MOVE_KINDS)[number];
export type Move = { readonly kind: MoveKind; readonly at: number };

/** Moves of the fair schedule: nothing is lost any more, nobody comes or goes. */
export function isFair({ kind }: Move): boolean {
  return MOVE_KINDS.indexOf(kind) <= MOVE_KINDS.indexOf('forget');
}

/** What a move did beside changing the world. */
export type Played = {
  readonly world: World;
  readonly sent: readonly Sent[];
  readonly records: readonly GroupRecord[];
  /** Runs of the assignor that ended. */
  readonly ended: readonly RunOut[];
};

/** Every move that a world allows, those of the fair schedule first, in its order. */
export function movesOf(setup: Setup, world: World): readonly Move[] {
  const moves: Move[] = [];
  const add = (kind: MoveKind, at = 0): void => {
    moves.push(moveOf(kind, at));
  };
  const { coordinator, clients, late } = world;
  const { may } = setup;
  const each = (test: (client: Client, at: number) => boolean, kind: MoveKind) => {
    clients.forEach((client, at) => {
      if (test(client, at)) add(kind, at);
    });
  };
  const isFree = ({ epoch, awaits }: Client) => epoch !== AWAY && !awaits;
  each((client) => !isSettled(client), 'settle');
  if (setup.warmups > 0) each((client) => isBehind(client), 'catchUp');
  for (const at of coordinator.runs.keys()) add('runOver', at);
  if (coordinator.parked !== undefined) add('waitOver');
  if (coordinator.delayRuns) add('delayOver');
  if (!coordinator.sourceExists) add('sourceBack');
  if (setup.assignmentInterval) add('timePasses');
  const hasSession = (at: number) => coordinator.sessions.includes(MEMBERS[at] ?? '');
  each(({ epoch }, at) => epoch === AWAY && hasSession(at), 'sessionOfGone');
  each(isFree, 'beat');
  each((_, at) => coordinator.rebalances.has(MEMBERS[at] ?? ''), 'rebalanceExpires');
  // Kafka tells a member its tasks once; who missed that learns of them by joining (X11).
  if (setup.profile === 'kafka') each((_, at) => hasMissedTasks(world, at), 'forget');
  each(({ epoch }) => epoch === AWAY, 'join');
  if (may.upgrades) each(({ epoch }) => epoch === AWAY, 'joinUpgraded');
  if (may.losses) {
    each(isFree, 'beatUnread');
    each((client) => isFree(client) && !client.saysAll, 'beatLost');
    each(({ awaits }) => awaits, 'giveUp');
  }
  if (may.lateRequests && late === undefined) {
    each(isFree, 'beatLate');
    each(({ epoch }) => epoch > 0, 'leaveLate');
  }
  if (late !== undefined) add('lateArrives');
  if (may.leaves) {
    each(({ epoch }) => epoch > 0, 'leave');
    each(({ epoch }) => epoch !== AWAY, 'die');
  }
  if (may.breaks) each(({ epoch }, at) => epoch > 0 && isStatic(setup, at), 'pause');
  if (may.timers) each(({ epoch }, at) => epoch !== AWAY && hasSession(at), 'sessionExpires');
  if (may.slowRuns) for (const at of coordinator.runs.keys()) add('runFails', at);
  if (may.restarts && coordinator.slot.group !== undefined) add('restart');
  const isEmpty = coordinator.slot.group?.state === 'Empty';
  if (may.deletion && isEmpty) add('delete');
  if (may.topics && coordinator.sourceExists && !isEmpty) add('sourceGoes');
  return moves;
}

function isBehind({ runs, isCaughtUp }: Client): boolean {
  return !isCaughtUp && copiesOf(runs).length > 0;
}

function isStatic({ instances }: Setup, at: number): boolean {
  return (instances[at] ?? null) !== null;
}

function hasMissedTasks({ clients, coordinator }: World, at: number): boolean {
  const client = clients[at];
  const { group } = coordinator.slot;
  const member = group?.members.get(MEMBERS[at] ?? '');
  if (client === undefined || member === undefined) return false;
  const isAtRest = member.state === 'stable' && member.memberEpoch === group?.assignmentEpoch;
  return (
    isAtRest &&
    client.epoch === member.memberEpoch &&
    !sameTasksByRole(client.told, member.assigned)
  );
}

const table = new Map<MoveKind, Move[]>(MOVE_KINDS.map((kind) => [kind, []]));

/** The one value of each move. */
function moveOf(kind: MoveKind, at: number): Move {
  const known = table.get(kind) ?? [];
  known[at] ??= { kind, at };
  return known[at];
}

/** Plays a move. Pure: the same world and move give the same. */
export function play(setup: Setup, world: World, { kind, at }: Move): Played {
  const client = world.clients[at] ?? AWAY_CLIENT;
  const memberId = MEMBERS[at] ?? '';
  const coordinator = () => new Play(setup, world.coordinator);
  switch (kind) {
    case 'settle':
      return still(withClient(world, at, settled(client)));
    case 'catchUp':
      return still(withClient(world, at, { ...client, isCaughtUp: true }));
    case 'join':
      return send(setup, world, at, toJoin(AWAY_CLIENT), 'read');
    case 'joinUpgraded': {
      const upgraded = { ...AWAY_CLIENT, topologyEpoch: 1 };
      return send(setup, world, at, toJoin(upgraded), 'read');
    }
    case 'beat':
      return send(setup, world, at, client, 'read');
    case 'beatUnread':
      return send(setup, world, at, client, 'unread');
    case 'beatLost':
      return still(withClient(world, at, afterLoss(client)));
    case 'beatLate': {
      const request = requestOf(setup, client, at);
      return still({ ...withClient(world, at, afterLoss(client)), late: { who: at, request } });
    }
    case 'giveUp':
      return still(withClient(world, at, afterLoss(client)));
    case 'forget':
      return still(withClient(world, at, toJoin(client)));
    case 'die':
      return still(withClient(world, at, AWAY_CLIENT));
    case 'leave':
      return take(setup, withClient(world, at, AWAY_CLIENT), at, leaveOf(setup, at));
    case 'pause': {
      const paused = withClient(world, at, AWAY_CLIENT);
      return take(setup, paused, at, leaveOf(setup, at, STATIC_LEAVE_EPOCH));
    }
    case 'leaveLate':
      return still({
        ...withClient(world, at, AWAY_CLIENT),
        late: { who: at, request: leaveOf(setup, at) },
      });
    case 'lateArrives':
      return world.late === undefined
        ? still(world)
        : take(setup, { ...world, late: undefined }, world.late.who, world.late.request);
    case 'sessionExpires':
    case 'sessionOfGone':
      return over(setup, world, coordinator().sessionExpired(memberId));
    case 'rebalanceExpires':
      return over(setup, world, coordinator().rebalanceExpired(memberId));
    case 'runOver':
      return over(setup, world, coordinator().runOver(at, 'assigned'));
    case 'runFails':
      return over(setup, world, coordinator().runOver(at, 'failed'));
    case 'waitOver':
      return over(setup, world, coordinator().waitOver());
    case 'delayOver':
      return over(setup, world, coordinator().initialDelayOver());
    case 'restart': {
      const clients = world.clients.map((each) => (each.awaits ? afterLoss(each) : each));
      return over(setup, { ...world, clients }, coordinator().restart());
    }
    case 'delete':
      return over(setup, world, coordinator().delete());
    case 'sourceGoes':
    case 'sourceBack':
      return over(setup, world, coordinator().turnSource());
    case 'timePasses':
      return over(setup, world, coordinator().passTime());
  }
}

function still(world: World): Played {
  return { world, sent: [], records: [], ended: [] };
}

function withClient(world: World, at: number, client: Client): World {
  return { ...world, clients: world.clients.with(at, client) };
}

function send(
  setup: Setup,
  world: World,
  at: number,
  client: Client,
  answer: 'read' | 'unread',
): Played {
  const request = requestOf(setup, client, at);
  const isRead = answer === 'read';
  const asked = isRead ? { ...client, awaits: true } : afterLoss(client);
  return take(setup, withClient(world, at, asked), at, request, isRead);
}

/** The coordinator takes a request. @param isHeard somebody listens for its very answer. */
function take(
  setup: Setup,
  world: World,
  at: number,
  request: HeartbeatRequest,
  isHeard = false,
): Played {
  const outcome = new Play(setup, world.coordinator).heartbeat(request);
  const wasTaken =
    outcome.held ||
    outcome.sent.some(({ answer, to }) => to === 'asker' && answer.error === 'NONE');
  if (!wasTaken) return over(setup, world, outcome, isHeard);
  const kept = afterReport(world.keeps[at] ?? NO_TASKS_BY_ROLE, request);
  return over(setup, { ...world, keeps: world.keeps.with(at, kept) }, outcome, isHeard);
}

/** The world after a step of the coordinator: answers are read, whoever was removed is disowned. */
function over(setup: Setup, world: World, outcome: Outcome, isHeard = false): Played {
  const sent = [...outcome.sent];
  const records = [...outcome.records];
  const ended = [...outcome.ended];
  let { coordinator } = outcome;
  while (!setup.may.slowRuns && coordinator.runs.length > 0) {
    const next = new Play(setup, coordinator).runOver(0, 'assigned');
    sent.push(...next.sent);
    records.push(...next.records);
    ended.push(...next.ended);
    coordinator = next.coordinator;
  }
  const clients = [...world.clients];
  const keeps = [...world.keeps];
  for (const { memberId, answer, to } of sent) {
    const at = MEMBERS.indexOf(memberId);
    const client = clients[at] ?? AWAY_CLIENT;
    keeps[at] = afterTold(keeps[at] ?? NO_TASKS_BY_ROLE, answer);
    if (client.awaits && (isHeard || to === 'waiter'))
      clients[at] = afterAnswer(setup, client, answer);
  }
  const members = coordinator.slot.group?.members;
  for (const [at, client] of clients.entries()) {
    if (members?.has(MEMBERS[at] ?? '')) continue;
    keeps[at] = NO_TASKS_BY_ROLE;
    if (client.epoch > 0) clients[at] = { ...client, disowned: true };
  }
  return { world: { ...world, coordinator, clients, keeps }, sent, records, ended };
}
