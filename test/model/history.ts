import type { HeartbeatRequest } from '../../machines/commands.ts';
import type { AssignmentRun } from '../../machines/decision.ts';
import { STATIC_LEAVE_EPOCH } from '../../machines/model/ids.ts';
import { writeTasks } from '../support/task-notation.ts';
import { playTrace } from '../support/trace.ts';
import { leaveOf, requestOf, toJoin } from './client.ts';
import { INTERVAL_MS } from './coordinator.ts';
import { type Move, type Played, play } from './moves.ts';
import { MEMBERS, partitionCounts, type Setup } from './setup.ts';
import { startOf } from './start.ts';
import { AWAY_CLIENT, emptyWorld, type RunOut, type World } from './world.ts';

/** A way through worlds, from before the setup's start, as a trace, with what everybody was answered: to be read, and kept as a file of `test/traces`. */
export function historyOf(setup: Setup, path: readonly Move[], title: string): string {
  const blocks = [[`# ${title}`, ...headOf(setup)].join('\n')];
  let world = emptyWorld(setup);
  // As the trace's coordinator has them, oldest first.
  let runs: AssignmentRun[] = [];
  for (const move of [...startOf(setup).path, ...path]) {
    const played = playOrStay(setup, world, move);
    const runAt = 1 + runs.indexOf(world.coordinator.runs[move.at]?.run as AssignmentRun);
    const lines = [...targetsOf(played.ended), ...linesOf(setup, world, move, runAt)];
    blocks.push(lines.join('\n'));
    const out = played.world.coordinator.runs.map(({ run }) => run);
    const over = new Set(played.ended.map(({ run }) => run));
    runs = [...runs, ...out.filter((run) => !runs.includes(run))].filter((run) => !over.has(run));
    world = played.world;
  }
  return playTrace(blocks.join('\n\n'));
}

/** A move that breaks a broken decision is told all the same. */
function playOrStay(setup: Setup, world: World, move: Move): Played {
  try {
    return play(setup, world, move);
  } catch {
    return { world, sent: [], records: [], ended: [] };
  }
}

function headOf(setup: Setup): readonly string[] {
  const counts = Object.entries(partitionCounts(setup)).filter(([, count]) => count > 0);
  const settings = [
    `profile=${setup.profile}`,
    `standbys=${setup.standbys}`,
    `warmups=${setup.warmups}`,
    `wait=${setup.answersWait ? 100 : 0}`,
    `handover=${setup.profile === 'kip' ? 300 : 0}`,
    `delay=${setup.initialDelay ? 3000 : 0}`,
    `interval=${setup.assignmentInterval ? INTERVAL_MS : 0}`,
  ];
  return [
    `topics ${counts.map(([name, count]) => `${name}:${count}`).join(' ')}`,
    ...(setup.may.upgrades ? ['topology 1: in2 changelog=log'] : []),
    `topology 0: in${setup.tasks[1] > 0 ? ' | in2 changelog=log' : ''}`,
    `set ${settings.join(' ')}`,
    ...(setup.may.slowRuns ? ['hold'] : []),
  ];
}

function targetsOf(ended: readonly RunOut[]): readonly string[] {
  return ended.map(({ result }) => {
    const entries = result.memberIds.map((memberId, at) => {
      const { active = [], standby = [] } = result.targets.at(at) ?? {};
      return `${memberId}=${writeTasks(active)}|${writeTasks(standby)}`;
    });
    return `target ${entries.join(' ')}`;
  });
}

function linesOf(setup: Setup, world: World, { kind, at }: Move, runAt: number): readonly string[] {
  const name = MEMBERS[at] ?? '';
  const client = world.clients[at] ?? AWAY_CLIENT;
  const waiter = world.coordinator.parked?.request.memberId;
  const isWaitedFor = world.coordinator.parked?.run === world.coordinator.runs[at]?.run.run;
  const first = isWaitedFor && waiter !== undefined ? `${waiter} ` : '';
  switch (kind) {
    case 'settle':
      return [`# ${name} has closed and opened what it was told to.`];
    case 'catchUp':
      return [`# The copies of ${name} catch up.`];
    case 'join':
      return [beat(requestOf(setup, toJoin(AWAY_CLIENT), at))];
    case 'joinUpgraded':
      return [beat(requestOf(setup, toJoin({ ...AWAY_CLIENT, topologyEpoch: 1 }), at))];
    case 'beat':
      return [beat(requestOf(setup, client, at))];
    case 'beatUnread':
      return ['# The answer is lost.', beat(requestOf(setup, client, at))];
    case 'beatLost':
      return [`# A heartbeat of ${name} is lost.`];
    case 'beatLate':
      return [`# ${name} gives up a request that is under way.`];
    case 'giveUp':
      return [`# ${name} gives up on its answer.`];
    case 'forget':
      return [`# ${name} drops all it has, to join anew.`];
    case 'die':
      return [`# ${name} dies in silence.`];
    case 'leave':
      return [beat(leaveOf(setup, at))];
    case 'pause':
      return [beat(leaveOf(setup, at, STATIC_LEAVE_EPOCH))];
    case 'leaveLate':
      return [`# ${name} leaves, and its request is under way.`];
    case 'lateArrives':
      return world.late === undefined ? [] : ['# Comes late:', beat(world.late.request)];
    case 'sessionExpires':
    case 'sessionOfGone':
      return [`fire session ${name}`];
    case 'rebalanceExpires':
      return [`fire rebalance ${name}`];
    case 'delayOver':
      return ['fire initial delay'];
    case 'runOver':
      return [`${first}release run=${runAt}`];
    case 'runFails':
      return [`${first}fails run=${runAt}`];
    case 'waitOver':
      return [`${waiter} waited`];
    case 'restart':
      return ['failover'];
    case 'delete':
      return ['delete'];
    case 'sourceGoes':
      return ['topics in:0'];
    case 'sourceBack':
      return [`topics in:${setup.tasks[0]}`];
    case 'timePasses':
      return [`clock +${INTERVAL_MS}`];
  }
}

function beat(request: HeartbeatRequest): string {
  const { memberId, memberEpoch, instanceId, topology, processId } = request;
  const instance = instanceId === null ? [] : [`instance=${instanceId}`];
  if (memberEpoch < 0) {
    const verb = memberEpoch === STATIC_LEAVE_EPOCH ? 'pauses' : 'leaves';
    return [memberId, verb, ...instance].join(' ');
  }
  const { activeTasks, standbyTasks, warmupTasks } = request;
  const own = [activeTasks, standbyTasks, warmupTasks].map((tasks) => writeTasks(tasks ?? []));
  const words = [
    `${memberId} heartbeat epoch=${memberEpoch}`,
    ...instance,
    ...(topology === null ? [] : [`topology=${topology.epoch}`, `process=${processId}`]),
    ...(activeTasks === null ? [] : [`own=${own.join('|')}`]),
    ...offsets('offsets', request.taskOffsets),
    ...offsets('ends', request.taskEndOffsets),
  ];
  return words.join(' ');
}

function offsets(word: string, reported: HeartbeatRequest['taskOffsets']): readonly string[] {
  if (reported === null) return [];
  const each = reported.map(
    ({ subtopologyId, partition, offset }) => `${subtopologyId}_${partition}:${offset}`,
  );
  return [`${word}=${each.join(',')}`];
}
