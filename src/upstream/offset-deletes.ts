import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { OffsetDeleteAnswer } from '../../machines/commands.ts';
import type { UpstreamTopics } from '../cluster/upstream-topics.ts';
import { decodeBody, reply } from '../server/answering.ts';
import type { Handler, IncomingRequest } from '../server/dispatch.ts';
import type { RequestOf, ResponseInput, ResponseOf } from '../wire/apis.ts';
import { errorCode } from '../wire/errors.ts';
import { clientsError } from './commit-errors.ts';
import { partitionKey } from './offset-commits.ts';
import type { PassOn } from './pass-on.ts';
import type { Placeholders } from './placeholders.ts';

export type OffsetDeleteParts = {
  readonly coordinator: () => GroupCoordinator;
  readonly passOn: PassOn;
  readonly placeholders: Placeholders;
  /** What exists, for the judging of deletions. */
  readonly topics: Pick<UpstreamTopics, 'learns'>;
};

type Body = RequestOf<'OffsetDelete'>;

const LOADING = errorCode('COORDINATOR_LOAD_IN_PROGRESS');

/**
 * The handler of OffsetDelete. Of a streams group, what is not read by its topology is deleted upstream; the
 * placeholder steps aside meanwhile, because upstream deletes nothing under a member of its kind.
 *
 * Source: wire.md key 47, 4.10; topology-and-admin 13.
 */
export function offsetDeleteHandler(parts: OffsetDeleteParts): Handler {
  const { passOn, coordinator } = parts;
  return (request) =>
    passOn.inOrder(request, async (passedOn) => {
      const body = decodeBody('OffsetDelete', request);
      const { error, state } = await coordinator().streamsGroup(body.groupId);
      if (error === 'NONE' && state === undefined) {
        const forwarded = passOn.forwarded(request);
        passedOn();
        return forwarded;
      }
      const answer =
        error === 'NONE'
          ? await deleteOfStreamsGroup(parts, request, body)
          : { errorCode: errorCode(error) };
      return reply('OffsetDelete', request, answer);
    });
}

async function deleteOfStreamsGroup(
  { coordinator, passOn, placeholders, topics: known }: OffsetDeleteParts,
  { apiVersion, connection }: IncomingRequest,
  { groupId, topics }: Body,
): Promise<ResponseInput<'OffsetDelete'>> {
  // What is to be deleted is mostly of topics that no topology reads: nobody looked at those.
  if (!(await known.learns(topics.map(({ name }) => name)))) return { errorCode: LOADING };
  const verdict = await coordinator().judgeOffsetDelete({
    groupId,
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex }) => partitionIndex),
    })),
  });
  if (verdict.error !== 'NONE') return { errorCode: errorCode(verdict.error) };
  const accepted = acceptedOf(verdict);
  if (accepted.length === 0) return answerOf(verdict, new Map());
  const answer = await placeholders.whileAway(groupId, () =>
    passOn.link(connection).request('OffsetDelete', { groupId, topics: accepted }, apiVersion),
  );
  if (answer.errorCode !== 0) return { errorCode: clientsError(answer.errorCode, false) };
  return answerOf(verdict, codesOf(answer));
}

function acceptedOf({ topics }: OffsetDeleteAnswer): Body['topics'] {
  return topics
    .map(({ name, partitions }) => ({
      name,
      partitions: partitions
        .filter(({ error }) => error === 'NONE')
        .map(({ partition }) => ({ partitionIndex: partition })),
    }))
    .filter(({ partitions }) => partitions.length > 0);
}

function codesOf({ topics }: ResponseOf<'OffsetDelete'>): ReadonlyMap<string, number> {
  return new Map(
    topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionIndex, errorCode: code }) => [
        partitionKey(name, partitionIndex),
        clientsError(code, false),
      ]),
    ),
  );
}

function answerOf(
  { topics }: OffsetDeleteAnswer,
  upstream: ReadonlyMap<string, number>,
): ResponseInput<'OffsetDelete'> {
  return {
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partition, error }) => ({
        partitionIndex: partition,
        errorCode:
          error === 'NONE'
            ? (upstream.get(partitionKey(name, partition)) ?? LOADING)
            : errorCode(error),
      })),
    })),
  };
}
