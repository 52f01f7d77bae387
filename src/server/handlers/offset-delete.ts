import type { RequestOf, ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import type { HandlerParts } from '../handler-parts.ts';

type TopicAsked = RequestOf<'OffsetDelete'>['topics'][number];
type TopicAnswered = NonNullable<ResponseInput<'OffsetDelete'>['topics']>[number];

/**
 * Answers OffsetDelete. A partition that does not exist is 3 whatever the group holds; an error of the group comes
 * without topics, and a topic that exists and of which no partition is named is left out.
 *
 * Source: topology-and-admin 13, 18; wire.md key 47.
 */
export function answerOffsetDelete(
  parts: Pick<HandlerParts, 'coordinator' | 'catalogue' | 'authorizer'>,
): Answering<'OffsetDelete'> {
  const { coordinator, catalogue, authorizer } = parts;

  return async ({ groupId, topics }, { connection: { principal } }) => {
    if (groupId === '') return { errorCode: errorCode('INVALID_GROUP_ID') };
    if (!authorizer.allows(principal, 'DELETE', 'GROUP', groupId)) {
      return { errorCode: errorCode('GROUP_AUTHORIZATION_FAILED') };
    }
    const wanted = topics
      .map(({ name, partitions }) => ({
        name,
        partitions: partitions
          .map(({ partitionIndex }) => partitionIndex)
          .filter((index) => fault(name, index) === undefined),
      }))
      .filter(({ partitions }) => partitions.length > 0);
    // Asked even when nothing is left to delete: whether the group is there counts first.
    const answer = await coordinator.deleteOffsets({ groupId, topics: wanted });
    if (answer.error !== 'NONE') return { errorCode: errorCode(answer.error) };
    const results = new Map(
      answer.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partition, error }) => [`${partition} ${name}`, error] as const),
      ),
    );
    const isAnswered = ({ name, partitions }: TopicAsked): boolean =>
      partitions.length > 0 || catalogue.byName(name) === undefined;
    return { topics: topics.filter(isAnswered).map(answered) };

    function fault(name: string, index: number): WireErrorName | undefined {
      if (!authorizer.allows(principal, 'READ', 'TOPIC', name)) return 'TOPIC_AUTHORIZATION_FAILED';
      const count = catalogue.byName(name)?.partitionCount ?? 0;
      return index >= 0 && index < count ? undefined : 'UNKNOWN_TOPIC_OR_PARTITION';
    }

    function answered({ name, partitions }: TopicAsked): TopicAnswered {
      return {
        name,
        partitions: partitions.map(({ partitionIndex }) => {
          const error = fault(name, partitionIndex) ?? results.get(`${partitionIndex} ${name}`);
          return { partitionIndex, errorCode: errorCode(error ?? 'NONE') };
        }),
      };
    }
  };
}
