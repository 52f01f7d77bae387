import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../machines/model/assignment.ts';
import { byCodeUnits } from '../machines/model/ids.ts';
import type { TaskList, TaskOffset } from '../machines/model/tasks.ts';

/** Tasks by subtopology, as JSON has them. */
export type Partitions = Readonly<Record<string, readonly number[]>>;
type Offsets = Readonly<Record<string, Readonly<Record<string, number | string>>>>;

/** One question to an assignor, as it is exchanged with others; all but names and task counts may be left out. */
export type Cell = {
  readonly cell: string;
  readonly assignor?: string;
  readonly configs?: {
    readonly numStandbyReplicas?: number;
    readonly rackAwareAssignmentTags?: readonly string[];
    readonly acceptableRecoveryLag?: number;
  };
  readonly topology: readonly {
    readonly id: string;
    readonly tasks: number;
    readonly stateful?: boolean;
  }[];
  readonly members: readonly {
    readonly id: string;
    readonly process: string;
    readonly instance?: string;
    readonly rack?: string;
    readonly tags?: Readonly<Record<string, string>>;
    readonly stale?: boolean;
    readonly active?: Partitions;
    readonly standby?: Partitions;
    readonly warmup?: Partitions;
    /** Above 2^53 as digits in a string. */
    readonly offsets?: Offsets;
    readonly endOffsets?: Offsets;
  }[];
};

/** The cell as the coordinator would ask: sorted as its snapshots are. */
export function problemOfCell({
  cell,
  assignor,
  configs,
  topology,
  members,
}: Cell): AssignmentProblem {
  return {
    groupId: cell,
    assignor: assignor ?? 'sticky',
    topologyEpoch: 1,
    subtopologies: topology
      .map(({ id, tasks, stateful = false }) => ({ subtopologyId: id, taskCount: tasks, stateful }))
      .sort((a, b) => byCodeUnits(a.subtopologyId, b.subtopologyId)),
    members: members
      .map(
        (each): AssignmentMember => ({
          memberId: each.id,
          instanceId: each.instance ?? null,
          rackId: each.rack ?? null,
          processId: each.process,
          clientTags: Object.entries(each.tags ?? {}).map(([key, value]) => ({ key, value })),
          topologyEpoch: each.stale === true ? 0 : 1,
          active: listOf(each.active),
          standby: listOf(each.standby),
          warmup: listOf(each.warmup),
          taskOffsets: offsetsOf(each.offsets),
          taskEndOffsets: offsetsOf(each.endOffsets),
        }),
      )
      .sort((a, b) => byCodeUnits(a.memberId, b.memberId)),
    numStandbyReplicas: configs?.numStandbyReplicas ?? 0,
    acceptableRecoveryLag: BigInt(configs?.acceptableRecoveryLag ?? 10_000),
    rackAwareAssignmentTags: configs?.rackAwareAssignmentTags ?? [],
  };
}

/** The answer's words for a result. */
export function describeResult(
  problem: AssignmentProblem,
  { members, unassigned }: AssignmentResult,
): object {
  const assignment = Object.fromEntries(
    problem.members.map(({ memberId }, m) => [
      memberId,
      {
        active: partitionsOf(members[m]?.active ?? []),
        standby: partitionsOf(members[m]?.standby ?? []),
      },
    ]),
  );
  return { assignment, ...(unassigned.length > 0 && { unassigned: taskNames(unassigned) }) };
}

function listOf(tasks: Partitions | undefined): TaskList {
  return Object.entries(tasks ?? {}).map(([subtopologyId, partitions]) => ({
    subtopologyId,
    partitions,
  }));
}

function offsetsOf(offsets: Offsets | undefined): TaskOffset[] {
  return Object.entries(offsets ?? {}).flatMap(([subtopologyId, byPartition]) =>
    Object.entries(byPartition).map(([partition, offset]) => ({
      subtopologyId,
      partition: Number(partition),
      offset: BigInt(offset),
    })),
  );
}

function partitionsOf(list: TaskList): Partitions {
  return Object.fromEntries(list.map((each) => [each.subtopologyId, each.partitions]));
}

function taskNames(list: TaskList): string[] {
  return list.flatMap(({ subtopologyId, partitions }) =>
    partitions.map((partition) => `${subtopologyId}_${partition}`),
  );
}
