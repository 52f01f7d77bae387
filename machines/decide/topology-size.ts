import { Refusal } from '../model/refusal.ts';
import type { TopicInfo, Topology } from '../model/topology.ts';

/** The largest record that a log of Kafka takes with its default settings, so that the log stays readable there. */
export const RECORD_BYTES_MAX = 1_048_588;

/** Far more than an application has; what is decided over subtopologies costs more than their number. */
export const SUBTOPOLOGIES_MAX = 2_000;

/** Lengths and tags of a string, a list or a struct. */
const OVERHEAD_BYTES = 3;
const NUMBERS_OF_A_TOPIC_BYTES = 6;
const BYTES_OF_AN_INDEX = 2;

/**
 * Refuses a topology that has too many subtopologies, or whose record would be too large, which no repetition mends
 * (records-and-configs 5.2). Belongs before everything that looks at what the topology says.
 *
 * @throws Refusal STREAMS_INVALID_TOPOLOGY, naming the size seen and the size allowed.
 */
export function refuseTooLarge(topology: Topology): void {
  const { length } = topology.subtopologies;
  if (length > SUBTOPOLOGIES_MAX) {
    throw new Refusal(
      'STREAMS_INVALID_TOPOLOGY',
      `Cannot use topology: it has ${length} subtopologies, at most ${SUBTOPOLOGIES_MAX} are taken`,
    );
  }
  const bytes = topologyBytes(topology);
  if (bytes <= RECORD_BYTES_MAX) return;
  throw new Refusal(
    'STREAMS_INVALID_TOPOLOGY',
    `Cannot use topology: its record has about ${bytes} bytes, at most ${RECORD_BYTES_MAX} are taken`,
  );
}

/** About the bytes of a topology's record; letters beyond ASCII count as one. */
function topologyBytes(topology: Topology): number {
  let bytes = 0;
  for (const one of topology.subtopologies) {
    const names = [...one.sourceTopics, ...one.sourceTopicRegex, ...one.repartitionSinkTopics];
    for (const name of names) bytes += textBytes(name);
    const infos = [...one.stateChangelogTopics, ...one.repartitionSourceTopics];
    for (const info of infos) bytes += infoBytes(info);
    for (const group of one.copartitionGroups) {
      const { sourceTopics, sourceTopicRegex, repartitionSourceTopics } = group;
      const indexes =
        sourceTopics.length + sourceTopicRegex.length + repartitionSourceTopics.length;
      bytes += 4 * OVERHEAD_BYTES + BYTES_OF_AN_INDEX * indexes;
    }
    bytes += textBytes(one.subtopologyId) + 6 * OVERHEAD_BYTES;
  }
  return bytes;
}

function infoBytes({ name, topicConfigs }: TopicInfo): number {
  return topicConfigs.reduce(
    (sum, { key, value }) => sum + textBytes(key) + textBytes(value) + OVERHEAD_BYTES,
    textBytes(name) + NUMBERS_OF_A_TOPIC_BYTES + 2 * OVERHEAD_BYTES,
  );
}

function textBytes(text: string): number {
  return text.length + OVERHEAD_BYTES;
}
