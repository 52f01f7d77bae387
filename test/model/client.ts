import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { LEAVE_EPOCH, type STATIC_LEAVE_EPOCH } from '../../machines/model/ids.ts';
import {
  isSubset,
  sameTasksByRole,
  subtractTasks,
  unionTasks,
} from '../../machines/model/task-list.ts';
import type { TaskList, TasksByRole } from '../../machines/model/tasks.ts';
import { GROUP_ID } from '../support/lone-coordinator.ts';
import { steadyBeat } from '../support/steady-beat.ts';
import { MEMBERS, type Setup, topologyOf } from './setup.ts';
import { AWAY_CLIENT, type Client } from './world.ts';

/** The request that a client sends now: a join when it has no epoch. */
export function requestOf(setup: Setup, client: Client, who: number): HeartbeatRequest {
  const memberId = MEMBERS[who] ?? '';
  const instanceId = setup.instances[who] ?? null;
  if (client.epoch > 0) {
    const beat = {
      ...steadyBeat(GROUP_ID, memberId, client.epoch),
      instanceId,
      ...(setup.warmups > 0 ? reportOf(client) : {}),
    };
    if (!client.saysAll) return beat;
    const { active, standby, warmup } = client.runs;
    return { ...beat, activeTasks: active, standbyTasks: standby, warmupTasks: warmup };
  }
  return {
    ...steadyBeat(GROUP_ID, memberId, 0),
    instanceId,
    rebalanceTimeoutMs: 60_000,
    topology: topologyOf(setup, client.topologyEpoch),
    activeTasks: [],
    standbyTasks: [],
    warmupTasks: [],
    processId: setup.processes[who] ?? null,
  };
}

/** Far more than any acceptable lag. */
const END_OFFSET = 1_000_000n;

/** Standbys and warm-ups as clients report them; what runs as active is left out. */
function reportOf({
  runs,
  isCaughtUp,
}: Client): Pick<HeartbeatRequest, 'taskOffsets' | 'taskEndOffsets'> {
  const report = (offset: bigint) =>
    copiesOf(runs).flatMap(({ subtopologyId, partitions }) =>
      partitions.map((partition) => ({ subtopologyId, partition, offset })),
    );
  return {
    taskOffsets: report(isCaughtUp ? END_OFFSET : 0n),
    taskEndOffsets: report(END_OFFSET),
  };
}

export function copiesOf({ standby, warmup }: TasksByRole): TaskList {
  return unionTasks(standby, warmup);
}

/** A member's last request: for good, or for a while. */
export function leaveOf(
  setup: Setup,
  who: number,
  epoch: typeof LEAVE_EPOCH | typeof STATIC_LEAVE_EPOCH = LEAVE_EPOCH,
): HeartbeatRequest {
  const beat = steadyBeat(GROUP_ID, MEMBERS[who] ?? '', epoch);
  return { ...beat, instanceId: setup.instances[who] ?? null };
}

/** It dropped all it had and is to join (EPO-7). */
export function toJoin({ topologyEpoch }: Client): Client {
  return { ...AWAY_CLIENT, topologyEpoch, epoch: 0 };
}

/** The client after an answer. What it is told to close it still runs: see {@link settled}. */
export function afterAnswer(setup: Setup, client: Client, answer: HeartbeatAnswer): Client {
  switch (answer.error) {
    case 'NONE':
      break;
    case 'UNKNOWN_MEMBER_ID':
    case 'FENCED_MEMBER_EPOCH':
      return toJoin(client);
    default:
      // Its thread dies (wire 6.2).
      return AWAY_CLIENT;
  }
  const heard = { ...client, epoch: answer.memberEpoch, saysAll: false, awaits: false };
  const { activeTasks, standbyTasks, warmupTasks } = answer;
  if (activeTasks === null || standbyTasks === null || warmupTasks === null) return heard;
  const told = { active: activeTasks, standby: standbyTasks, warmup: warmupTasks };
  if (!setup.opensAtOnce) return { ...heard, told };
  const runs = opened(client.runs, told);
  const isCaughtUp = client.isCaughtUp && isSubset(copiesOf(runs), copiesOf(client.runs));
  return { ...heard, told, runs, isCaughtUp, saysAll: !sameTasksByRole(runs, client.runs) };
}

/** Everything it is told to run, and what it has not closed; a task it runs as active is no copy as well. */
function opened(runs: TasksByRole, told: TasksByRole): TasksByRole {
  const active = unionTasks(told.active, runs.active);
  const standby = subtractTasks(unionTasks(told.standby, runs.standby), active);
  const warmup = subtractTasks(unionTasks(told.warmup, runs.warmup), active);
  return {
    active,
    standby: subtractTasks(standby, told.warmup),
    warmup: subtractTasks(warmup, told.standby),
  };
}

/** Its request came to nothing, as far as it can see: the next one says all. */
export function afterLoss(client: Client): Client {
  return { ...client, saysAll: true, awaits: false };
}

export function isSettled(client: Client): boolean {
  return sameTasksByRole(client.told, client.runs);
}

/** It has closed and opened what it was told to. */
export function settled(client: Client): Client {
  const isCaughtUp = client.isCaughtUp && isSubset(copiesOf(client.told), copiesOf(client.runs));
  return { ...client, runs: client.told, isCaughtUp, saysAll: true };
}
