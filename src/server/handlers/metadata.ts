import { byCodeUnits } from '../../../machines/model/ids.ts';
import type { RequestOf, ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import { ZERO_UUID } from '../../wire/reader.ts';
import type { Answering } from '../answering.ts';
import type { ResourceType } from '../authorize.ts';
import { authorizedOperations, CLUSTER_RESOURCE, NOT_ASKED } from '../authorize.ts';
import type { HandlerParts } from '../handler-parts.ts';
import type { CatalogueTopic } from '../ports.ts';

type Parts = Pick<HandlerParts, 'catalogue' | 'identity' | 'authorizer'>;
type TopicAsked = NonNullable<RequestOf<'Metadata'>['topics']>[number];
type TopicAnswered = NonNullable<ResponseInput<'Metadata'>['topics']>[number];
type DescribedTopic = NonNullable<ResponseInput<'DescribeTopicPartitions'>['topics']>[number];

const FIRST_WITH_NULL_TOPICS = 1;
const FIRST_WITH_NULL_NAME = 12;
/** Clusters have no operations of their own in other versions. */
const WITH_CLUSTER_OPERATIONS = { min: 8, max: 10 };
const FIRST_WITH_TOPIC_OPERATIONS = 8;
/** This node leads every partition from the start. */
const LEADER_EPOCH = 0;
const LEGAL_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/;

/**
 * Answers Metadata: this node alone, controller and leader of everything. Topics are never created by asking.
 *
 * Source: wire.md key 3, 6.5.
 */
export function answerMetadata(parts: Parts): Answering<'Metadata'> {
  const { catalogue, identity, authorizer } = parts;

  return (request, { apiVersion, connection }) => {
    const { principal, listener } = connection;
    const { clusterId, nodeId } = identity;
    const hasOperations = apiVersion >= FIRST_WITH_TOPIC_OPERATIONS;
    const wantsOperations = hasOperations && request.includeTopicAuthorizedOperations;
    const mayDescribe = (name: string) => authorizer.allows(principal, 'DESCRIBE', 'TOPIC', name);
    const { min, max } = WITH_CLUSTER_OPERATIONS;
    const wantsCluster =
      apiVersion >= min && apiVersion <= max && request.includeClusterAuthorizedOperations;
    return {
      brokers: [{ nodeId, host: listener.host, port: listener.port }],
      clusterId,
      controllerId: nodeId,
      topics: topics(request.topics),
      clusterAuthorizedOperations: wantsCluster
        ? operations('CLUSTER', CLUSTER_RESOURCE)
        : NOT_ASKED,
    };

    function topics(asked: readonly TopicAsked[] | null): TopicAnswered[] {
      const wantsAll =
        asked === null || (asked.length === 0 && apiVersion < FIRST_WITH_NULL_TOPICS);
      if (!wantsAll) return asked.map(lookUp);
      return catalogue
        .list()
        .filter(({ name }) => mayDescribe(name))
        .map(shown);
    }

    function lookUp({ name, topicId }: TopicAsked): TopicAnswered {
      if (name === null || topicId !== ZERO_UUID) {
        const topic = catalogue.byId(topicId);
        if (topic !== undefined && mayDescribe(topic.name)) return shown(topic);
        const noName = apiVersion >= FIRST_WITH_NULL_NAME ? null : '';
        return { name: noName, topicId, errorCode: errorCode('UNKNOWN_TOPIC_ID') };
      }
      if (!LEGAL_NAME.test(name)) return missing(name, 'INVALID_TOPIC_EXCEPTION');
      if (!mayDescribe(name)) return missing(name, 'TOPIC_AUTHORIZATION_FAILED');
      const topic = catalogue.byName(name);
      return topic === undefined ? missing(name, 'UNKNOWN_TOPIC_OR_PARTITION') : shown(topic);
    }

    function shown({ name, topicId, internal, partitionCount }: CatalogueTopic): TopicAnswered {
      return {
        name,
        topicId,
        isInternal: internal,
        partitions: partitions(nodeId, 0, partitionCount),
        topicAuthorizedOperations: wantsOperations ? operations('TOPIC', name) : NOT_ASKED,
      };
    }

    function operations(type: ResourceType, name: string): number {
      return authorizedOperations(authorizer, principal, type, name);
    }
  };
}

function missing(name: string, error: WireErrorName): TopicAnswered {
  return { name, errorCode: errorCode(error) };
}

/** The partitions from `start` up to `end`, which is not among them. */
function partitions(nodeId: number, start: number, end: number) {
  const replicas = [nodeId];
  return Array.from({ length: end - start }, (_, index) => ({
    partitionIndex: start + index,
    leaderId: nodeId,
    leaderEpoch: LEADER_EPOCH,
    replicaNodes: replicas,
    isrNodes: replicas,
  }));
}

/** Nullable on the wire, but the Java admin client fails on null. */
const NO_ELIGIBLE_LEADERS = { eligibleLeaderReplicas: [], lastKnownElr: [] };
/** At most this many partitions are described at a time, whatever the client allows. */
const PARTITIONS_AT_A_TIME_MAX = 2_000;

/**
 * Answers DescribeTopicPartitions: every topic asked for is answered, also one that is not there, or the answer says
 * where to go on; a client asks until nothing is left.
 *
 * Source: wire.md key 75, 6.5.
 */
export function answerDescribeTopicPartitions(parts: Parts): Answering<'DescribeTopicPartitions'> {
  const { catalogue, identity, authorizer } = parts;

  return (request, { connection: { principal } }) => {
    const { cursor } = request;
    const asked = request.topics.map(({ name }) => name);
    const wanted = asked.length > 0 ? asked : catalogue.list().map(({ name }) => name);
    const names = [...new Set(wanted)]
      .sort(byCodeUnits)
      .filter((name) => cursor === null || name >= cursor.topicName);
    const topics: DescribedTopic[] = [];
    let room = Math.max(1, Math.min(request.responsePartitionLimit, PARTITIONS_AT_A_TIME_MAX));
    for (const name of names) {
      const topic = catalogue.byName(name);
      if (topic === undefined || !authorizer.allows(principal, 'DESCRIBE', 'TOPIC', name)) {
        // Of what one may not see, not even the absence is told, unless it was asked for by name.
        if (asked.length > 0) topics.push({ name, errorCode: errorCode(errorOf(topic)) });
        continue;
      }
      if (room === 0) return { topics, nextCursor: { topicName: name, partitionIndex: 0 } };
      const start = cursor?.topicName === name ? Math.max(0, cursor.partitionIndex) : 0;
      const end = Math.min(topic.partitionCount, start + room);
      topics.push({
        name,
        topicId: topic.topicId,
        isInternal: topic.internal,
        partitions: partitions(identity.nodeId, Math.min(start, end), end).map((one) => ({
          ...one,
          ...NO_ELIGIBLE_LEADERS,
        })),
        topicAuthorizedOperations: authorizedOperations(authorizer, principal, 'TOPIC', name),
      });
      if (end < topic.partitionCount) {
        return { topics, nextCursor: { topicName: name, partitionIndex: end } };
      }
      room -= Math.max(0, end - start);
    }
    return { topics, nextCursor: null };
  };
}

function errorOf(topic: CatalogueTopic | undefined): WireErrorName {
  return topic === undefined ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'TOPIC_AUTHORIZATION_FAILED';
}

const BROKERS = 1;
const CONTROLLERS = 2;

/** Answers DescribeCluster: this node, which is its own controller. Source: wire.md key 60. */
export function answerDescribeCluster({
  identity,
  authorizer,
}: Pick<HandlerParts, 'identity' | 'authorizer'>): Answering<'DescribeCluster'> {
  return (request, { connection: { principal, listener } }) => {
    const { clusterId, nodeId } = identity;
    const { endpointType } = request;
    if (endpointType !== BROKERS) {
      const error =
        endpointType === CONTROLLERS ? 'MISMATCHED_ENDPOINT_TYPE' : 'UNSUPPORTED_ENDPOINT_TYPE';
      const text = `Cannot describe cluster: endpoint type ${endpointType}, wanted ${BROKERS} (brokers)`;
      return { errorCode: errorCode(error), errorMessage: text };
    }
    return {
      clusterId,
      controllerId: nodeId,
      brokers: [{ brokerId: nodeId, host: listener.host, port: listener.port }],
      clusterAuthorizedOperations: request.includeClusterAuthorizedOperations
        ? authorizedOperations(authorizer, principal, 'CLUSTER', CLUSTER_RESOURCE)
        : NOT_ASKED,
    };
  };
}
