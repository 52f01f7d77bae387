import { array, i8, i16, i32, message, str, struct } from '../schema.ts';

const topologyDescriptionNode = struct({
  name: str,
  nodeType: i8,
  sourceTopics: array(str),
  sinkTopic: str.nullable(),
  stores: array(str),
  successors: array(str),
});

const topologyDescriptionGlobalStore = struct({
  source: topologyDescriptionNode,
  processor: topologyDescriptionNode,
});

const topologyDescriptionSubtopology = struct({
  subtopologyId: str,
  nodes: array(topologyDescriptionNode),
});

/** Also in StreamsGroupDescribe. */
export const topologyDescription = struct({
  subtopologies: array(topologyDescriptionSubtopology),
  globalStores: array(topologyDescriptionGlobalStore),
});

/** Source: wire.md section 3, key 93. */
export const streamsGroupTopologyDescriptionUpdateRequest = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    groupId: str,
    memberId: str,
    topologyEpoch: i32,
    topologyDescription: topologyDescription,
  },
);

/** Source: wire.md section 3, key 93. */
export const streamsGroupTopologyDescriptionUpdateResponse = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    errorMessage: str.nullable(),
  },
);
