import type {
  Client,
  EndpointToPartitions,
  HeartbeatAnswer,
  StatusName,
} from '../../../machines/commands.ts';
import { hasPatterns, patternsOf } from '../../../machines/decide/resolve-topology.ts';
import {
  mentionedTopics,
  refuseIllegalTopics,
  requiredTopics,
} from '../../../machines/decide/topology.ts';
import type { PatternSearch } from '../../../machines/model/patterns.ts';
import type { Behaviour } from '../../../machines/model/profile.ts';
import { Refusal } from '../../../machines/model/refusal.ts';
import type { Topology } from '../../../machines/model/topology.ts';
import type { ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import { type Authorizer, allowAll, CLUSTER_RESOURCE } from '../authorize.ts';
import type { IncomingRequest } from '../dispatch.ts';
import type { HandlerParts } from '../handler-parts.ts';
import { toldOnce } from '../told-once.ts';

type Response = ResponseInput<'StreamsGroupHeartbeat'>;

export type HeartbeatParts = Pick<
  HandlerParts,
  'coordinator' | 'topics' | 'patterns' | 'authorizer' | 'behaviour' | 'streamsEnabled' | 'log'
>;

/** Numbers of the statuses (wire.md 3.1). */
const STATUS_CODES = {
  STALE_TOPOLOGY: 0,
  MISSING_SOURCE_TOPICS: 1,
  INCORRECTLY_PARTITIONED_TOPICS: 2,
  MISSING_INTERNAL_TOPICS: 3,
  SHUTDOWN_APPLICATION: 4,
  ASSIGNMENT_DELAYED: 5,
  MISSING_CLIENT_TAGS: 6,
} as const satisfies Record<StatusName, number>;

const INT32_MAX = 0x7fff_ffffn;
const NO_STATUSES: NonNullable<Response['status']> = [];

/**
 * Answers StreamsGroupHeartbeat: the checks of the edge, then the coordinator's answer in the layout of the version.
 *
 * A heartbeat reaches its shard in the order in which its connection brought it. One with a topology waits until the
 * cluster was asked about the topics and searched for those that patterns match; the connection's later requests wait behind it. If the coordinator fails, the
 * answer is COORDINATOR_NOT_AVAILABLE, which a client tries again; any code that is not in its list kills its thread.
 *
 * Source: REQ-1 to REQ-4, A-1 to A-5; wire.md key 88 and 6.2.
 */
export function answerHeartbeat(parts: HeartbeatParts): Answering<'StreamsGroupHeartbeat'> {
  const { coordinator, topics, authorizer, behaviour, streamsEnabled, log } = parts;

  return (request, incoming) => {
    const { apiVersion, clientId, connection } = incoming;
    if (!streamsEnabled) return refused('UNSUPPORTED_VERSION', null);
    if (!authorizer.allows(connection.principal, 'READ', 'GROUP', request.groupId)) {
      return refused('GROUP_AUTHORIZATION_FAILED', null);
    }
    const client: Client = {
      clientId,
      clientHost: connection.clientHost,
      apiVersion,
      mayNotCreate:
        authorizer === allowAll ? undefined : rightToCreate(authorizer, connection.principal),
    };

    const respond = (answer: HeartbeatAnswer) => {
      const shown = filterEndpoints(answer, parts, connection.principal);
      return heartbeatResponse(shown, apiVersion, behaviour);
    };
    const fail = (error: unknown) => {
      log.error({ err: error, groupId: request.groupId }, 'Heartbeat failed');
      return refused('COORDINATOR_NOT_AVAILABLE', null);
    };

    if (request.topology === null) {
      try {
        return coordinator.heartbeat(request, client).then(respond, fail);
      } catch (error) {
        return fail(error);
      }
    }
    const fault = judgeTopics(request.topology, authorizer, incoming);
    if (fault !== undefined) return fault;
    const looked = Promise.all([
      topics.ensureKnown(requiredTopics(request.topology)),
      searchPatterns(request.topology, parts),
    ]);
    const handedOver = looked.then(([, patternSearch]) => ({
      answered: coordinator.heartbeat(
        patternSearch === undefined ? request : { ...request, patternSearch },
        client,
      ),
    }));
    connection.holdUntil(handedOver);
    return handedOver
      .then(({ answered }) => answered)
      .then(respond)
      .catch(fail);
  };
}

/** CREATE on the cluster, or else on each topic (C-3). */
function rightToCreate(authorizer: Authorizer, principal: string): Client['mayNotCreate'] {
  return (names) =>
    authorizer.allows(principal, 'CREATE', 'CLUSTER', CLUSTER_RESOURCE)
      ? []
      : names.filter((name) => !authorizer.allows(principal, 'CREATE', 'TOPIC', name));
}

/** What the source topic patterns of a topology stand for; undefined when it has none, or none are taken. */
function searchPatterns(
  topology: Topology,
  { patterns, behaviour }: HeartbeatParts,
): Promise<PatternSearch> | undefined {
  if (!behaviour.resolveSourceTopicRegex || !hasPatterns(topology)) return undefined;
  return patterns.search(patternsOf(topology));
}

/** REQ-3 and REQ-4; the names are looked at before an authorizer is asked about any. */
function judgeTopics(
  topology: Topology,
  authorizer: Authorizer,
  { connection }: IncomingRequest,
): Response | undefined {
  try {
    refuseIllegalTopics(topology);
  } catch (error) {
    if (error instanceof Refusal) return refused(error.error, error.text);
    throw error;
  }
  const isAllowed = mentionedTopics(topology).every((name) =>
    authorizer.allows(connection.principal, 'DESCRIBE', 'TOPIC', name),
  );
  return isAllowed ? undefined : refused('TOPIC_AUTHORIZATION_FAILED', null);
}

/** Leaves out topics that this principal may not see now, though the map is one for all members (I-12). */
function filterEndpoints(
  answer: HeartbeatAnswer,
  { authorizer, behaviour }: HeartbeatParts,
  principal: string,
): HeartbeatAnswer {
  const { partitionsByUserEndpoint } = answer;
  // The profile that merges endpoints is the one that filters them (X26).
  if (partitionsByUserEndpoint === null || !behaviour.mergeEndpoints) return answer;
  const isVisible = ({ topic }: { readonly topic: string }) =>
    authorizer.allows(principal, 'DESCRIBE', 'TOPIC', topic);
  const filtered = partitionsByUserEndpoint.map(
    (entry): EndpointToPartitions => ({
      userEndpoint: entry.userEndpoint,
      activePartitions: entry.activePartitions.filter(isVisible),
      standbyPartitions: entry.standbyPartitions.filter(isVisible),
    }),
  );
  return { ...answer, partitionsByUserEndpoint: filtered };
}

/** A heartbeat's answer that carries an error alone; every other field has the wire's default. */
export function refused(error: WireErrorName, message: string | null): Response {
  return { errorCode: errorCode(error), errorMessage: message };
}

/**
 * The coordinator's answer as the wire's.
 *
 * Version 0 and 1 differ in the middle: version 0 has the lag as int32 before the offset interval, where Kafka 4.4.0
 * always puts 0 (X25); version 1 has it as int64 behind, and says whether a topology description is wanted.
 */
export function heartbeatResponse(
  answer: HeartbeatAnswer,
  apiVersion: number,
  behaviour: Pick<Behaviour, 'recoveryLagInVersion0'>,
): Response {
  const { statuses, acceptableRecoveryLag } = answer;
  const response = {
    throttleTimeMs: 0,
    errorCode: errorCode(answer.error),
    errorMessage: answer.errorMessage,
    memberId: answer.memberId,
    memberEpoch: answer.memberEpoch,
    heartbeatIntervalMs: answer.heartbeatIntervalMs,
    acceptableRecoveryLagLegacy: 0,
    taskOffsetIntervalMs: answer.taskOffsetIntervalMs,
    acceptableRecoveryLag,
    status: statuses.length === 0 ? NO_STATUSES : statuses.map(wireStatus),
    activeTasks: answer.activeTasks,
    standbyTasks: answer.standbyTasks,
    warmupTasks: answer.warmupTasks,
    topologyDescriptionRequired: apiVersion > 0 && answer.topologyDescriptionRequired,
    endpointInformationEpoch: answer.endpointInformationEpoch,
    partitionsByUserEndpoint: answer.partitionsByUserEndpoint,
  };
  if (apiVersion === 0 && behaviour.recoveryLagInVersion0) {
    response.acceptableRecoveryLagLegacy = legacyLag(acceptableRecoveryLag);
  }
  return response;
}

/** Where there is none to tell, the old field has no value for that but 0. */
function legacyLag(lag: bigint): number {
  if (lag < 0n) return 0;
  return Number(lag > INT32_MAX ? INT32_MAX : lag);
}

function wireStatus({ status, detail }: HeartbeatAnswer['statuses'][number]) {
  return { statusCode: STATUS_CODES[status], statusDetail: detail };
}

const JOIN_EPOCH = 0;

/**
 * Says in the log, once per client id, that a coordinator without a cluster behind it carries no data: a Kafka Streams
 * application joins it well and then cannot fetch.
 */
export function warnOfNoData(
  log: HandlerParts['log'],
  answer: Answering<'StreamsGroupHeartbeat'>,
): Answering<'StreamsGroupHeartbeat'> {
  const tell = toldOnce(
    log,
    'A member joins a coordinator without data: Produce and Fetch need --upstream',
  );
  return (request, incoming) => {
    if (request.memberEpoch === JOIN_EPOCH) tell(incoming.clientId, request.groupId);
    return answer(request, incoming);
  };
}
