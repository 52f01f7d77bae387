import { invariant } from '../../machines/model/refusal.ts';
import { apiByKey, apis } from '../wire/apis.ts';
import { bind } from './answering.ts';
import type { Abilities } from './api-versions.ts';
import { apiVersionsHandler } from './api-versions.ts';
import type { Handler, VersionRange } from './dispatch.ts';
import type { HandlerParts } from './handler-parts.ts';
import { answerAlterConfigs, answerIncrementalAlterConfigs } from './handlers/alter-configs.ts';
import { answerDescribe, answerTopologyDescription } from './handlers/describe.ts';
import { answerDescribeConfigs, answerListConfigResources } from './handlers/describe-configs.ts';
import { answerFindCoordinator } from './handlers/find-coordinator.ts';
import { answerDeleteGroups, answerDescribeGroups, answerListGroups } from './handlers/groups.ts';
import { answerHeartbeat, warnOfNoData } from './handlers/heartbeat.ts';
import { answerListOffsets } from './handlers/list-offsets.ts';
import {
  answerDescribeCluster,
  answerDescribeTopicPartitions,
  answerMetadata,
} from './handlers/metadata.ts';
import { answerOffsetCommit } from './handlers/offset-commit.ts';
import { answerOffsetDelete } from './handlers/offset-delete.ts';
import { answerOffsetFetch } from './handlers/offset-fetch.ts';
import {
  answerClassicHeartbeat,
  answerJoinGroup,
  answerLeaveGroup,
  answerOtherDescribe,
  answerOtherHeartbeat,
  answerSyncGroup,
} from './handlers/other-groups.ts';
import {
  answerCreatePartitions,
  answerCreateTopics,
  answerDeleteTopics,
  answerListPartitionReassignments,
} from './handlers/topics.ts';

/** Everything a standalone coordinator serves and says of itself. */
export type Standalone = {
  readonly handlers: ReadonlyMap<number, Handler>;
  readonly abilities: Abilities;
};

/**
 * The APIs of a coordinator that is the only broker its clients see, over its own topic catalogue. What carries records
 * or transactions is not served: that needs a cluster behind it. Groups of other types are not coordinated, but their
 * members are told so.
 *
 * Source: wire.md 2.4, S.
 */
export function createStandalone(parts: HandlerParts): Standalone {
  const answered = answerHeartbeat(parts);
  const heartbeats = parts.carriesData ? answered : warnOfNoData(parts.log, answered);
  const handlers = new Map<number, Handler>([
    bind('ListOffsets', answerListOffsets(parts)),
    bind('Metadata', answerMetadata(parts)),
    bind('OffsetCommit', answerOffsetCommit(parts)),
    bind('OffsetFetch', answerOffsetFetch(parts)),
    bind('FindCoordinator', answerFindCoordinator(parts)),
    bind('JoinGroup', answerJoinGroup(parts)),
    bind('Heartbeat', answerClassicHeartbeat(parts)),
    bind('LeaveGroup', answerLeaveGroup(parts)),
    bind('SyncGroup', answerSyncGroup(parts)),
    bind('DescribeGroups', answerDescribeGroups(parts)),
    bind('ListGroups', answerListGroups(parts)),
    bind('CreateTopics', answerCreateTopics(parts)),
    bind('DeleteTopics', answerDeleteTopics(parts)),
    bind('DescribeConfigs', answerDescribeConfigs(parts)),
    bind('AlterConfigs', answerAlterConfigs(parts)),
    bind('CreatePartitions', answerCreatePartitions(parts)),
    bind('DeleteGroups', answerDeleteGroups(parts)),
    bind('IncrementalAlterConfigs', answerIncrementalAlterConfigs(parts)),
    bind('ListPartitionReassignments', answerListPartitionReassignments()),
    bind('OffsetDelete', answerOffsetDelete(parts)),
    bind('DescribeCluster', answerDescribeCluster(parts)),
    bind('ConsumerGroupHeartbeat', answerOtherHeartbeat(parts)),
    bind('ConsumerGroupDescribe', answerOtherDescribe(parts, 'consumer')),
    bind('ListConfigResources', answerListConfigResources(parts)),
    bind('DescribeTopicPartitions', answerDescribeTopicPartitions(parts)),
    bind('ShareGroupHeartbeat', answerOtherHeartbeat(parts)),
    bind('ShareGroupDescribe', answerOtherDescribe(parts, 'share')),
    bind('StreamsGroupHeartbeat', heartbeats),
    bind('StreamsGroupDescribe', answerDescribe(parts)),
    bind('StreamsGroupTopologyDescriptionUpdate', answerTopologyDescription(parts)),
  ]);
  const abilities: Abilities = {
    versions: new Map([...handlers.keys(), apis.ApiVersions.key].map(rangeOf)),
    features: [
      {
        name: 'streams.version',
        supported: { min: 0, max: 1 },
        level: parts.streamsEnabled ? 1 : 0,
      },
    ],
    featuresEpoch: 0n,
    clusterId: parts.identity.clusterId,
  };
  handlers.set(
    apis.ApiVersions.key,
    apiVersionsHandler(() => abilities),
  );
  return { handlers, abilities };
}

/** All versions that can be read and written are served. */
function rangeOf(key: number): readonly [number, VersionRange] {
  const api = apiByKey(key);
  invariant(api !== undefined, 'every handler here is bound to an API of the codec');
  return [key, { min: api.minVersion, max: api.maxVersion }];
}
