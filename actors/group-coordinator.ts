import type {
  Client,
  CommitAnswer,
  CommitRequest,
  DescribedGroup,
  FurthestOffsets,
  HeartbeatAnswer,
  HeartbeatRequest,
  ListedGroup,
  OffsetDeleteAnswer,
  OffsetDeleteRequest,
  OffsetFetchAnswer,
  OffsetFetchRequest,
  PartitionsAsked,
} from '../machines/commands.ts';
import type { GroupProblem } from '../machines/model/assignment.ts';
import type { Group, GroupState } from '../machines/model/group.ts';
import type { ErrorName } from '../machines/model/refusal.ts';
import type { GroupSoft } from '../machines/model/soft.ts';
import type { ShardState } from '../machines/shard-machine.ts';

/** Filters of ListGroups; empty = no filter. */
export type ListFilter = { readonly states: readonly string[]; readonly types: readonly string[] };

export type ShardStatus = {
  readonly shard: number;
  readonly state: ShardState;
  /** Streams groups. */
  readonly groups: number;
  /** Ids that hold offsets alone, which are listed as empty classic groups. */
  readonly simpleGroups: number;
  readonly members: number;
  readonly committedOffsets: number;
  readonly groupsByState: Readonly<Record<GroupState, number>>;
  readonly queued: number;
};

/** A group as the console and the journal's reader see it: live, as of the last commit. */
export type GroupView = { readonly group: Group; readonly soft: GroupSoft };

/**
 * The coordinator as the edge talks to it. Nothing here rejects for what a request says: errors are part of the
 * answers. A shard that is loading, closed, failed or full answers 14, 16 or 14 in each answer's own place.
 */
export interface GroupCoordinator {
  heartbeat(request: HeartbeatRequest, client: Client): Promise<HeartbeatAnswer>;
  /** A member spoke while nothing can be judged: its session goes on (TMR-1). Nobody is told of anything. */
  heard(groupId: string, memberId: string): void;
  /** One entry per requested id, in any order; one id twice is answered twice. */
  describe(groupIds: readonly string[]): Promise<readonly DescribedGroup[]>;
  /** Of all shards; a shard that cannot tell gives an error for the whole answer. */
  list(
    filter: ListFilter,
  ): Promise<{ readonly error: ErrorName; readonly groups: readonly ListedGroup[] }>;
  /** One entry per distinct id. */
  delete(groupIds: readonly string[]): Promise<
    readonly {
      readonly groupId: string;
      readonly error: ErrorName;
      readonly message: string | null;
    }[]
  >;
  /**
   * Ends an empty streams group for a classic one that takes its id; its offsets stay. NONE, GROUP_ID_NOT_FOUND (there is
   * none), INCONSISTENT_GROUP_PROTOCOL (it has members) or a shard error.
   */
  giveWay(groupId: string): Promise<ErrorName>;
  commit(request: CommitRequest): Promise<CommitAnswer>;
  /**
   * What a commit would be answered, without storing anything: a gateway's check before and after it forwards a
   * commit. It sees what is applied and is answered when that is committed.
   */
  judgeCommit(request: CommitRequest): Promise<CommitAnswer>;
  /** `stable`: waits until everything it has seen is committed (BA-4). */
  fetchOffsets(
    request: OffsetFetchRequest,
    options: { readonly stable: boolean },
  ): Promise<OffsetFetchAnswer>;
  /**
   * The furthest offset that any group has committed, simple groups included, for each partition asked for. As of the
   * last commit; a shard that does not serve is left out.
   */
  furthestOffsets(asked: readonly PartitionsAsked[]): Promise<FurthestOffsets>;
  /** Checks member and epoch of a fetch that is answered elsewhere; NONE, UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH or a shard error. */
  judgeFetch(request: OffsetFetchRequest): Promise<ErrorName>;
  deleteOffsets(request: OffsetDeleteRequest): Promise<OffsetDeleteAnswer>;
  /** As {@link deleteOffsets}, without deleting: the check of a gateway. */
  judgeOffsetDelete(request: OffsetDeleteRequest): Promise<OffsetDeleteAnswer>;
  /** Whether the id is held by a streams group now (also an empty one), as of what is applied. */
  streamsGroup(
    groupId: string,
  ): Promise<{ readonly error: ErrorName; readonly state: GroupState | undefined }>;
  /** Drops offsets of deleted topics from every group (EX-7). */
  topicsDeleted(topics: readonly { readonly name: string; readonly topicId: string }[]): void;

  view(groupId: string): GroupView | undefined;
  /**
   * What an assignor would be asked about the group now, as of the last commit; undefined while nothing can be assigned:
   * there is no such group, or its topology is not ready.
   */
  problem(groupId: string): GroupProblem | undefined;
  /** Ids of all streams groups, sorted. */
  groupIds(): readonly string[];
  shards(): readonly ShardStatus[];
}
