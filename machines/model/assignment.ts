import type { StandIn } from './assignors.ts';
import type { Group } from './group.ts';
import type { Member } from './member.ts';
import type { TargetList } from './numbered-tasks.ts';
import { PersistentMap } from './persistent-map.ts';
import type { MemberSoft } from './soft.ts';
import type { TaskList, TaskOffset, TasksByRole } from './tasks.ts';
import type { KeyValue } from './topology.ts';

/** One member as an assignor sees it (ASG-7): what it has now, without tasks pending revocation. */
export type AssignmentMember = {
  readonly memberId: string;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly processId: string;
  readonly clientTags: readonly KeyValue[];
  readonly topologyEpoch: number;
  readonly active: TaskList;
  readonly standby: TaskList;
  readonly warmup: TaskList;
  readonly taskOffsets: readonly TaskOffset[];
  readonly taskEndOffsets: readonly TaskOffset[];
};

/** What an assignor is asked beside who there is. */
export type AssignmentQuestion = {
  readonly groupId: string;
  readonly assignor: string;
  /** What the group selects and is not registered: `assignor` stands in for it. */
  readonly assignorMissing?: string;
  readonly topologyEpoch: number;
  /** Sorted by id, code units. */
  readonly subtopologies: readonly AssignmentSubtopology[];
  readonly numStandbyReplicas: number;
  readonly acceptableRecoveryLag: bigint;
  readonly rackAwareAssignmentTags: readonly string[];
  /** Tasks are placed as Kafka's own sticky places them, down to which of equals it takes; else as ours does. */
  readonly placeAsKafka?: boolean;
};

export type AssignmentSubtopology = {
  readonly subtopologyId: string;
  readonly taskCount: number;
  readonly stateful: boolean;
};

/** The immutable snapshot a run of an assignor works on, member by member. */
export type AssignmentProblem = AssignmentQuestion & {
  /** Sorted by member id, code units. */
  readonly members: readonly AssignmentMember[];
};

/**
 * The same snapshot as pointers to the group's own maps, so that taking it costs nothing and two of them tell by what they
 * share what changed in between.
 */
export type GroupProblem = AssignmentQuestion & {
  readonly members: PersistentMap<AssignmentHolder>;
  readonly reports: PersistentMap<TaskReports>;
  /** What is installed; no assignor looks at it, but whoever installs the result does. */
  readonly targets: PersistentMap<TasksByRole>;
  /** As it was when the problem was taken; left out where there is no group. */
  readonly group?: Group;
  /** Members of another topology epoch get new tasks like all others (X6). */
  readonly assignToStaleMembers: boolean;
};

/** The problem of a group that there is. */
export type RunProblem = GroupProblem & { readonly group: Group };

/** What a group's log knows of a member, as far as assignors look at it. */
export type AssignmentHolder = Pick<
  Member,
  'memberId' | 'instanceId' | 'rackId' | 'processId' | 'clientTags' | 'topologyEpoch'
> & { readonly assigned: TasksByRole };

/** How far a member says its tasks are. */
export type TaskReports = Pick<MemberSoft, 'taskOffsets' | 'taskEndOffsets'>;

/** One entry per member of the problem, in its order; checked against the hard invariants before anyone sees it (ASG-11). */
export type AssignmentResult = {
  readonly members: readonly AssignedTasks[];
  /** Tasks that no eligible member may take (H1). */
  readonly unassigned: TaskList;
};

export type AssignedTasks = Pick<TasksByRole, 'active' | 'standby'>;

/** The result for a {@link GroupProblem}: its entries are targets, by member id. */
export type GroupResult = {
  /** In no defined order. */
  readonly memberIds: readonly string[];
  /** What the problem has as installed, in the order of `memberIds`. */
  readonly installed: readonly (TasksByRole | undefined)[];
  /** In the order of `memberIds`. */
  readonly targets: TargetList;
  readonly unassigned: TaskList;
  /** Ms that a thread was at it, from a clock that has nothing to do with the group's; left out where none was. */
  readonly threadMs?: number | undefined;
  /** Undefined: the assignor that was asked for assigned. */
  readonly standIn?: StandIn | undefined;
};

const NO_REPORTS: TaskReports = { taskOffsets: [], taskEndOffsets: [] };

/** The problem member by member; costs the whole group, so it is for people and files. */
export function listProblem(problem: GroupProblem): AssignmentProblem {
  const { members, reports, targets: _, group: __, assignToStaleMembers, ...question } = problem;
  const listed = listMembers({ ...question, members, reports, assignToStaleMembers });
  return { ...question, members: [...listed] };
}

/** The members of a problem by id, each made when it is asked for. */
export function* listMembers({
  members,
  reports,
  topologyEpoch,
  assignToStaleMembers,
}: Pick<
  GroupProblem,
  'members' | 'reports' | 'topologyEpoch' | 'assignToStaleMembers'
>): Generator<AssignmentMember> {
  // By code units, as a list of texts is sorted where nothing else is said.
  for (const memberId of [...members.keys()].sort()) {
    const member = members.get(memberId) as AssignmentHolder;
    const { taskOffsets, taskEndOffsets } = reports.get(memberId) ?? NO_REPORTS;
    yield {
      memberId,
      instanceId: member.instanceId,
      rackId: member.rackId,
      processId: member.processId,
      clientTags: member.clientTags,
      // To an assignor another epoch means a member that gets nothing new.
      topologyEpoch: assignToStaleMembers ? topologyEpoch : member.topologyEpoch,
      active: member.assigned.active,
      standby: member.assigned.standby,
      warmup: member.assigned.warmup,
      taskOffsets,
      taskEndOffsets,
    };
  }
}

/** The problem in the form that runs take. Refuses two members of one id. */
export function gatherProblem({ members, ...question }: AssignmentProblem): GroupProblem {
  const seen = new Set<string>();
  for (const { memberId } of members) {
    if (seen.has(memberId)) {
      throw new Error(`Cannot gather assignment problem: member "${memberId}" is there twice`);
    }
    seen.add(memberId);
  }
  return {
    ...question,
    members: PersistentMap.from(
      members.map(({ active, standby, warmup, ...member }) => [
        member.memberId,
        { ...member, assigned: { active, standby, warmup } },
      ]),
    ),
    reports: PersistentMap.from(
      members.map(({ memberId, taskOffsets, taskEndOffsets }) => [
        memberId,
        { taskOffsets, taskEndOffsets },
      ]),
    ),
    targets: PersistentMap.empty(),
    assignToStaleMembers: false,
  };
}
