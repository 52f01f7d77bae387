import type { CommitRequest, PartitionsAsked } from '../../machines/commands.ts';
import { decideCommit, decideOffsetDelete, fetchOffsets } from '../../machines/decide/offsets.ts';
import type { Decision } from '../../machines/decision.ts';
import { GROUP_ID, type LoneCoordinator } from './lone-coordinator.ts';
import { showRecords } from './trace-answer.ts';
import type { Words } from './trace-request.ts';

/** Commands about committed offsets. `in-0,in-1` names partitions; the name `admin` stands for no member at all. */

/**
 * `A commits in-0,in-1 epoch=3 offset=5 version=9`; `transaction=yes` commits in a transaction. The answer has one
 * error for each partition, and the records where there are any.
 */
export function commitOffsets(
  coordinator: LoneCoordinator,
  { plain, named }: Words,
): readonly string[] {
  const name = plain[0] ?? '';
  const offset = BigInt(named.get('offset') ?? '5');
  const transactional = named.get('transaction') === 'yes';
  const request: CommitRequest = {
    groupId: GROUP_ID,
    memberId: name === 'admin' ? '' : name,
    memberEpoch: Number(named.get('epoch')),
    instanceId: named.get('instance') ?? null,
    transactional,
    apiVersion: Number(named.get('version') ?? (transactional ? '6' : '9')),
    topics: readPartitions(plain[2]).map(({ name: topic, partitions }) => ({
      name: topic,
      topicId: '',
      partitions: partitions.map((partition) => ({
        partition,
        offset,
        leaderEpoch: -1,
        metadata: '',
      })),
    })),
  };
  const decision = decideCommit(coordinator.slotOrNone, request, coordinator.context());
  coordinator.carryOut(silently(decision));
  if (decision.reply.kind !== 'answer') return [];
  return [`${name} committed: ${showErrors(decision.reply.value.topics)}`];
}

/** `A fetches in-0 epoch=3`: the offsets, `-` where there is none. */
export function fetchCommitted(
  { slotOrNone }: LoneCoordinator,
  { plain, named }: Words,
): readonly string[] {
  const name = plain[0] ?? '';
  const fetched = fetchOffsets(slotOrNone, {
    groupId: GROUP_ID,
    memberId: name === 'admin' ? null : name,
    memberEpoch: Number(named.get('epoch') ?? '-1'),
    topics: readPartitions(plain[2]),
  });
  if (fetched.error !== 'NONE') return [`${name} fetched: ${fetched.error}`];
  const offsets = fetched.topics.flatMap(({ name: topic, partitions }) =>
    partitions.map(({ partition, offset }) => `${topic}-${partition}=${offset < 0 ? '-' : offset}`),
  );
  return [`${name} fetched: ${offsets.join(' ')}`];
}

/** `forget in-0,in-1`: OffsetDelete. */
export function deleteOffsets(coordinator: LoneCoordinator, { plain }: Words): readonly string[] {
  const request = { groupId: GROUP_ID, topics: readPartitions(plain[1]) };
  const decision = decideOffsetDelete(coordinator.slotOrNone, request, coordinator.context());
  coordinator.carryOut(silently(decision));
  if (decision.reply.kind !== 'answer') return [];
  const { error, topics } = decision.reply.value;
  return [
    `forgotten: ${error === 'NONE' ? showErrors(topics) : error}`,
    ...showRecords(decision.records),
  ];
}

/** The decision without its reply: a trace shows that itself. */
export function silently<R, S, T, E>(decision: Decision<R, S, T, E>): Decision<R, S, undefined, E> {
  return { ...decision, reply: { kind: 'answer', value: undefined } };
}

function readPartitions(text = ''): readonly PartitionsAsked[] {
  const topics = new Map<string, number[]>();
  for (const word of text.split(',')) {
    const at = word.lastIndexOf('-');
    const name = word.slice(0, at);
    topics.set(name, [...(topics.get(name) ?? []), Number(word.slice(at + 1))]);
  }
  return [...topics].map(([name, partitions]) => ({ name, partitions }));
}

function showErrors(
  topics: readonly {
    readonly name: string;
    readonly partitions: readonly { readonly partition: number; readonly error: string }[];
  }[],
): string {
  return topics
    .flatMap(({ name, partitions }) =>
      partitions.map(({ partition, error }) => `${name}-${partition}=${error}`),
    )
    .join(' ');
}
