import type { CommitRequest } from '../../../machines/commands.ts';
import type { RequestOf, ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import { ZERO_UUID } from '../../wire/reader.ts';
import type { Answering } from '../answering.ts';
import type { HandlerParts } from '../handler-parts.ts';

type TopicAsked = RequestOf<'OffsetCommit'>['topics'][number];
type TopicAnswered = NonNullable<ResponseInput<'OffsetCommit'>['topics']>[number];
type TopicToCommit = CommitRequest['topics'][number];

/** Topics are named by id, and by nothing else, from this version on. */
const FIRST_BY_ID = 10;
const BY_THE_SETTINGS = -1n;

/**
 * Answers OffsetCommit: every partition asked about is answered, in the order and by the identifier of the request; a
 * topic that exists and of which none is asked about is left out.
 *
 * Source: topology-and-admin 13.2, 18; wire.md key 8.
 */
export function answerOffsetCommit(
  parts: Pick<HandlerParts, 'coordinator' | 'catalogue' | 'authorizer'>,
): Answering<'OffsetCommit'> {
  const { coordinator, catalogue, authorizer } = parts;

  return async (request, { apiVersion, connection: { principal } }) => {
    const { groupId } = request;
    if (!authorizer.allows(principal, 'READ', 'GROUP', groupId)) {
      return { topics: request.topics.map((one) => refuse(one, 'GROUP_AUTHORIZATION_FAILED')) };
    }
    const judged = request.topics
      .map((asked) => ({ asked, found: find(asked) }))
      .filter(({ asked, found }) => asked.partitions.length > 0 || isUnknown(found));
    const topics = judged.flatMap(({ found }) => (typeof found === 'string' ? [] : [found]));
    if (topics.length === 0) {
      return { topics: judged.map(({ asked, found }) => refuse(asked, asError(found))) };
    }
    const answer = await coordinator.commit({
      groupId,
      memberId: request.memberId,
      memberEpoch: request.generationIdOrMemberEpoch,
      instanceId: request.groupInstanceId,
      transactional: false,
      apiVersion,
      retentionMs: retentionOf(request),
      topics,
    });
    // The answer has the topics that were handed over, in their order.
    let next = 0;
    const answered = judged.map(({ asked, found }): TopicAnswered => {
      if (typeof found === 'string') return refuse(asked, found);
      const partitions = answer.topics[next]?.partitions ?? [];
      next += 1;
      return {
        name: asked.name,
        topicId: asked.topicId,
        partitions: partitions.map(({ partition, error }) => ({
          partitionIndex: partition,
          errorCode: errorCode(error),
        })),
      };
    });
    return { topics: answered };

    function find(asked: TopicAsked): TopicToCommit | WireErrorName {
      const known =
        apiVersion >= FIRST_BY_ID ? catalogue.byId(asked.topicId) : catalogue.byName(asked.name);
      if (known === undefined && apiVersion >= FIRST_BY_ID) return 'UNKNOWN_TOPIC_ID';
      const name = known?.name ?? asked.name;
      if (!authorizer.allows(principal, 'READ', 'TOPIC', name)) return 'TOPIC_AUTHORIZATION_FAILED';
      return {
        name,
        topicId: known?.topicId ?? ZERO_UUID,
        partitions: asked.partitions.map((one) => ({
          partition: one.partitionIndex,
          offset: one.committedOffset,
          leaderEpoch: one.committedLeaderEpoch,
          metadata: one.committedMetadata ?? '',
        })),
      };
    }
  };
}

/** Undefined = as the settings say. What no clock reaches is as good as for ever; less than nothing is nothing. */
function retentionOf({ retentionTimeMs }: RequestOf<'OffsetCommit'>): number | undefined {
  if (retentionTimeMs === BY_THE_SETTINGS) return undefined;
  return Math.max(0, Math.min(Number(retentionTimeMs), Number.MAX_SAFE_INTEGER));
}

function isUnknown(found: TopicToCommit | WireErrorName): boolean {
  return typeof found === 'string' || found.topicId === ZERO_UUID;
}

function asError(found: TopicToCommit | WireErrorName): WireErrorName {
  return typeof found === 'string' ? found : 'NONE';
}

function refuse(asked: TopicAsked, error: WireErrorName): TopicAnswered {
  return {
    name: asked.name,
    topicId: asked.topicId,
    partitions: asked.partitions.map(({ partitionIndex }) => ({
      partitionIndex,
      errorCode: errorCode(error),
    })),
  };
}
