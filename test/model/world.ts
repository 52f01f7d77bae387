import type { HeartbeatRequest } from '../../machines/commands.ts';
import type { AssignmentRun, GroupSlot, HeldHeartbeat } from '../../machines/decision.ts';
import type { GroupResult } from '../../machines/model/assignment.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { GROUP_ID } from '../support/lone-coordinator.ts';
import type { Setup } from './setup.ts';

/** Epoch of a client that takes no part. */
export const AWAY = -1;

/**
 * A member as its process sees it, after released clients: one request at a time; what it runs follows what it is
 * told with a delay; task lists are sent when they changed, and all anew after a request that came to nothing.
 */
export type Client = {
  /** 0: it is to join; {@link AWAY}: it takes no part. */
  readonly epoch: number;
  /** The lists it was last told. */
  readonly told: TasksByRole;
  /** What it runs, and reports. */
  readonly runs: TasksByRole;
  /** Its copies are caught up with what they copy; else they are far behind. */
  readonly isCaughtUp: boolean;
  /** Epoch of the topology it joins with. */
  readonly topologyEpoch: number;
  /** Its next heartbeat carries its lists. */
  readonly saysAll: boolean;
  /** Its request is with the coordinator, which has parked the answer. */
  readonly awaits: boolean;
  /** The coordinator has removed it, and it does not know yet: what it runs does not count any more. */
  readonly disowned: boolean;
};

/** A run that is out, and what it will come to. */
export type RunOut = { readonly run: AssignmentRun; readonly result: GroupResult };

/** The coordinator of the one group, with what its shard keeps for it. */
export type Coordinator = {
  readonly slot: GroupSlot;
  /** The last record of each key, by key: what a load finds. */
  readonly log: ReadonlyMap<string, GroupRecord>;
  /** Oldest first. */
  readonly runs: readonly RunOut[];
  /** The heartbeat whose answer waits; read by its member if that still listens. */
  readonly parked: HeldHeartbeat | undefined;
  /** Members whose session timer runs. */
  readonly sessions: readonly string[];
  /** Rebalance timers by member: the epoch for which each one runs. */
  readonly rebalances: ReadonlyMap<string, number>;
  readonly delayRuns: boolean;
  /** The highest incarnation there was. */
  readonly incarnation: number;
  readonly nowMs: number;
  /** The topic `in` exists. */
  readonly sourceExists: boolean;
};

/** A request that was given up and may still be taken. */
export type LateRequest = { readonly who: number; readonly request: HeartbeatRequest };

/** Everything there is at one moment; never changed, only replaced. */
export type World = {
  readonly coordinator: Coordinator;
  readonly clients: readonly Client[];
  /**
   * By member: what answers told it, read or unread, and no request that was taken has reported dropped; nothing for
   * who is not in the group. The measure of S08 and S10.
   */
  readonly keeps: readonly TasksByRole[];
  readonly late: LateRequest | undefined;
};

export const AWAY_CLIENT: Client = {
  epoch: AWAY,
  told: NO_TASKS_BY_ROLE,
  runs: NO_TASKS_BY_ROLE,
  isCaughtUp: false,
  topologyEpoch: 0,
  saysAll: true,
  awaits: false,
  disowned: false,
};

/** No group, nobody there. */
export function emptyWorld(setup: Setup): World {
  return {
    coordinator: {
      slot: emptySlot(GROUP_ID),
      log: new Map(),
      runs: [],
      parked: undefined,
      sessions: [],
      rebalances: new Map(),
      delayRuns: false,
      incarnation: 0,
      nowMs: 10_000,
      sourceExists: true,
    },
    clients: setup.processes.map(() => AWAY_CLIENT),
    keeps: setup.processes.map(() => NO_TASKS_BY_ROLE),
    late: undefined,
  };
}
