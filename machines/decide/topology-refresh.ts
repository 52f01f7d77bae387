import type { HeartbeatRequest } from '../commands.ts';
import { JOIN_EPOCH, NOT_VALIDATED } from '../model/ids.ts';
import type { ResolvedPatterns } from '../model/patterns.ts';
import type { Behaviour } from '../model/profile.ts';
import { Refusal } from '../model/refusal.ts';
import type { TopicsView } from '../model/topics.ts';
import type { ConfiguredTopology, Topology } from '../model/topology.ts';
import type { Draft } from './draft.ts';
import { firstFew } from './first-few.ts';
import { configureTopology, topicsHash } from './internal-topics.ts';
import { resolveTopology } from './resolve-topology.ts';
import { sameTopology } from './topology.ts';

/**
 * Gives a group without topology the one of the join (TOP-1); holds any other join against the group's, empty or not
 * (TOP-6). An older epoch is fenced, or with `acceptStaleTopologyJoin` let in without a look at what it says (TOP-3);
 * the same epoch must say the same (TOP-2); the next one replaces the group's topology (TOP-4), any later one is too far
 * (TOP-5). Without `topologyUpdates` a topology never changes.
 *
 * @returns the reason to raise the group epoch, if there is one (GE-3).
 * @throws Refusal STREAMS_TOPOLOGY_FENCED, STREAMS_INVALID_TOPOLOGY_EPOCH, STREAMS_INVALID_TOPOLOGY; INVALID_REQUEST
 *   without `topologyUpdates`.
 */
export function adoptTopology(draft: Draft, request: HeartbeatRequest): string | undefined {
  const { group } = draft;
  const { topology } = request;
  if (request.memberEpoch !== JOIN_EPOCH || topology === null) return undefined;
  const present = group.topology;
  if (present === undefined) {
    writeTopology(draft, topology);
    return `Topology ${topology.epoch} set by ${request.memberId}`;
  }
  const { behaviour } = draft.context;
  if (topology.epoch < present.epoch) {
    if (behaviour.acceptStaleTopologyJoin) return undefined;
    throw new Refusal(
      'STREAMS_TOPOLOGY_FENCED',
      `Cannot join with topology epoch ${topology.epoch}: the group's is ${present.epoch}`,
    );
  }
  if (topology.epoch === present.epoch) {
    if (sameTopology(topology, present, behaviour)) return undefined;
    throw otherTopology(
      behaviour,
      `Cannot join with topology epoch ${topology.epoch}: the group's topology of that epoch is another one`,
    );
  }
  if (!behaviour.topologyUpdates || topology.epoch > present.epoch + 1) {
    const wanted = behaviour.topologyUpdates ? ` or ${present.epoch + 1}` : '';
    throw otherTopology(
      behaviour,
      `Cannot join with topology epoch ${topology.epoch}: wanted the group's, ${present.epoch}${wanted}`,
    );
  }
  writeTopology(draft, topology);
  return `Topology ${present.epoch} replaced by ${topology.epoch} of ${request.memberId}`;
}

function otherTopology(behaviour: Behaviour, text: string): Refusal {
  const error = behaviour.topologyUpdates ? 'STREAMS_INVALID_TOPOLOGY_EPOCH' : 'INVALID_REQUEST';
  return new Refusal(error, text);
}

function writeTopology(draft: Draft, topology: Topology): void {
  draft.write({ type: 'topology', groupId: draft.group.groupId, value: topology });
}

/**
 * Holds the group's topology against the topics when they may have changed since it was last done, or nothing is
 * held in memory (TOP-8, TOP-11, H-5).
 *
 * @returns the metadata hash that is right now, and the reason to raise the group epoch, if there is one (GE-4).
 * @throws Refusal STREAMS_INVALID_TOPOLOGY when the topology can be sized in no way.
 */
export function refreshTopology(draft: Draft): {
  readonly metadataHash: bigint;
  readonly reason: string | undefined;
} {
  const { group, soft, context } = draft;
  const { topology } = group;
  const before = soft.configured;
  const isFresh = before !== undefined && !soft.refreshDue;
  if (topology === undefined || (isFresh && before.topologyEpoch === topology.epoch)) {
    return { metadataHash: group.metadataHash, reason: undefined };
  }
  const { inForce, patterns } = resolveAgain(draft, topology);
  const metadataHash = topicsHash(inForce, context.topics);
  const isSame = before?.topologyEpoch === topology.epoch && before.metadataHash === metadataHash;
  const configured = isSame
    ? before
    : configureTopology(inForce, context.topics, context.behaviour, patterns);
  draft.change({ configured, refreshDue: false });
  if (metadataHash === group.metadataHash) return { metadataHash, reason: undefined };
  const wasReady = group.validatedTopologyEpoch === topology.epoch;
  const reason = describeTopicChange(before, configured, wasReady, context.topics);
  return { metadataHash, reason };
}

/** The topology with what its patterns match of the topics that are there now. */
function resolveAgain(
  draft: Draft,
  topology: Topology,
): { readonly inForce: Topology; readonly patterns: ResolvedPatterns | undefined } {
  const { soft, context } = draft;
  const { resolved } = soft.patterns;
  if (resolved?.topologyEpoch !== topology.epoch) return { inForce: topology, patterns: undefined };
  const again = resolveTopology(topology, resolved.matches, context.topics);
  const patterns = { ...resolved, ...again };
  draft.change({ patterns: { ...soft.patterns, resolved: patterns } });
  return { inForce: patterns.topology, patterns };
}

/** The topology epoch that stands validated: that of the configured topology, if it is ready (TOP-10). */
export function validatedEpoch(configured: ConfiguredTopology | undefined): number {
  if (configured === undefined || configured.problem !== undefined) return NOT_VALIDATED;
  return configured.topologyEpoch;
}

/** What became of the topics, in words; `wasReady` also when nothing is held in memory of the time before. */
function describeTopicChange(
  before: ConfiguredTopology | undefined,
  after: ConfiguredTopology,
  wasReady: boolean,
  topics: TopicsView,
): string {
  if (after.problem !== undefined) return `Topology is not ready: ${after.problem.detail}`;
  if (!wasReady) return 'All topics of the topology are there';
  const resized = after.subtopologies.flatMap(({ subtopologyId, taskCount, ...subtopology }) => {
    const was = before?.subtopologies.find((each) => each.subtopologyId === subtopologyId);
    if (was === undefined || was.taskCount === taskCount) return [];
    const widest = subtopology.sourceTopics.find(
      (name) => topics.topic(name)?.partitionCount === taskCount,
    );
    const why = widest === undefined ? '' : `Topic ${widest} now has ${taskCount} partitions: `;
    return [
      `${why}subtopology ${subtopologyId} has ${taskCount} tasks instead of ${was.taskCount}`,
    ];
  });
  if (resized.length > 0) return resized.join('; ');
  return describeSources(before, after) ?? 'Topics changed';
}

/** Sources that patterns match now and did not, and the other way round. */
function describeSources(
  before: ConfiguredTopology | undefined,
  after: ConfiguredTopology,
): string | undefined {
  const were = new Set(before?.subtopologies.flatMap((one) => one.sourceTopics));
  const are = new Set(after.subtopologies.flatMap((one) => one.sourceTopics));
  const come = [...are].filter((name) => !were.has(name));
  const gone = [...were].filter((name) => !are.has(name));
  if (were.size === 0 || come.length + gone.length === 0) return undefined;
  return [
    ...(come.length === 0 ? [] : [`${firstFew(come)} read from now on`]),
    ...(gone.length === 0 ? [] : [`${firstFew(gone)} read no more`]),
  ].join('; ');
}
