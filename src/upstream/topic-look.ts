import { byCodeUnits } from '../../machines/model/ids.ts';
import type { TopicMetadata } from '../../machines/model/topics.ts';
import type { LookAtAllTopics, LookAtTopics, TopicLook } from '../cluster/upstream-topics.ts';
import type { ResponseOf } from '../wire/apis.ts';
import { errorCode } from '../wire/errors.ts';
import type { ClusterMap } from './cluster-map.ts';
import type { UpstreamPool } from './pool.ts';

const MISSING: readonly number[] = [
  errorCode('UNKNOWN_TOPIC_OR_PARTITION'),
  errorCode('TOPIC_AUTHORIZATION_FAILED'),
  errorCode('INVALID_TOPIC_EXCEPTION'),
];

type LookedAt = ResponseOf<'Metadata'>['topics'][number];

/**
 * Looks at topics through Metadata, creating none. Learns the brokers on the way.
 *
 * A partition's racks are those its brokers were last seen in: a broker that is away for a while does not change them.
 *
 * Source: wire.md 4.11.
 */
export function topicLook(pool: UpstreamPool, clusterMap: ClusterMap): LookAtTopics {
  return async (names) => {
    const connection = await pool.any();
    const answer = await connection.request('Metadata', {
      topics: names.map((name) => ({ name })),
      allowAutoTopicCreation: false,
    });
    await pool.learn(answer);
    return answer.topics.map((topic) => lookOf(topic, clusterMap));
  };
}

/** As {@link topicLook}, at every topic there is. */
export function allTopicsLook(pool: UpstreamPool, clusterMap: ClusterMap): LookAtAllTopics {
  return async (isWanted) => {
    const connection = await pool.any();
    const answer = await connection.request('Metadata', {
      topics: null,
      allowAutoTopicCreation: false,
    });
    await pool.learn(answer);
    const topics = answer.topics.filter(({ errorCode: code }) => !MISSING.includes(code));
    return {
      names: topics.flatMap(({ name }) => name ?? []),
      looks: topics
        .filter(({ name }) => name !== null && isWanted(name))
        .map((topic) => lookOf(topic, clusterMap)),
    };
  };
}

function lookOf(topic: LookedAt, clusterMap: ClusterMap): TopicLook {
  const name = topic.name ?? '';
  if (MISSING.includes(topic.errorCode)) return { name, seen: 'missing' };
  if (topic.errorCode !== 0) return { name, seen: 'unclear' };
  return { name, seen: metadataOf(name, topic, clusterMap) };
}

function metadataOf(name: string, topic: LookedAt, clusterMap: ClusterMap): TopicMetadata {
  const partitions = [...topic.partitions].sort((a, b) => a.partitionIndex - b.partitionIndex);
  return {
    name,
    topicId: topic.topicId,
    partitionCount: partitions.length,
    racks: partitions.map(({ replicaNodes }) => {
      const racks = replicaNodes.flatMap((nodeId) => clusterMap.rackOf(nodeId) ?? []);
      return [...new Set(racks)].sort(byCodeUnits);
    }),
  };
}
