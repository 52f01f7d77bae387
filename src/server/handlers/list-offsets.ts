import type { GroupCoordinator } from '../../../actors/group-coordinator.ts';
import type { PartitionsAsked } from '../../../machines/commands.ts';
import type { RequestOf, ResponseInput } from '../../wire/apis.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import type { HandlerParts } from '../handler-parts.ts';

type TopicAsked = RequestOf<'ListOffsets'>['topics'][number];
type PartitionAsked = TopicAsked['partitions'][number];
type PartitionAnswered = NonNullable<
  NonNullable<ResponseInput<'ListOffsets'>['topics']>[number]['partitions']
>[number];

const LATEST = -1n;
const EARLIEST = -2n;
const EARLIEST_LOCAL = -4n;
/** Nobody but leaders of this node ever led. */
const LEADER_EPOCH = 0;
const FIRST_WITH_LEADER_EPOCH = 4;

/**
 * Answers ListOffsets of a catalogue that holds no records: a partition begins at 0 and ends where the furthest group
 * has committed, so that lags are shown as 0 or more. Nothing is found by time.
 *
 * Source: wire.md key 2.
 */
export function answerListOffsets(
  parts: Pick<HandlerParts, 'coordinator' | 'catalogue' | 'authorizer'>,
): Answering<'ListOffsets'> {
  const { coordinator, catalogue, authorizer } = parts;

  return async ({ topics }, { apiVersion, connection: { principal } }) => {
    const latest = topics
      .map(({ name, partitions }) => ({
        name,
        partitions: partitions
          .filter(({ timestamp }) => timestamp === LATEST)
          .map(({ partitionIndex }) => partitionIndex),
      }))
      .filter(({ name, partitions }) => partitions.length > 0 && catalogue.byName(name));
    const ends = latest.length > 0 ? await furthestCommits(coordinator, latest) : NO_ENDS;
    return {
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map((asked) => answered(name, asked)),
      })),
    };

    function answered(name: string, { partitionIndex, timestamp }: PartitionAsked) {
      if (!authorizer.allows(principal, 'DESCRIBE', 'TOPIC', name)) {
        return { partitionIndex, errorCode: errorCode('TOPIC_AUTHORIZATION_FAILED') };
      }
      const count = catalogue.byName(name)?.partitionCount ?? 0;
      if (partitionIndex < 0 || partitionIndex >= count) {
        return { partitionIndex, errorCode: errorCode('UNKNOWN_TOPIC_OR_PARTITION') };
      }
      if (timestamp === LATEST) {
        return found(partitionIndex, ends.get(endKey(name, partitionIndex)) ?? 0n, apiVersion);
      }
      const isStart = timestamp === EARLIEST || timestamp === EARLIEST_LOCAL;
      return isStart ? found(partitionIndex, 0n, apiVersion) : { partitionIndex };
    }
  };
}

function found(partitionIndex: number, offset: bigint, apiVersion: number): PartitionAnswered {
  if (apiVersion < FIRST_WITH_LEADER_EPOCH) return { partitionIndex, offset };
  return { partitionIndex, offset, leaderEpoch: LEADER_EPOCH };
}

type Ends = ReadonlyMap<string, bigint>;
const NO_ENDS: Ends = new Map();

function endKey(topic: string, partition: number): string {
  return `${partition} ${topic}`;
}

async function furthestCommits(
  coordinator: GroupCoordinator,
  topics: readonly PartitionsAsked[],
): Promise<Ends> {
  const furthest = await coordinator.furthestOffsets(topics);
  return new Map(
    topics.flatMap(({ name, partitions }, topicAt) =>
      partitions.map((partition, at): [string, bigint] => {
        const offset = furthest[topicAt]?.[at] ?? 0n;
        return [endKey(name, partition), offset > 0n ? offset : 0n];
      }),
    ),
  );
}
