import { Codecs } from './codecs.ts';
import { addOffsetsToTxnRequest, addOffsetsToTxnResponse } from './messages/add-offsets-to-txn.ts';
import {
  addPartitionsToTxnRequest,
  addPartitionsToTxnResponse,
} from './messages/add-partitions-to-txn.ts';
import { alterConfigsRequest, alterConfigsResponse } from './messages/alter-configs.ts';
import { apiVersionsRequest, apiVersionsResponse } from './messages/api-versions.ts';
import {
  consumerGroupDescribeRequest,
  consumerGroupDescribeResponse,
} from './messages/consumer-group-describe.ts';
import {
  consumerGroupHeartbeatRequest,
  consumerGroupHeartbeatResponse,
} from './messages/consumer-group-heartbeat.ts';
import { createPartitionsRequest, createPartitionsResponse } from './messages/create-partitions.ts';
import { createTopicsRequest, createTopicsResponse } from './messages/create-topics.ts';
import { deleteGroupsRequest, deleteGroupsResponse } from './messages/delete-groups.ts';
import { deleteRecordsRequest, deleteRecordsResponse } from './messages/delete-records.ts';
import { deleteTopicsRequest, deleteTopicsResponse } from './messages/delete-topics.ts';
import { describeClusterRequest, describeClusterResponse } from './messages/describe-cluster.ts';
import { describeConfigsRequest, describeConfigsResponse } from './messages/describe-configs.ts';
import { describeGroupsRequest, describeGroupsResponse } from './messages/describe-groups.ts';
import {
  describeTopicPartitionsRequest,
  describeTopicPartitionsResponse,
} from './messages/describe-topic-partitions.ts';
import { endTxnRequest, endTxnResponse } from './messages/end-txn.ts';
import { fetchRequest, fetchResponse } from './messages/fetch.ts';
import { findCoordinatorRequest, findCoordinatorResponse } from './messages/find-coordinator.ts';
import {
  getTelemetrySubscriptionsRequest,
  getTelemetrySubscriptionsResponse,
} from './messages/get-telemetry-subscriptions.ts';
import { heartbeatRequest, heartbeatResponse } from './messages/heartbeat.ts';
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from './messages/incremental-alter-configs.ts';
import { initProducerIdRequest, initProducerIdResponse } from './messages/init-producer-id.ts';
import { joinGroupRequest, joinGroupResponse } from './messages/join-group.ts';
import { leaveGroupRequest, leaveGroupResponse } from './messages/leave-group.ts';
import {
  listConfigResourcesRequest,
  listConfigResourcesResponse,
} from './messages/list-config-resources.ts';
import { listGroupsRequest, listGroupsResponse } from './messages/list-groups.ts';
import { listOffsetsRequest, listOffsetsResponse } from './messages/list-offsets.ts';
import {
  listPartitionReassignmentsRequest,
  listPartitionReassignmentsResponse,
} from './messages/list-partition-reassignments.ts';
import { metadataRequest, metadataResponse } from './messages/metadata.ts';
import { offsetCommitRequest, offsetCommitResponse } from './messages/offset-commit.ts';
import { offsetDeleteRequest, offsetDeleteResponse } from './messages/offset-delete.ts';
import { offsetFetchRequest, offsetFetchResponse } from './messages/offset-fetch.ts';
import {
  offsetForLeaderEpochRequest,
  offsetForLeaderEpochResponse,
} from './messages/offset-for-leader-epoch.ts';
import { produceRequest, produceResponse } from './messages/produce.ts';
import { saslAuthenticateRequest, saslAuthenticateResponse } from './messages/sasl-authenticate.ts';
import { saslHandshakeRequest, saslHandshakeResponse } from './messages/sasl-handshake.ts';
import { shareAcknowledgeResponse } from './messages/share-acknowledge.ts';
import { shareFetchResponse } from './messages/share-fetch.ts';
import {
  shareGroupDescribeRequest,
  shareGroupDescribeResponse,
} from './messages/share-group-describe.ts';
import {
  shareGroupHeartbeatRequest,
  shareGroupHeartbeatResponse,
} from './messages/share-group-heartbeat.ts';
import {
  streamsGroupDescribeRequest,
  streamsGroupDescribeResponse,
} from './messages/streams-group-describe.ts';
import {
  streamsGroupHeartbeatRequest,
  streamsGroupHeartbeatResponse,
} from './messages/streams-group-heartbeat.ts';
import {
  streamsGroupTopologyDescriptionUpdateRequest,
  streamsGroupTopologyDescriptionUpdateResponse,
} from './messages/streams-group-topology-description-update.ts';
import { syncGroupRequest, syncGroupResponse } from './messages/sync-group.ts';
import { txnOffsetCommitRequest, txnOffsetCommitResponse } from './messages/txn-offset-commit.ts';
import { updateFeaturesRequest, updateFeaturesResponse } from './messages/update-features.ts';
import type { Reader } from './reader.ts';
import type { AnyMessage, InputOf, Message } from './schema.ts';
import type { Writer } from './writer.ts';

const tables = {
  Produce: { key: 0, request: produceRequest, response: produceResponse },
  Fetch: { key: 1, request: fetchRequest, response: fetchResponse },
  ListOffsets: { key: 2, request: listOffsetsRequest, response: listOffsetsResponse },
  Metadata: { key: 3, request: metadataRequest, response: metadataResponse },
  OffsetCommit: { key: 8, request: offsetCommitRequest, response: offsetCommitResponse },
  OffsetFetch: { key: 9, request: offsetFetchRequest, response: offsetFetchResponse },
  FindCoordinator: { key: 10, request: findCoordinatorRequest, response: findCoordinatorResponse },
  JoinGroup: { key: 11, request: joinGroupRequest, response: joinGroupResponse },
  Heartbeat: { key: 12, request: heartbeatRequest, response: heartbeatResponse },
  LeaveGroup: { key: 13, request: leaveGroupRequest, response: leaveGroupResponse },
  SyncGroup: { key: 14, request: syncGroupRequest, response: syncGroupResponse },
  DescribeGroups: { key: 15, request: describeGroupsRequest, response: describeGroupsResponse },
  ListGroups: { key: 16, request: listGroupsRequest, response: listGroupsResponse },
  SaslHandshake: { key: 17, request: saslHandshakeRequest, response: saslHandshakeResponse },
  ApiVersions: { key: 18, request: apiVersionsRequest, response: apiVersionsResponse },
  CreateTopics: { key: 19, request: createTopicsRequest, response: createTopicsResponse },
  DeleteTopics: { key: 20, request: deleteTopicsRequest, response: deleteTopicsResponse },
  DeleteRecords: { key: 21, request: deleteRecordsRequest, response: deleteRecordsResponse },
  InitProducerId: { key: 22, request: initProducerIdRequest, response: initProducerIdResponse },
  OffsetForLeaderEpoch: {
    key: 23,
    request: offsetForLeaderEpochRequest,
    response: offsetForLeaderEpochResponse,
  },
  AddPartitionsToTxn: {
    key: 24,
    request: addPartitionsToTxnRequest,
    response: addPartitionsToTxnResponse,
  },
  AddOffsetsToTxn: { key: 25, request: addOffsetsToTxnRequest, response: addOffsetsToTxnResponse },
  EndTxn: { key: 26, request: endTxnRequest, response: endTxnResponse },
  TxnOffsetCommit: { key: 28, request: txnOffsetCommitRequest, response: txnOffsetCommitResponse },
  DescribeConfigs: { key: 32, request: describeConfigsRequest, response: describeConfigsResponse },
  AlterConfigs: { key: 33, request: alterConfigsRequest, response: alterConfigsResponse },
  SaslAuthenticate: {
    key: 36,
    request: saslAuthenticateRequest,
    response: saslAuthenticateResponse,
  },
  CreatePartitions: {
    key: 37,
    request: createPartitionsRequest,
    response: createPartitionsResponse,
  },
  DeleteGroups: { key: 42, request: deleteGroupsRequest, response: deleteGroupsResponse },
  IncrementalAlterConfigs: {
    key: 44,
    request: incrementalAlterConfigsRequest,
    response: incrementalAlterConfigsResponse,
  },
  ListPartitionReassignments: {
    key: 46,
    request: listPartitionReassignmentsRequest,
    response: listPartitionReassignmentsResponse,
  },
  OffsetDelete: { key: 47, request: offsetDeleteRequest, response: offsetDeleteResponse },
  UpdateFeatures: { key: 57, request: updateFeaturesRequest, response: updateFeaturesResponse },
  DescribeCluster: { key: 60, request: describeClusterRequest, response: describeClusterResponse },
  ConsumerGroupHeartbeat: {
    key: 68,
    request: consumerGroupHeartbeatRequest,
    response: consumerGroupHeartbeatResponse,
  },
  ConsumerGroupDescribe: {
    key: 69,
    request: consumerGroupDescribeRequest,
    response: consumerGroupDescribeResponse,
  },
  GetTelemetrySubscriptions: {
    key: 71,
    request: getTelemetrySubscriptionsRequest,
    response: getTelemetrySubscriptionsResponse,
  },
  ListConfigResources: {
    key: 74,
    request: listConfigResourcesRequest,
    response: listConfigResourcesResponse,
  },
  DescribeTopicPartitions: {
    key: 75,
    request: describeTopicPartitionsRequest,
    response: describeTopicPartitionsResponse,
  },
  ShareGroupHeartbeat: {
    key: 76,
    request: shareGroupHeartbeatRequest,
    response: shareGroupHeartbeatResponse,
  },
  ShareGroupDescribe: {
    key: 77,
    request: shareGroupDescribeRequest,
    response: shareGroupDescribeResponse,
  },
  ShareFetch: { key: 78, request: undefined, response: shareFetchResponse },
  ShareAcknowledge: { key: 79, request: undefined, response: shareAcknowledgeResponse },
  StreamsGroupHeartbeat: {
    key: 88,
    request: streamsGroupHeartbeatRequest,
    response: streamsGroupHeartbeatResponse,
  },
  StreamsGroupDescribe: {
    key: 89,
    request: streamsGroupDescribeRequest,
    response: streamsGroupDescribeResponse,
  },
  StreamsGroupTopologyDescriptionUpdate: {
    key: 93,
    request: streamsGroupTopologyDescriptionUpdateRequest,
    response: streamsGroupTopologyDescriptionUpdateResponse,
  },
} as const;

type Tables = typeof tables;
/** An API whose messages can be read and written here; of ShareFetch and ShareAcknowledge only the responses. */
export type ApiName = keyof Tables;
type Decoded<M> = M extends Message<infer T> ? T : never;

/** What a request of that API decodes to: every field, those its version lacks at their default. */
export type RequestOf<N extends ApiName> = Decoded<Tables[N]['request']>;
export type ResponseOf<N extends ApiName> = Decoded<Tables[N]['response']>;
/** What may be encoded: any field left out has its default. */
export type RequestInput<N extends ApiName> = InputOf<RequestOf<N>>;
export type ResponseInput<N extends ApiName> = InputOf<ResponseOf<N>>;

/** One API of the protocol. The versions are those of its messages as Kafka 4.4 knows them. */
export type Api = {
  readonly name: ApiName;
  readonly key: number;
  readonly minVersion: number;
  readonly maxVersion: number;
  /** First version with header v2 and tagged fields; undefined = none. */
  readonly flexibleSince: number | undefined;
  readonly request: AnyMessage | undefined;
  readonly response: AnyMessage;
};

/** All APIs with messages of their own, by name. Source: wire.md section 3. */
export const apis: { readonly [N in ApiName]: Api } = describeAll();

function describeAll(): { readonly [N in ApiName]: Api } {
  const entries = Object.entries(tables).map(([name, { key, request, response }]) => {
    const { minVersion, maxVersion, flexibleSince } = response;
    return [name, { name, key, minVersion, maxVersion, flexibleSince, request, response }];
  });
  return Object.fromEntries(entries);
}

const byKey = new Map<number, Api>(Object.values(apis).map((api) => [api.key, api]));

/** The API of that key; undefined when its messages are not known here, though it may be passed on. */
export function apiByKey(key: number): Api | undefined {
  return byKey.get(key);
}

/**
 * First flexible version of APIs that are only passed on. All other keys from 50 on are flexible from 0.
 *
 * Source: wire.md 1.2.
 */
const PASSED_ON_FLEXIBLE_SINCE = new Map<number, number>([
  [29, 2],
  [30, 2],
  [31, 2],
  [34, 2],
  [35, 2],
  [38, 2],
  [39, 2],
  [40, 2],
  [41, 2],
  [43, 2],
  [45, 0],
  [48, 1],
  [49, 1],
]);
const FLEXIBLE_FROM_THE_START = 50;

/** Says whether a version of an API uses tagged fields, in headers too; for any key that clients use. */
export function isFlexibleApi(apiKey: number, version: number): boolean {
  const api = byKey.get(apiKey);
  if (api !== undefined) return api.flexibleSince !== undefined && version >= api.flexibleSince;
  const since =
    PASSED_ON_FLEXIBLE_SINCE.get(apiKey) ?? (apiKey >= FLEXIBLE_FROM_THE_START ? 0 : Infinity);
  return version >= since;
}

const requests = codecsOf('request');
const responses = codecsOf('response');

function codecsOf(direction: 'request' | 'response'): { readonly [N in ApiName]: Codecs } {
  const entries = Object.values(apis).map((api) => {
    return [api.name, new Codecs(`The ${direction} ${api.name}`, api[direction])];
  });
  return Object.fromEntries(entries);
}

/**
 * Reads a request body, leaving the reader behind it; what is left in the frame is the caller's to ignore (1.6).
 *
 * @throws WireError for a version that is not known and for bytes that are not such a request.
 */
export function decodeRequest<N extends ApiName>(
  name: N,
  version: number,
  reader: Reader,
): RequestOf<N> {
  return requests[name].decoder(version)(reader) as RequestOf<N>;
}

/** As {@link decodeRequest}, for a response. */
export function decodeResponse<N extends ApiName>(
  name: N,
  version: number,
  reader: Reader,
): ResponseOf<N> {
  return responses[name].decoder(version)(reader) as ResponseOf<N>;
}

/**
 * Appends a request body.
 *
 * @throws WireError for a version that is not known, a value that its field cannot hold, and a field that this
 *   version lacks and that may not be dropped (1.5).
 */
export function encodeRequest<N extends ApiName>(
  name: N,
  version: number,
  body: RequestInput<N>,
  writer: Writer,
): void {
  requests[name].encoder(version)(writer, body as object);
}

/** As {@link encodeRequest}, for a response. */
export function encodeResponse<N extends ApiName>(
  name: N,
  version: number,
  body: ResponseInput<N>,
  writer: Writer,
): void {
  responses[name].encoder(version)(writer, body as object);
}
