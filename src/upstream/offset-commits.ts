import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { Log } from '../../actors/ports.ts';
import type { CommitRequest } from '../../machines/commands.ts';
import type { UpstreamTopics } from '../cluster/upstream-topics.ts';
import { decodeBody, reply } from '../server/answering.ts';
import type { Answer, Handler, IncomingRequest } from '../server/dispatch.ts';
import type { RequestOf, ResponseInput, ResponseOf } from '../wire/apis.ts';
import { errorCode } from '../wire/errors.ts';
import { ZERO_UUID } from '../wire/reader.ts';
import { clientsError, shadowFault, verdictFor } from './commit-errors.ts';
import type { KeyedLocks } from './keyed-locks.ts';
import type { PassOn } from './pass-on.ts';
import type { Placeholders } from './placeholders.ts';
import type { Identity } from './shadow-member.ts';
import { undefinedIfUnreachable } from './upstream-error.ts';

export type OffsetsParts = {
  readonly coordinator: () => GroupCoordinator;
  readonly passOn: PassOn;
  readonly placeholders: Placeholders;
  /** What exists, for the judging of commits. */
  readonly topics: Pick<UpstreamTopics, 'learns'>;
  /** Of partitions under a commit. */
  readonly locks: KeyedLocks;
  readonly log: Log;
};

type CommitApi = 'OffsetCommit' | 'TxnOffsetCommit';
type CommitBody = RequestOf<'OffsetCommit'> | RequestOf<'TxnOffsetCommit'>;
type Topics = CommitBody['topics'];
/** A code for each partition, in the order of the request. */
type Codes = readonly (readonly number[])[];

const NO_MEMBER = { generationIdOrMemberEpoch: -1, memberId: '', groupInstanceId: null };
/** Below, a commit cannot carry an instance id. */
const INSTANCE_ID_SINCE: Readonly<Record<CommitApi, number>> = {
  OffsetCommit: 7,
  TxnOffsetCommit: 3,
};
const LOADING = errorCode('COORDINATOR_LOAD_IN_PROGRESS');
const NOT_AVAILABLE = errorCode('COORDINATOR_NOT_AVAILABLE');
const NOT_COORDINATOR = errorCode('NOT_COORDINATOR');

/** Names a partition under a commit of a group. */
export function partitionKey(topic: string, partition: number): string {
  return `${topic}\u0000${partition}`;
}

/**
 * Commits of streams groups: judged here, stored upstream in the placeholder's name, through the client's own
 * connection. Commits of other groups pass untouched.
 *
 * Commits of one partition follow each other. A transactional one is judged again when upstream has taken it (R1): a
 * member that was fenced meanwhile is told 22 and aborts, and what is pending upstream vanishes. While a commit is under
 * way its partitions are held in `locks`; a fetch of them is put off (R2, offset-fetch.ts). When the connection upstream
 * is lost under a commit, so is the client's: nobody knows what became of it.
 *
 * Source: wire.md 4.10; topology-and-admin 13.2, 13.3.
 */
export class OffsetCommits {
  private readonly parts: OffsetsParts;

  constructor(parts: OffsetsParts) {
    this.parts = parts;
  }

  /** The handler of OffsetCommit or TxnOffsetCommit. */
  handler(name: CommitApi): Handler {
    return (request) =>
      this.parts.passOn.inOrder(request, (passedOn) => this.answer(name, request, passedOn));
  }

  private async answer(
    name: CommitApi,
    request: IncomingRequest,
    passedOn: () => void,
  ): Promise<Answer> {
    const { coordinator, passOn } = this.parts;
    const body: CommitBody = decodeBody(name, request);
    const { error, state } = await coordinator().streamsGroup(body.groupId);
    if (error === 'NONE' && state === undefined) {
      const forwarded = passOn.forwarded(request);
      passedOn();
      return forwarded;
    }
    const codes =
      error === 'NONE'
        ? await this.commit(name, request, body, passedOn)
        : everywhere(body.topics, errorCode(error));
    return answerOf(name, request, body.topics, codes);
  }

  private async commit(
    name: CommitApi,
    request: IncomingRequest,
    body: CommitBody,
    passedOn: () => void,
  ): Promise<Codes> {
    // What nobody looked at yet is not missing: a commit may be the first to name a topic (wire.md 4.11).
    if (!(await this.parts.topics.learns(body.topics.map((topic) => topic.name)))) {
      return everywhere(body.topics, LOADING);
    }
    const command = commandOf(name, request.apiVersion, body);
    const keys = body.topics.flatMap((topic) =>
      topic.partitions.map(({ partitionIndex }) => partitionKey(topic.name, partitionIndex)),
    );
    return this.parts.locks.run(body.groupId, [...new Set(keys)], async () => {
      const verdicts = await this.judge(command);
      if (!verdicts.flat().includes(0)) return verdicts;
      const stored = this.store(name, request, body, verdicts);
      passedOn();
      const codes = await stored;
      if (!command.transactional || !codes.flat().includes(0)) return codes;
      // R1: fenced while upstream was at it.
      const again = await this.judge(command);
      return merge(codes, again);
    });
  }

  /** Our own verdict for each partition, as the client is told it. */
  private async judge(command: CommitRequest): Promise<Codes> {
    const { topics } = await this.parts.coordinator().judgeCommit(command);
    return topics.map((topic) =>
      topic.partitions.map(({ error }) => errorCode(verdictFor(error, command))),
    );
  }

  /** Sends what was accepted upstream, and puts its answers in the places of the accepted partitions. */
  private async store(
    name: CommitApi,
    request: IncomingRequest,
    body: CommitBody,
    verdicts: Codes,
  ): Promise<Codes> {
    const { coordinator, passOn, placeholders } = this.parts;
    const { groupId } = body;
    const identity = placeholders.identity(groupId);
    const hasMembers = coordinator().view(groupId)?.group.state !== 'Empty';
    if (identity === undefined && hasMembers) {
      const code = placeholders.isFenced(groupId) ? NOT_COORDINATOR : LOADING;
      if (code === LOADING) placeholders.keep(groupId);
      return merge(verdicts, everywhere(body.topics, code));
    }
    const accepted = body.topics
      .map((topic, at) => ({
        ...topic,
        partitions: topic.partitions.filter((_, index) => verdicts[at]?.[index] === 0),
      }))
      .filter((topic) => topic.partitions.length > 0);
    const answer: ResponseOf<CommitApi> | undefined = await passOn
      .link(request.connection)
      .request(
        name,
        { ...body, ...asMember(identity), topics: accepted },
        Math.max(request.apiVersion, INSTANCE_ID_SINCE[name]),
      )
      .catch(undefinedIfUnreachable);
    if (answer === undefined) return merge(verdicts, everywhere(body.topics, NOT_AVAILABLE));
    const told = this.translate(groupId, identity, answer);
    return body.topics.map((topic, at) =>
      topic.partitions.map(({ partitionIndex }, index) => {
        const verdict = verdicts[at]?.[index] ?? LOADING;
        if (verdict !== 0) return verdict;
        // A partition that upstream left out counts as committed with some clients: say that it is not.
        return told.get(partitionKey(topic.name, partitionIndex)) ?? LOADING;
      }),
    );
  }

  private translate(
    groupId: string,
    identity: Identity | undefined,
    answer: ResponseOf<CommitApi>,
  ): ReadonlyMap<string, number> {
    const { placeholders, log } = this.parts;
    const isOurs = identity !== undefined && placeholders.identity(groupId) === identity;
    const told = new Map<string, number>();
    const faults = new Set<number>();
    for (const topic of answer.topics) {
      for (const { partitionIndex, errorCode: code } of topic.partitions) {
        const key = partitionKey(topic.name, partitionIndex);
        told.set(key, clientsError(code, isOurs));
        if (shadowFault(code) !== undefined) faults.add(code);
      }
    }
    for (const code of faults) {
      log.warn({ groupId, code }, 'A commit was refused upstream');
      if (identity !== undefined) placeholders.distrust(groupId, identity, code);
    }
    return told;
  }
}

function commandOf(name: CommitApi, apiVersion: number, body: CommitBody): CommitRequest {
  return {
    groupId: body.groupId,
    memberId: body.memberId,
    memberEpoch: body.generationIdOrMemberEpoch,
    instanceId: body.groupInstanceId,
    transactional: name === 'TxnOffsetCommit',
    apiVersion,
    topics: body.topics.map((topic) => ({
      name: topic.name,
      topicId: ZERO_UUID,
      partitions: topic.partitions.map((partition) => ({
        partition: partition.partitionIndex,
        offset: partition.committedOffset,
        leaderEpoch: partition.committedLeaderEpoch,
        metadata: partition.committedMetadata ?? '',
      })),
    })),
  };
}

/** An empty group's placeholder has left: its commits are simple ones. */
function asMember(identity: Identity | undefined) {
  if (identity === undefined) return NO_MEMBER;
  return {
    generationIdOrMemberEpoch: identity.generationId,
    memberId: identity.memberId,
    groupInstanceId: identity.instanceId,
  };
}

function everywhere(topics: Topics, code: number): Codes {
  return topics.map((topic) => topic.partitions.map(() => code));
}

/** The first where it is an error, else the second. */
function merge(first: Codes, second: Codes): Codes {
  return first.map((codes, at) =>
    codes.map((code, index) => (code === 0 ? (second[at]?.[index] ?? LOADING) : code)),
  );
}

function answerOf(name: CommitApi, request: IncomingRequest, topics: Topics, codes: Codes): Answer {
  const body: ResponseInput<CommitApi> = {
    topics: topics.map((topic, at) => ({
      name: topic.name,
      partitions: topic.partitions.map(({ partitionIndex }, index) => ({
        partitionIndex,
        errorCode: codes[at]?.[index] ?? LOADING,
      })),
    })),
  };
  return reply(name, request, body);
}
