import type {
  CommitAnswer,
  CommitRequest,
  OffsetDeleteAnswer,
  OffsetDeleteRequest,
  OffsetFetchAnswer,
  OffsetFetchRequest,
} from '../commands.ts';
import type { Context, GroupDecision, GroupSlot } from '../decision.ts';
import { emptySlot } from '../model/empty.ts';
import type { CommittedOffset, Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { Member } from '../model/member.ts';
import type { ErrorName } from '../model/refusal.ts';
import type { CoordinatorSettings } from '../model/settings.ts';
import { type TopicsView, UNKNOWN_TOPIC } from '../model/topics.ts';
import type { Topology } from '../model/topology.ts';
import type { OffsetCommitRecord } from '../records.ts';
import { endGroup } from './end-group.ts';
import { isUnresolved, topologyInForce } from './resolve-topology.ts';

/** From here on a commit is told of epochs, and a member may commit with its epoch. */
const MEMBER_EPOCH_COMMIT_VERSION = 9;
/** From here on a transactional commit is told of epochs instead of generations. */
const MEMBER_EPOCH_TRANSACTION_VERSION = 6;

/**
 * What a commit would be answered, one error per partition. Partitions that do not exist come first and stand apart
 * (3); then member and epoch are judged, one error for all the rest; then each partition's metadata (12).
 *
 * Source: topology-and-admin 13.2, 13.3; OFF-C1 to OFF-C6.
 */
export function judgeCommit(
  slot: GroupSlot | undefined,
  request: CommitRequest,
  topics: TopicsView,
  coordinator: Pick<CoordinatorSettings, 'offsetMetadataMaxBytes'>,
): CommitAnswer {
  const exists = existingPartitions(topics);
  const existing = request.topics.flatMap(({ name, partitions }) =>
    partitions
      .filter(({ partition }) => exists(name, partition))
      .map(({ partition }) => ({ topic: name, partition })),
  );
  const committer = existing.length === 0 ? 'NONE' : judgeCommitter(slot, request, existing);
  const judge = (topic: string, partition: number, metadata: string): ErrorName => {
    if (!exists(topic, partition)) return 'UNKNOWN_TOPIC_OR_PARTITION';
    if (committer !== 'NONE') return committer;
    // Counted as Kafka counts it: in UTF-16 units, whatever the setting's name says.
    return metadata.length > coordinator.offsetMetadataMaxBytes
      ? 'OFFSET_METADATA_TOO_LARGE'
      : 'NONE';
  };
  return {
    topics: request.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partition, metadata }) => ({
        partition,
        error: judge(name, partition, metadata),
      })),
    })),
  };
}

/**
 * A commit of offsets, answered as {@link judgeCommit} says; what is accepted is stored as it came, negative offsets
 * too. A commit without a member to an id that holds nothing makes it a simple group.
 */
export function decideCommit(
  slot: GroupSlot | undefined,
  request: CommitRequest,
  context: Pick<Context, 'nowMs' | 'topics' | 'coordinator'>,
): GroupDecision<CommitAnswer> {
  const answer = judgeCommit(slot, request, context.topics, context.coordinator);
  const { retentionMs } = request;
  const expires = retentionMs !== undefined;
  const expireTimestampMs = expires
    ? Math.min(context.nowMs + retentionMs, Number.MAX_SAFE_INTEGER)
    : -1;
  const records = request.topics.flatMap(({ name, topicId, partitions }, topicAt) =>
    partitions.flatMap(({ partition, offset, leaderEpoch, metadata }, at): OffsetCommitRecord[] => {
      if (answer.topics[topicAt]?.partitions[at]?.error !== 'NONE') return [];
      const value = {
        offset,
        // The one version of the record that has a time of expiry has neither of these.
        leaderEpoch: expires ? -1 : leaderEpoch,
        topicId: expires ? UNKNOWN_TOPIC : topicId,
        metadata,
        commitTimestampMs: context.nowMs,
        expireTimestampMs,
      };
      return [{ type: 'offsetCommit', groupId: request.groupId, topic: name, partition, value }];
    }),
  );
  return {
    records,
    soft: (slot ?? emptySlot(request.groupId)).soft,
    reply: { kind: 'answer', value: answer },
    effects: [],
    because: [],
  };
}

/**
 * Whether a fetch may see the group's offsets: without a member (a null id and an epoch below 0) always, as a member
 * only with its epoch. An id that no streams group has checks nobody.
 *
 * Source: topology-and-admin 13.4; OFF-C7.
 */
export function judgeFetch(slot: GroupSlot | undefined, request: OffsetFetchRequest): ErrorName {
  if (slot?.group === undefined) return 'NONE';
  if (request.memberId === null && request.memberEpoch < 0) return 'NONE';
  const member = request.memberId === null ? undefined : slot.group.members.get(request.memberId);
  if (member === undefined) return 'UNKNOWN_MEMBER_ID';
  return member.memberEpoch === request.memberEpoch ? 'NONE' : 'STALE_MEMBER_EPOCH';
}

/** The committed offsets asked for, or all of them, sorted; -1 where there is none. A refused fetch names no topic. */
export function fetchOffsets(
  slot: GroupSlot | undefined,
  request: OffsetFetchRequest,
): OffsetFetchAnswer {
  const error = judgeFetch(slot, request);
  if (error !== 'NONE') return { error, topics: [] };
  const wanted = request.topics ?? (slot === undefined ? [] : committedPartitions(slot));
  return {
    error,
    topics: wanted.map(({ name, partitions }) => {
      const committed = slot?.offsets.get(name);
      return {
        name,
        partitions: partitions.map((partition) => {
          const found = committed?.get(partition);
          return {
            partition,
            offset: found?.offset ?? -1n,
            leaderEpoch: found?.leaderEpoch ?? -1,
            metadata: found?.metadata ?? '',
            error: 'NONE',
          };
        }),
      };
    }),
  };
}

/**
 * What a deletion of offsets would be answered. Partitions that do not exist are 3; a topic that the topology of a
 * group with members reads is GROUP_SUBSCRIBED_TO_TOPIC in each of its partitions; having no offset is no error.
 *
 * Source: topology-and-admin 13; OFF-C8.
 */
export function judgeOffsetDelete(
  slot: GroupSlot | undefined,
  request: OffsetDeleteRequest,
  topics: TopicsView,
): OffsetDeleteAnswer {
  if (request.groupId === '') return { error: 'INVALID_GROUP_ID', topics: [] };
  if (slot === undefined || (slot.group === undefined && slot.offsets.size === 0)) {
    return { error: 'GROUP_ID_NOT_FOUND', topics: [] };
  }
  const exists = existingPartitions(topics);
  const isSubscribed = subscriptionOf(slot);
  return {
    error: 'NONE',
    topics: request.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map((partition) => {
        if (!exists(name, partition)) return { partition, error: 'UNKNOWN_TOPIC_OR_PARTITION' };
        return { partition, error: isSubscribed(name) ? 'GROUP_SUBSCRIBED_TO_TOPIC' : 'NONE' };
      }),
    })),
  };
}

/** A deletion of offsets, answered as {@link judgeOffsetDelete} says. */
export function decideOffsetDelete(
  slot: GroupSlot | undefined,
  request: OffsetDeleteRequest,
  context: Pick<Context, 'topics'>,
): GroupDecision<OffsetDeleteAnswer> {
  const answer = judgeOffsetDelete(slot, request, context.topics);
  const records = answer.topics.flatMap(({ name, partitions }) =>
    partitions
      .filter(({ partition, error }) => error === 'NONE' && slot?.offsets.get(name)?.has(partition))
      .map(({ partition }) => tombstone(request.groupId, name, partition)),
  );
  return {
    records,
    soft: (slot ?? emptySlot(request.groupId)).soft,
    reply: { kind: 'answer', value: answer },
    effects: [],
    because: records.length === 0 ? [] : [`Offsets deleted on request: ${records.length}`],
  };
}

/**
 * The sweep over one group: offsets past their retention go, unless members still read their topic; an empty group
 * without offsets goes with them, or at once when it never had any. Where offsets are kept elsewhere an empty group
 * stays until it is deleted: whether it has any is not known here.
 *
 * @returns undefined when nothing is to be done; else the answer is how many offsets expired.
 *
 * Source: records-and-configs EX-1 to EX-5.
 */
export function decideExpiry(
  slot: GroupSlot,
  context: Pick<Context, 'nowMs' | 'coordinator'>,
): GroupDecision<number> | undefined {
  const isSubscribed = subscriptionOf(slot);
  const retentionMs = context.coordinator.offsetsRetentionMs;
  const hasExpired = (topic: string, { expireTimestampMs, commitTimestampMs }: CommittedOffset) =>
    !isSubscribed(topic) &&
    context.nowMs >= (expireTimestampMs >= 0 ? expireTimestampMs : commitTimestampMs + retentionMs);
  const all = offsetsInOrder(slot);
  const expired = all.filter(({ topic, committed }) => hasExpired(topic, committed));
  const records = expired.map(({ topic, partition }) => tombstone(slot.groupId, topic, partition));
  const isOver =
    slot.group?.state === 'Empty' &&
    expired.length === all.length &&
    context.coordinator.offsetsAreElsewhere !== true;
  if (records.length === 0 && !isOver) return undefined;
  const end = isOver ? endGroup(slot) : { records: [], soft: slot.soft, effects: [] };
  return {
    records: [...records, ...end.records],
    soft: end.soft,
    reply: { kind: 'answer', value: records.length },
    effects: end.effects,
    because: [
      ...(records.length === 0 ? [] : [`Offsets expired: ${records.length}`]),
      ...(isOver ? ['The group was deleted: it is empty and no offsets are left'] : []),
    ],
  };
}

/**
 * Drops the offsets of topics that were deleted, unless they were committed to a topic of the same name that had
 * another id.
 *
 * @returns undefined when the group has none of them; else the answer is how many offsets went.
 *
 * Source: records-and-configs EX-7.
 */
export function decideTopicsDeleted(
  slot: GroupSlot,
  topics: readonly { readonly name: string; readonly topicId: string }[],
): GroupDecision<number> | undefined {
  const deleted = new Map(topics.map(({ name, topicId }) => [name, topicId]));
  const records = offsetsInOrder(slot)
    .filter(({ topic, committed }) => {
      if (!deleted.has(topic)) return false;
      return committed.topicId === UNKNOWN_TOPIC || committed.topicId === deleted.get(topic);
    })
    .map(({ topic, partition }) => tombstone(slot.groupId, topic, partition));
  if (records.length === 0) return undefined;
  return {
    records,
    soft: slot.soft,
    reply: { kind: 'answer', value: records.length },
    effects: [],
    because: [`Offsets dropped with their topics: ${records.length}`],
  };
}

/** Tombstones of all of a slot's offsets, by topic and partition (EX-8). */
export function offsetTombstones(slot: GroupSlot): readonly OffsetCommitRecord[] {
  return offsetsInOrder(slot).map(({ topic, partition }) =>
    tombstone(slot.groupId, topic, partition),
  );
}

/** One error for everything a commit brings (13.2, 13.3), or NONE. */
function judgeCommitter(
  slot: GroupSlot | undefined,
  request: CommitRequest,
  existing: readonly { readonly topic: string; readonly partition: number }[],
): ErrorName {
  const { memberId, memberEpoch, transactional, apiVersion } = request;
  const group = slot?.group;
  if (group === undefined) {
    if (memberEpoch < 0) return 'NONE';
    // A simple group exists, but nobody is a member of it.
    if (slot !== undefined && slot.offsets.size > 0) return 'UNKNOWN_MEMBER_ID';
    return knowsEpochs(request) ? 'GROUP_ID_NOT_FOUND' : 'ILLEGAL_GENERATION';
  }
  if (memberEpoch < 0 && group.members.size === 0) return 'NONE';
  const isNobody = memberEpoch === -1 && memberId === '' && request.instanceId === null;
  if (transactional && isNobody) return 'NONE';
  const member = group.members.get(memberId);
  if (member === undefined) return 'UNKNOWN_MEMBER_ID';
  if (!transactional && apiVersion < MEMBER_EPOCH_COMMIT_VERSION) return 'UNSUPPORTED_VERSION';
  if (memberEpoch === member.memberEpoch) return 'NONE';
  const topology = slot && topologyInForce(group, slot.soft);
  const isCurrent =
    memberEpoch < member.memberEpoch &&
    existing.every(({ topic, partition }) =>
      hasOwnedSince(member, topology, topic, partition, memberEpoch),
    );
  if (isCurrent) return 'NONE';
  return knowsEpochs(request) ? 'STALE_MEMBER_EPOCH' : 'ILLEGAL_GENERATION';
}

function knowsEpochs({ transactional, apiVersion }: CommitRequest): boolean {
  return transactional
    ? apiVersion >= MEMBER_EPOCH_TRANSACTION_VERSION
    : apiVersion >= MEMBER_EPOCH_COMMIT_VERSION;
}

/**
 * A commit built just before a rebalance: it counts while the member has, or has yet to give up, the task that reads
 * the partition, and had it at the epoch claimed (OFF-C5).
 */
function hasOwnedSince(
  member: Member,
  topology: Topology | undefined,
  topic: string,
  partition: number,
  epoch: number,
): boolean {
  const readers = new Set(
    (topology?.subtopologies ?? [])
      .filter((one) => readsOf(one).includes(topic))
      .map((one) => one.subtopologyId),
  );
  return [member.assigned.active, member.pendingRevocation.active].some((tasks) =>
    tasks.some(({ subtopologyId, partitions, assignmentEpochs }) => {
      const at = readers.has(subtopologyId) ? partitions.indexOf(partition) : -1;
      return at >= 0 && epoch >= (assignmentEpochs[at] ?? Number.POSITIVE_INFINITY);
    }),
  );
}

/**
 * Says of a topic whether its offsets are in use: what the topology of a group with members reads (EX-3, OFF-C8). While
 * it is not known what patterns stand for, it may be any topic.
 */
function subscriptionOf(slot: GroupSlot): (topic: string) => boolean {
  const group: Group | undefined = slot.group;
  if (group === undefined || group.state === 'Empty' || group.state === 'Dead') return () => false;
  if (isUnresolved(group, slot.soft)) return () => true;
  const topics = new Set(topologyInForce(group, slot.soft)?.subtopologies.flatMap(readsOf));
  return (topic) => topics.has(topic);
}

function readsOf(subtopology: Topology['subtopologies'][number]): readonly string[] {
  return [
    ...subtopology.sourceTopics,
    ...subtopology.repartitionSourceTopics.map((topic) => topic.name),
  ];
}

function existingPartitions(topics: TopicsView): (topic: string, partition: number) => boolean {
  return (topic, partition) =>
    partition >= 0 && partition < (topics.topic(topic)?.partitionCount ?? 0);
}

function committedPartitions(
  slot: GroupSlot,
): readonly { readonly name: string; readonly partitions: readonly number[] }[] {
  return [...slot.offsets]
    .sort(([a], [b]) => byCodeUnits(a, b))
    .map(([name, partitions]) => ({
      name,
      partitions: [...partitions.keys()].sort((a, b) => a - b),
    }));
}

function offsetsInOrder(slot: GroupSlot): readonly {
  readonly topic: string;
  readonly partition: number;
  readonly committed: CommittedOffset;
}[] {
  return committedPartitions(slot).flatMap(({ name, partitions }) =>
    partitions.flatMap((partition) => {
      const committed = slot.offsets.get(name)?.get(partition);
      return committed === undefined ? [] : [{ topic: name, partition, committed }];
    }),
  );
}

function tombstone(groupId: string, topic: string, partition: number): OffsetCommitRecord {
  return { type: 'offsetCommit', groupId, topic, partition, value: null };
}
