import { decideDelete } from '../../machines/decide/delete.ts';
import { decideHeartbeat } from '../../machines/decide/heartbeat.ts';
import { decideLoaded } from '../../machines/decide/loaded.ts';
import { decideRunOver, decideWaitOver } from '../../machines/decide/target.ts';
import {
  decideInitialDelayOver,
  decideRebalanceExpired,
  decideSessionExpired,
} from '../../machines/decide/timeouts.ts';
import { topicsChanged } from '../../machines/decide/topics-changed.ts';
import type { Profile } from '../../machines/model/profile.ts';
import type { Topology } from '../../machines/model/topology.ts';
import type { TestAssignor } from '../support/lone-coordinator.ts';
import { info, subtopology, topology } from '../support/topology-samples.ts';

/** The real decisions, as one value: a mutation check puts a broken one in the place of one of them. */
export const DECISIONS = {
  heartbeat: decideHeartbeat,
  runOver: decideRunOver,
  waitOver: decideWaitOver,
  sessionExpired: decideSessionExpired,
  rebalanceExpired: decideRebalanceExpired,
  initialDelayOver: decideInitialDelayOver,
  delete: decideDelete,
  loaded: decideLoaded,
  topicsChanged,
};
export type Decisions = typeof DECISIONS;

/** What may happen in a world beside honest members that beat, and are heard. */
export type Freedoms = {
  /** Members leave, in good order or by dying in silence. */
  readonly leaves: boolean;
  /** Answers, and requests, are lost. */
  readonly losses: boolean;
  /** A request that its member has given up is taken after all, at any later time; one at a time. */
  readonly lateRequests: boolean;
  /** Sessions and rebalance timeouts run out. */
  readonly timers: boolean;
  /** The coordinator dies and loads its log. */
  readonly restarts: boolean;
  /** Runs of the assignor take their time, fail, or come to an end when nobody wants them any more. */
  readonly slowRuns: boolean;
  /** The empty group is deleted. */
  readonly deletion: boolean;
  /** A source topic goes and comes back. */
  readonly topics: boolean;
  /** Static members leave for a while. */
  readonly breaks: boolean;
  /** Members join with the next topology. */
  readonly upgrades: boolean;
};

/** One finite world to explore. */
export type Setup = {
  readonly name: string;
  readonly profile: Profile;
  /** The process of each member; their ids are A, B, C. */
  readonly processes: readonly string[];
  /** The instance id of each member, null if it is dynamic; of two with the same id one takes the other's place. */
  readonly instances: readonly (string | null)[];
  /** Tasks of subtopology 0, without state, and of subtopology 1, with state. */
  readonly tasks: readonly [number, number];
  readonly standbys: number;
  /** Warm-ups at a time; with any, members report how far their copies are. */
  readonly warmups: number;
  /** Answers wait for the run that their heartbeat started (OFF-8). */
  readonly answersWait: boolean;
  /** The first assignment of a group waits for more members (ASG-3). */
  readonly initialDelay: boolean;
  /** Targets keep a distance in time (ASG-6). */
  readonly assignmentInterval: boolean;
  /**
   * What a member is told to run it runs from then on, and reports; only closing takes it time. Else, as released
   * clients have it, it reports its former tasks until all that it was told is done.
   */
  readonly opensAtOnce: boolean;
  readonly assignor: TestAssignor;
  /** Everybody is there and at rest in the first world; else nobody is. */
  readonly startsSettled: boolean;
  readonly may: Freedoms;
  readonly decisions: Decisions;
};

export const MEMBERS: readonly string[] = ['A', 'B', 'C'];

const TOPOLOGY = topology(
  subtopology('0', { sourceTopics: ['in'] }),
  subtopology('1', { sourceTopics: ['in2'], stateChangelogTopics: [info('log')] }),
);
const STATELESS = topology(subtopology('0', { sourceTopics: ['in'] }));

/** One subtopology is gone, the other reads the topic of the former. */
const NEXT_TOPOLOGY = {
  ...topology(subtopology('0', { sourceTopics: ['in2'], stateChangelogTopics: [info('log')] })),
  epoch: 1,
};

/** What members join with: the topology of this epoch, 0 or 1. */
export function topologyOf({ tasks }: Setup, epoch: number): Topology {
  if (epoch === 1) return NEXT_TOPOLOGY;
  return tasks[1] === 0 ? STATELESS : TOPOLOGY;
}

/** The partitions of every topic of the world. */
export function partitionCounts({ tasks: [stateless, stateful] }: Setup): Record<string, number> {
  return { in: stateless, in2: stateful, log: stateful };
}
