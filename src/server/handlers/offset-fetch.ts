import type { OffsetFetchAnswer } from '../../../machines/commands.ts';
import type { RequestOf, ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import { ZERO_UUID } from '../../wire/reader.ts';
import type { Answering } from '../answering.ts';
import type { HandlerParts } from '../handler-parts.ts';

type Parts = Pick<HandlerParts, 'coordinator' | 'catalogue' | 'authorizer'>;
type GroupAsked = RequestOf<'OffsetFetch'>['groups'][number];
type TopicAsked = NonNullable<GroupAsked['topics']>[number];
type GroupAnswered = NonNullable<ResponseInput<'OffsetFetch'>['groups']>[number];
type TopicAnswered = NonNullable<GroupAnswered['topics']>[number];
type PartitionAnswered = NonNullable<TopicAnswered['partitions']>[number];

const FIRST_WITH_GROUPS = 8;
const FIRST_WITH_TOP_LEVEL_ERROR = 2;
const FIRST_BY_ID = 10;

/**
 * Answers OffsetFetch: of one group up to version 7, of several from 8 on. A partition without an offset, and every
 * partition of a group that does not exist, has offset -1 and no error.
 *
 * Source: topology-and-admin 13.4, 18; wire.md key 9.
 */
export function answerOffsetFetch(parts: Parts): Answering<'OffsetFetch'> {
  return async (request, { apiVersion, connection: { principal } }) => {
    const options = { apiVersion, principal, stable: request.requireStable };
    if (apiVersion >= FIRST_WITH_GROUPS) {
      const groups = request.groups.map((group) => fetchGroup(parts, group, options));
      return { groups: await Promise.all(groups) };
    }
    const topics = request.topics?.map((topic) => ({ ...topic, topicId: ZERO_UUID })) ?? null;
    const asked = { groupId: request.groupId, memberId: null, memberEpoch: -1, topics };
    return flat(asked, await fetchGroup(parts, asked, options), apiVersion);
  };
}

/** The layout without groups; in version 1 an error of the group stands at each partition. */
function flat(
  asked: GroupAsked,
  answered: GroupAnswered,
  apiVersion: number,
): ResponseInput<'OffsetFetch'> {
  const { errorCode: code = 0, topics = [] } = answered;
  if (apiVersion >= FIRST_WITH_TOP_LEVEL_ERROR) return { errorCode: code, topics };
  if (code === 0) return { topics };
  const failed = asked.topics?.map(({ name, partitionIndexes }) => ({
    name,
    partitions: partitionIndexes.map((index) => nothing(index, code)),
  }));
  return { topics: failed ?? [] };
}

type FetchOptions = {
  readonly apiVersion: number;
  readonly principal: string;
  readonly stable: boolean;
};

async function fetchGroup(
  parts: Parts,
  asked: GroupAsked,
  options: FetchOptions,
): Promise<GroupAnswered> {
  const { coordinator, catalogue, authorizer } = parts;
  const { apiVersion, principal, stable } = options;
  const { groupId, memberId, memberEpoch } = asked;
  if (!authorizer.allows(principal, 'DESCRIBE', 'GROUP', groupId)) {
    return { groupId, errorCode: errorCode('GROUP_AUTHORIZATION_FAILED') };
  }
  const isById = apiVersion >= FIRST_BY_ID;
  const judged = asked.topics?.map((topic) => ({ topic, found: find(topic) })) ?? null;
  const topics =
    judged?.flatMap(({ topic, found }) =>
      found.error === 'NONE' ? [{ name: found.name, partitions: topic.partitionIndexes }] : [],
    ) ?? null;
  const answer = await coordinator.fetchOffsets(
    { groupId, memberId, memberEpoch, topics },
    { stable },
  );
  if (answer.error !== 'NONE') return { groupId, errorCode: errorCode(answer.error) };
  if (judged === null) return { groupId, topics: answer.topics.flatMap(everything) };
  const byName = new Map(answer.topics.map((topic) => [topic.name, topic]));
  return {
    groupId,
    topics: judged.map(({ topic, found }) => {
      const fetched = byName.get(found.name);
      const partitions =
        found.error === 'NONE' && fetched !== undefined
          ? inOrder(topic, fetched)
          : topic.partitionIndexes.map((index) => nothing(index, errorCode(found.error)));
      return { name: topic.name, topicId: topic.topicId, partitions };
    }),
  };

  function find(topic: TopicAsked): { readonly name: string; readonly error: WireErrorName } {
    const name = isById ? catalogue.byId(topic.topicId)?.name : topic.name;
    if (name === undefined) return { name: '', error: 'UNKNOWN_TOPIC_ID' };
    const isAllowed = authorizer.allows(principal, 'DESCRIBE', 'TOPIC', name);
    return { name, error: isAllowed ? 'NONE' : 'TOPIC_AUTHORIZATION_FAILED' };
  }

  /** Where everything is asked for, what may not be seen, or has no id to be named by, is left out. */
  function everything(fetched: FetchedTopic): readonly TopicAnswered[] {
    const { name } = fetched;
    const topicId = catalogue.byName(name)?.topicId ?? ZERO_UUID;
    if (!authorizer.allows(principal, 'DESCRIBE', 'TOPIC', name)) return [];
    if (isById && topicId === ZERO_UUID) return [];
    return [{ name, topicId, partitions: fetched.partitions.map(something) }];
  }
}

type FetchedTopic = OffsetFetchAnswer['topics'][number];

/** A topic that is asked for twice has its partitions answered where they were asked for. */
function inOrder(asked: TopicAsked, fetched: FetchedTopic): PartitionAnswered[] {
  const byIndex = new Map(fetched.partitions.map((one) => [one.partition, one]));
  return asked.partitionIndexes.map((index) => {
    const found = byIndex.get(index);
    return found === undefined ? nothing(index, 0) : something(found);
  });
}

function something(one: FetchedTopic['partitions'][number]): PartitionAnswered {
  return {
    partitionIndex: one.partition,
    committedOffset: one.offset,
    committedLeaderEpoch: one.leaderEpoch,
    metadata: one.metadata,
    errorCode: errorCode(one.error),
  };
}

function nothing(partitionIndex: number, code: number): PartitionAnswered {
  return {
    partitionIndex,
    committedOffset: -1n,
    committedLeaderEpoch: -1,
    metadata: '',
    errorCode: code,
  };
}
