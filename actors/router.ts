import type {
  Client,
  CommitAnswer,
  CommitRequest,
  DescribedGroup,
  FurthestOffsets,
  HeartbeatAnswer,
  HeartbeatRequest,
  OffsetDeleteAnswer,
  OffsetDeleteRequest,
  OffsetFetchAnswer,
  OffsetFetchRequest,
  PartitionsAsked,
} from '../machines/commands.ts';
import { refusedAnswer } from '../machines/decide/answer.ts';
import { problemOf } from '../machines/decide/assignment-run.ts';
import { decideDelete } from '../machines/decide/delete.ts';
import {
  describeGroup,
  describeMissing,
  listGroup,
  matchesFilter,
} from '../machines/decide/describe.ts';
import { furtherOf, furthestOffsets } from '../machines/decide/furthest-offsets.ts';
import { decideGiveWay } from '../machines/decide/give-way.ts';
import { decideHeard } from '../machines/decide/heard.ts';
import { decideHeartbeat } from '../machines/decide/heartbeat.ts';
import {
  decideCommit,
  decideOffsetDelete,
  fetchOffsets,
  judgeCommit,
  judgeFetch,
  judgeOffsetDelete,
} from '../machines/decide/offsets.ts';
import type { GroupSlot } from '../machines/decision.ts';
import type { GroupProblem } from '../machines/model/assignment.ts';
import type { GroupState } from '../machines/model/group.ts';
import { byCodeUnits, shardOf } from '../machines/model/ids.ts';
import type { ErrorName } from '../machines/model/refusal.ts';
import type { ShardsOptions } from './environment.ts';
import type { GroupCoordinator, GroupView, ListFilter, ShardStatus } from './group-coordinator.ts';
import type { GroupCommand, Question } from './messages.ts';
import type { ShardActor } from './shard-actor.ts';
import type { Shards } from './shards.ts';

type RouterOptions = Pick<
  ShardsOptions,
  'behaviour' | 'coordinator' | 'settings' | 'topics' | 'metrics'
>;

/** Finds the shard of a group and asks it: the coordinator as one thing. */
export class Router implements GroupCoordinator {
  readonly #shards: Shards;
  readonly #options: RouterOptions;

  constructor(shards: Shards, options: RouterOptions) {
    this.#shards = shards;
    this.#options = options;
  }

  heartbeat(request: HeartbeatRequest, client: Client): Promise<HeartbeatAnswer> {
    const { groupId, memberId } = request;
    return new Promise((reply) => {
      this.#shard(groupId).post({
        kind: 'command',
        groupId,
        cause: request.memberEpoch < 0 ? 'leave' : request.memberEpoch === 0 ? 'join' : 'heartbeat',
        memberId,
        // Joins and leaves change the group, and start runs.
        length: request.memberEpoch > 0 ? 'short' : 'long',
        decide: (slot, context) => decideHeartbeat(slot, request, client, context),
        refuse: refusedAnswer,
        reply,
      });
    });
  }

  heard(groupId: string, memberId: string): void {
    this.#shard(groupId).post({
      kind: 'command',
      groupId,
      cause: 'heard',
      memberId,
      length: 'short',
      decide: (slot, context) => decideHeard(slot, memberId, context),
      refuse: () => undefined,
      reply: () => {},
    });
  }

  describe(groupIds: readonly string[]): Promise<readonly DescribedGroup[]> {
    const { behaviour, settings } = this.#options;
    return Promise.all(
      groupIds.map((groupId) =>
        this.#ask<DescribedGroup>({
          groupId,
          of: 'committed',
          length: 'long',
          ask: (slot) =>
            slot?.group === undefined
              ? describeMissing(groupId)
              : describeGroup(slot, { behaviour, settings: settings.group(groupId) }),
          refuse: (error) => ({ ...describeMissing(groupId), error, errorMessage: null }),
        }),
      ),
    );
  }

  async list(filter: ListFilter) {
    const { behaviour } = this.#options;
    const perShard = await Promise.all(
      this.#shards.all.map((shard) =>
        this.#askShard<{ error: ErrorName; groups: ReturnType<typeof listGroup>[] }>(shard, {
          groupId: undefined,
          of: 'committed',
          length: 'long',
          ask: (slots) => ({ error: 'NONE', groups: [...slots.values()].map(listGroup) }),
          refuse: (error) => ({ error, groups: [] }),
        }),
      ),
    );
    const groups = perShard
      .flatMap((answer) => answer.groups)
      .filter((listed) => listed !== undefined)
      .filter((listed) => matchesFilter(listed, filter, behaviour))
      .sort((a, b) => byCodeUnits(a.groupId, b.groupId));
    const error = perShard.find((answer) => answer.error !== 'NONE')?.error ?? 'NONE';
    return { error, groups };
  }

  delete(groupIds: readonly string[]) {
    type Deleted = {
      readonly groupId: string;
      readonly error: ErrorName;
      readonly message: string | null;
    };
    return Promise.all(
      [...new Set(groupIds)].map((groupId) =>
        this.#command<Deleted>({
          groupId,
          cause: 'delete',
          length: 'long',
          decide: (slot) => ({
            ...decideDelete(slot),
            reply: { kind: 'answer', value: { groupId, error: 'NONE', message: null } },
          }),
          refuse: (error, message) => ({ groupId, error, message }),
        }),
      ),
    );
  }

  giveWay(groupId: string): Promise<ErrorName> {
    return this.#command<ErrorName>({
      groupId,
      cause: 'classic join',
      length: 'long',
      decide: (slot) => ({ ...decideGiveWay(slot), reply: { kind: 'answer', value: 'NONE' } }),
      refuse: (error) => error,
    });
  }

  async commit(request: CommitRequest): Promise<CommitAnswer> {
    const answer = await this.#command<CommitAnswer>({
      groupId: request.groupId,
      cause: 'offset commit',
      length: 'short',
      decide: (slot, context) => decideCommit(slot, request, context),
      refuse: (error) => commitError(request, error),
    });
    const count = countAccepted(answer);
    if (count > 0) this.#options.metrics.offsetsCommitted(count);
    return answer;
  }

  judgeCommit(request: CommitRequest): Promise<CommitAnswer> {
    const { topics, coordinator } = this.#options;
    return this.#ask<CommitAnswer>({
      groupId: request.groupId,
      of: 'applied',
      length: 'short',
      ask: (slot) => judgeCommit(slot, request, topics.view(), coordinator),
      refuse: (error) => commitError(request, error),
    });
  }

  fetchOffsets(
    request: OffsetFetchRequest,
    options: { readonly stable: boolean },
  ): Promise<OffsetFetchAnswer> {
    return this.#ask<OffsetFetchAnswer>({
      groupId: request.groupId,
      of: options.stable ? 'applied' : 'committed',
      length: 'short',
      ask: (slot) => fetchOffsets(slot, request),
      // A stable fetch that cannot be sure answers 16: old clients retry neither 7 nor 15 here (records 5.2).
      refuse: (error) => ({
        error: error === 'COORDINATOR_NOT_AVAILABLE' ? 'NOT_COORDINATOR' : error,
        topics: [],
      }),
    });
  }

  async furthestOffsets(asked: readonly PartitionsAsked[]): Promise<FurthestOffsets> {
    const perShard = await Promise.all(
      this.#shards.all.map((shard) =>
        this.#askShard<FurthestOffsets>(shard, {
          groupId: undefined,
          of: 'committed',
          length: 'long',
          ask: (slots) => furthestOffsets(slots.values(), asked),
          refuse: () => furthestOffsets([], asked),
        }),
      ),
    );
    return perShard.reduce(furtherOf);
  }

  judgeFetch(request: OffsetFetchRequest): Promise<ErrorName> {
    return this.#ask<ErrorName>({
      groupId: request.groupId,
      of: 'applied',
      length: 'short',
      ask: (slot) => judgeFetch(slot, request),
      refuse: (error) => error,
    });
  }

  async deleteOffsets(request: OffsetDeleteRequest): Promise<OffsetDeleteAnswer> {
    const answer = await this.#command<OffsetDeleteAnswer>({
      groupId: request.groupId,
      cause: 'offset delete',
      length: 'short',
      decide: (slot, context) => decideOffsetDelete(slot, request, context),
      refuse: (error) => ({ error, topics: [] }),
    });
    const count = countAccepted(answer);
    if (count > 0) this.#options.metrics.offsetsDeleted(count);
    return answer;
  }

  judgeOffsetDelete(request: OffsetDeleteRequest): Promise<OffsetDeleteAnswer> {
    return this.#ask<OffsetDeleteAnswer>({
      groupId: request.groupId,
      of: 'applied',
      length: 'short',
      ask: (slot) => judgeOffsetDelete(slot, request, this.#options.topics.view()),
      refuse: (error) => ({ error, topics: [] }),
    });
  }

  streamsGroup(groupId: string) {
    return this.#ask<{ error: ErrorName; state: GroupState | undefined }>({
      groupId,
      of: 'applied',
      length: 'short',
      ask: (slot) => ({ error: 'NONE', state: slot?.group?.state }),
      refuse: (error) => ({ error, state: undefined }),
    });
  }

  topicsDeleted(topics: readonly { readonly name: string; readonly topicId: string }[]): void {
    for (const shard of this.#shards.all) shard.tell({ kind: 'topicsDeleted', topics });
  }

  view(groupId: string): GroupView | undefined {
    const slot = this.#shard(groupId).committed.get(groupId);
    return slot?.group === undefined ? undefined : { group: slot.group, soft: slot.soft };
  }

  problem(groupId: string): GroupProblem | undefined {
    const view = this.view(groupId);
    const configured = view?.soft.configured;
    if (view === undefined || configured === undefined || configured.problem !== undefined) {
      return undefined;
    }
    const { behaviour, settings } = this.#options;
    return problemOf(view, configured, { behaviour, settings: settings.group(groupId) });
  }

  groupIds(): readonly string[] {
    return this.#shards.all
      .flatMap((shard) => [...shard.committed.values()])
      .filter((slot) => slot.group !== undefined)
      .map((slot) => slot.groupId)
      .sort(byCodeUnits);
  }

  shards(): readonly ShardStatus[] {
    return this.#shards.all.map((shard) => shard.status());
  }

  #shard(groupId: string): ShardActor {
    const shard = this.#shards.all[shardOf(groupId, this.#shards.all.length)];
    if (shard === undefined) throw new Error('There are no shards');
    return shard;
  }

  #command<T>(command: Omit<GroupCommand<T>, 'kind' | 'memberId' | 'reply'>): Promise<T> {
    return new Promise((reply) => {
      const shard = this.#shard(command.groupId);
      shard.post({ ...command, kind: 'command', memberId: null, reply });
    });
  }

  #ask<T>({ ask, ...question }: GroupQuestion<T>): Promise<T> {
    const { groupId } = question;
    return this.#askShard(this.#shard(groupId), {
      ...question,
      ask: (slots) => ask(slots.get(groupId)),
    });
  }

  #askShard<T>(shard: ShardActor, question: Omit<Question<T>, 'kind' | 'reply'>): Promise<T> {
    return new Promise((reply) => {
      shard.post({ ...question, kind: 'question', reply });
    });
  }
}

type GroupQuestion<T> = Omit<Question<T>, 'kind' | 'groupId' | 'ask' | 'reply'> & {
  readonly groupId: string;
  readonly ask: (slot: GroupSlot | undefined) => T;
};

function countAccepted({ topics }: CommitAnswer | OffsetDeleteAnswer): number {
  return topics.flatMap(({ partitions }) => partitions).filter(({ error }) => error === 'NONE')
    .length;
}

/** A commit of which every partition has the same error. */
function commitError(request: CommitRequest, error: ErrorName): CommitAnswer {
  return {
    topics: request.topics.map((topic) => ({
      name: topic.name,
      partitions: topic.partitions.map(({ partition }) => ({ partition, error })),
    })),
  };
}
