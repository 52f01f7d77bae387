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
import type { GroupCommand } from './messages.ts';
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
      decide: (slot, context) => decideHeard(slot, memberId, context),
      refuse: () => undefined,
      reply: () => {},
    });
  }

  describe(groupIds: readonly string[]): Promise<readonly DescribedGroup[]> {
    const { behaviour, settings } = this.#options;
    return Promise.all(
      groupIds.map((groupId) =>
        this.#ask<DescribedGroup>(
          groupId,
          'committed',
          (slot) =>
            slot?.group === undefined
              ? describeMissing(groupId)
              : describeGroup(slot, {
                  behaviour,
                  settings: settings.group(groupId),
                }),
          (error) => ({ ...describeMissing(groupId), error, errorMessage: null }),
        ),
      ),
    );
  }

  async list(filter: ListFilter) {
    const { behaviour } = this.#options;
    const perShard = await Promise.all(
      this.#shards.all.map((shard) =>
        this.#askShard<{ error: ErrorName; groups: ReturnType<typeof listGroup>[] }>(
          shard,
          undefined,
          'committed',
          (slots) => ({ error: 'NONE', groups: [...slots.values()].map(listGroup) }),
          (error) => ({ error, groups: [] }),
        ),
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
        this.#command<Deleted>(
          groupId,
          'delete',
          (slot) => ({
            ...decideDelete(slot),
            reply: { kind: 'answer', value: { groupId, error: 'NONE', message: null } },
          }),
          (error, message) => ({ groupId, error, message }),
        ),
      ),
    );
  }

  giveWay(groupId: string): Promise<ErrorName> {
    return this.#command<ErrorName>(
      groupId,
      'classic join',
      (slot) => ({ ...decideGiveWay(slot), reply: { kind: 'answer', value: 'NONE' } }),
      (error) => error,
    );
  }

  async commit(request: CommitRequest): Promise<CommitAnswer> {
    const answer = await this.#command<CommitAnswer>(
      request.groupId,
      'offset commit',
      (slot, context) => decideCommit(slot, request, context),
      (error) => commitError(request, error),
    );
    const count = countAccepted(answer);
    if (count > 0) this.#options.metrics.offsetsCommitted(count);
    return answer;
  }

  judgeCommit(request: CommitRequest): Promise<CommitAnswer> {
    const { topics, coordinator } = this.#options;
    return this.#ask<CommitAnswer>(
      request.groupId,
      'applied',
      (slot) => judgeCommit(slot, request, topics.view(), coordinator),
      (error) => commitError(request, error),
    );
  }

  fetchOffsets(
    request: OffsetFetchRequest,
    options: { readonly stable: boolean },
  ): Promise<OffsetFetchAnswer> {
    return this.#ask<OffsetFetchAnswer>(
      request.groupId,
      options.stable ? 'applied' : 'committed',
      (slot) => fetchOffsets(slot, request),
      // A stable fetch that cannot be sure answers 16: old clients retry neither 7 nor 15 here (records 5.2).
      (error) => ({
        error: error === 'COORDINATOR_NOT_AVAILABLE' ? 'NOT_COORDINATOR' : error,
        topics: [],
      }),
    );
  }

  async furthestOffsets(asked: readonly PartitionsAsked[]): Promise<FurthestOffsets> {
    const perShard = await Promise.all(
      this.#shards.all.map((shard) =>
        this.#askShard<FurthestOffsets>(
          shard,
          undefined,
          'committed',
          (slots) => furthestOffsets(slots.values(), asked),
          () => furthestOffsets([], asked),
        ),
      ),
    );
    return perShard.reduce(furtherOf);
  }

  judgeFetch(request: OffsetFetchRequest): Promise<ErrorName> {
    return this.#ask<ErrorName>(
      request.groupId,
      'applied',
      (slot) => judgeFetch(slot, request),
      (error) => error,
    );
  }

  async deleteOffsets(request: OffsetDeleteRequest): Promise<OffsetDeleteAnswer> {
    const answer = await this.#command<OffsetDeleteAnswer>(
      request.groupId,
      'offset delete',
      (slot, context) => decideOffsetDelete(slot, request, context),
      (error) => ({ error, topics: [] }),
    );
    const count = countAccepted(answer);
    if (count > 0) this.#options.metrics.offsetsDeleted(count);
    return answer;
  }

  judgeOffsetDelete(request: OffsetDeleteRequest): Promise<OffsetDeleteAnswer> {
    return this.#ask<OffsetDeleteAnswer>(
      request.groupId,
      'applied',
      (slot) => judgeOffsetDelete(slot, request, this.#options.topics.view()),
      (error) => ({ error, topics: [] }),
    );
  }

  streamsGroup(groupId: string) {
    return this.#ask<{ error: ErrorName; state: GroupState | undefined }>(
      groupId,
      'applied',
      (slot) => ({ error: 'NONE', state: slot?.group?.state }),
      (error) => ({ error, state: undefined }),
    );
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

  #command<T>(
    groupId: string,
    cause: string,
    decide: GroupCommand<T>['decide'],
    refuse: (error: ErrorName, text: string | null) => T,
  ): Promise<T> {
    return new Promise((reply) => {
      this.#shard(groupId).post({
        kind: 'command',
        groupId,
        cause,
        memberId: null,
        decide,
        refuse,
        reply,
      });
    });
  }

  #ask<T>(
    groupId: string,
    of: 'committed' | 'applied',
    ask: (slot: GroupSlot | undefined) => T,
    refuse: (error: ErrorName) => T,
  ): Promise<T> {
    return this.#askShard(
      this.#shard(groupId),
      groupId,
      of,
      (slots) => ask(slots.get(groupId)),
      refuse,
    );
  }

  #askShard<T>(
    shard: ShardActor,
    groupId: string | undefined,
    of: 'committed' | 'applied',
    ask: (slots: ShardActor['committed']) => T,
    refuse: (error: ErrorName) => T,
  ): Promise<T> {
    return new Promise((reply) => {
      shard.post({ kind: 'question', of, groupId, ask, refuse, reply });
    });
  }
}

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
