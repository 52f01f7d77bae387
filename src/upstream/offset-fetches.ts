import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import { decodeBody, reply } from '../server/answering.ts';
import type { Handler, IncomingRequest } from '../server/dispatch.ts';
import type { RequestOf, ResponseInput, ResponseOf } from '../wire/apis.ts';
import { errorCode } from '../wire/errors.ts';
import { ZERO_UUID } from '../wire/reader.ts';
import { clientsError } from './commit-errors.ts';
import type { KeyedLocks } from './keyed-locks.ts';
import { partitionKey } from './offset-commits.ts';
import type { PassOn } from './pass-on.ts';
import { undefinedIfUnreachable } from './upstream-error.ts';

export type OffsetFetchParts = {
  readonly coordinator: () => GroupCoordinator;
  readonly passOn: PassOn;
  /** Partitions under a commit: see offset-commits.ts. */
  readonly locks: KeyedLocks;
};

type Body = RequestOf<'OffsetFetch'>;
type Group = Body['groups'][number];
type GroupAnswer = ResponseOf<'OffsetFetch'>['groups'][number];
/** A group of the request and what was found out about it. */
type Judged = {
  readonly group: Group;
  /** `foreign`: no streams group; otherwise the code of our own verdict. */
  readonly verdict: 'foreign' | number;
  /** Keys of its partitions under a commit. */
  readonly held: ReadonlySet<string>;
};

const GROUPS_SINCE = 8;
const GROUP_ERROR_SINCE = 2;
const NOT_AVAILABLE = errorCode('COORDINATOR_NOT_AVAILABLE');
const UNSTABLE = errorCode('UNSTABLE_OFFSET_COMMIT');
const NONE_HELD: ReadonlySet<string> = new Set();
/** A fetch that names no member is not checked upstream. */
const NO_MEMBER = { memberId: null, memberEpoch: -1 };
const NO_OFFSET = { committedOffset: -1n, committedLeaderEpoch: -1, metadata: '' };

/**
 * The handler of OffsetFetch: member and epoch of streams groups are judged here, the offsets are upstream's. Other
 * groups in the same request pass; a request without any streams group passes untouched.
 *
 * R2: a partition with a commit under way is answered with 88 where the client asked for stable offsets, so that a
 * new owner does not read around it; once upstream has the commit, it says so itself. What is under way is looked at
 * before upstream is asked: a commit that is judged later is judged against the new owner.
 *
 * Source: wire.md key 9, 4.10; topology-and-admin 13.4.
 */
export function offsetFetchHandler(parts: OffsetFetchParts): Handler {
  const { passOn } = parts;
  return (request) =>
    passOn.inOrder(request, async (passedOn) => {
      const { apiVersion } = request;
      const body = decodeBody('OffsetFetch', request);
      const judged = await Promise.all(
        groupsOf(body, apiVersion).map((group) => judge(parts, group, body.requireStable)),
      );
      if (judged.every(({ verdict }) => verdict === 'foreign')) {
        const forwarded = passOn.forwarded(request);
        passedOn();
        return forwarded;
      }
      const fetching = fetchUpstream(parts, request, body, judged);
      passedOn();
      const found = await fetching;
      const answers = judged.map((one) => answerFor(one, found.get(one.group.groupId), apiVersion));
      return reply('OffsetFetch', request, responseOf(answers, apiVersion));
    });
}

async function judge(
  { coordinator, locks }: OffsetFetchParts,
  group: Group,
  requireStable: boolean,
): Promise<Judged> {
  const { groupId, memberId, memberEpoch } = group;
  const { error, state } = await coordinator().streamsGroup(groupId);
  if (error !== 'NONE') return { group, verdict: errorCode(error), held: NONE_HELD };
  if (state === undefined) return { group, verdict: 'foreign', held: NONE_HELD };
  const topics = group.topics?.map(({ name, partitionIndexes: partitions }) => ({
    name,
    partitions,
  }));
  const verdict = await coordinator().judgeFetch({
    groupId,
    memberId,
    memberEpoch,
    topics: topics ?? null,
  });
  const held = requireStable ? locks.heldIn(groupId) : NONE_HELD;
  return { group, verdict: errorCode(verdict), held };
}

/** Asks upstream for the groups that were not refused. */
async function fetchUpstream(
  { passOn }: OffsetFetchParts,
  request: IncomingRequest,
  { requireStable }: Body,
  judged: readonly Judged[],
): Promise<ReadonlyMap<string, GroupAnswer>> {
  const groups = judged.flatMap(({ group, verdict }) => {
    if (verdict === 'foreign') return [group];
    return verdict === 0 ? [{ ...group, ...NO_MEMBER }] : [];
  });
  const [first] = groups;
  if (first === undefined) return new Map();
  const { apiVersion } = request;
  const single = { groupId: first.groupId, topics: first.topics };
  const answer = await passOn
    .link(request.connection)
    .request(
      'OffsetFetch',
      apiVersion < GROUPS_SINCE ? { ...single, requireStable } : { groups, requireStable },
      apiVersion,
    )
    .catch(undefinedIfUnreachable);
  if (answer === undefined) return new Map();
  if (apiVersion >= GROUPS_SINCE) {
    return new Map(answer.groups.map((group) => [group.groupId, group]));
  }
  const topics = answer.topics.map((topic) => ({ ...topic, topicId: ZERO_UUID }));
  const { groupId } = first;
  return new Map([[groupId, { groupId, topics, errorCode: answer.errorCode }]]);
}

function answerFor(
  { group, verdict, held }: Judged,
  found: GroupAnswer | undefined,
  apiVersion: number,
): GroupAnswer {
  if (verdict === 'foreign' && found !== undefined) return found;
  if (verdict !== 0 || found === undefined) {
    const code = verdict === 'foreign' || verdict === 0 ? NOT_AVAILABLE : verdict;
    return refused(group, code, apiVersion);
  }
  const { groupId } = group;
  return {
    groupId,
    errorCode: clientsError(found.errorCode, false),
    topics: found.topics.map((topic) => ({
      ...topic,
      partitions: topic.partitions.map((partition) =>
        held.has(partitionKey(topic.name, partition.partitionIndex))
          ? { ...partition, ...NO_OFFSET, errorCode: UNSTABLE }
          : { ...partition, errorCode: clientsError(partition.errorCode, false) },
      ),
    })),
  };
}

/**
 * The error stands at the group and no partition is told of, so that none is taken for one without an offset (S47); in
 * the version that has no place for it there it stands at each partition.
 */
function refused({ groupId, topics }: Group, code: number, apiVersion: number): GroupAnswer {
  if (apiVersion >= GROUP_ERROR_SINCE) return { groupId, errorCode: code, topics: [] };
  return {
    groupId,
    errorCode: code,
    topics: (topics ?? []).map(({ name, topicId, partitionIndexes }) => ({
      name,
      topicId,
      partitions: partitionIndexes.map((partitionIndex) => ({
        partitionIndex,
        ...NO_OFFSET,
        errorCode: code,
      })),
    })),
  };
}

/** The groups of the request; below version 8 the request is one group itself. */
function groupsOf(body: Body, apiVersion: number): readonly Group[] {
  if (apiVersion >= GROUPS_SINCE) return body.groups;
  const topics = body.topics?.map((topic) => ({ ...topic, topicId: ZERO_UUID })) ?? null;
  return [{ groupId: body.groupId, ...NO_MEMBER, topics }];
}

function responseOf(
  answers: readonly GroupAnswer[],
  apiVersion: number,
): ResponseInput<'OffsetFetch'> {
  if (apiVersion >= GROUPS_SINCE) return { groups: answers };
  const [only] = answers;
  const topics = only?.topics ?? [];
  return apiVersion < GROUP_ERROR_SINCE ? { topics } : { topics, errorCode: only?.errorCode };
}
