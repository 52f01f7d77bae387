import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import { taskKey, toTaskList } from '../../machines/model/task-list.ts';
import type { TaskList, TaskOffset } from '../../machines/model/tasks.ts';

/** Tasks by subtopology, as JSON has them: partitions, each once. */
export type Partitions = Readonly<Record<string, readonly number[]>>;

/** Offset sums by subtopology and partition; int64: a number, or digits in a string where a number is not exact. */
export type Offsets = Readonly<Record<string, Readonly<Record<string, number | string>>>>;

/** What one member has and reports. */
export type CellMember = {
  readonly id: string;
  readonly process: string;
  readonly instance?: string;
  readonly rack?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Its topology epoch is not the group's: it gets nothing new. */
  readonly stale?: boolean;
  readonly active?: Partitions;
  readonly standby?: Partitions;
  readonly warmup?: Partitions;
  readonly offsets?: Offsets;
  readonly endOffsets?: Offsets;
  /** What it was to have when the problem was kept; no assignor looks at it. */
  readonly target?: { readonly active?: Partitions; readonly standby?: Partitions };
};

/**
 * One question to an assignor, as it is exchanged with others: one line of JSON. Everything but names, processes and task
 * counts may be left out. A problem file holds one. What assignors do not look at says where it is from.
 *
 * Source: test/oracle/README-assign.md.
 */
export type Cell = {
  readonly cell: string;
  /** Left out: `sticky`. */
  readonly assignor?: string;
  readonly configs?: {
    readonly numStandbyReplicas?: number;
    readonly rackAwareAssignmentTags?: readonly string[];
    /** int64, as offsets are. */
    readonly acceptableRecoveryLag?: number | string;
    /** `sticky` takes the very one of equals that Kafka's takes. */
    readonly placeAsKafka?: boolean;
  };
  readonly topology: readonly {
    readonly id: string;
    readonly tasks: number;
    readonly stateful?: boolean;
  }[];
  readonly members: readonly CellMember[];
  /** Who made the assignment that an incremental cell starts from. */
  readonly previousBy?: string;
  /** Who left just before; read by graders alone. */
  readonly departed?: readonly Pick<
    CellMember,
    'id' | 'process' | 'active' | 'standby' | 'warmup'
  >[];
  /** The group whose problem it was. */
  readonly group?: CellGroup;
  /** When and why it was written to a file. */
  readonly dump?: CellDump;
};

export type CellGroup = {
  readonly id: string;
  readonly epoch?: number;
  readonly assignmentEpoch?: number;
  readonly topologyEpoch?: number;
};

export type CellDump = {
  /** As ISO 8601 writes it, in UTC. */
  readonly at: string;
  /** One word: what became of the run, or `asked`. */
  readonly why: string;
  readonly detail?: string;
  /** Name and version of the writer. */
  readonly by?: string;
};

/** `group.streams.acceptable.recovery.lag` by default. */
const USUAL_LAG = 10_000;

/** The cell as the coordinator would ask: lists sorted as its snapshots are. */
export function problemOfCell(cell: Cell): AssignmentProblem {
  const { assignor = 'sticky', configs = {}, topology, members, group } = cell;
  const topologyEpoch = group?.topologyEpoch ?? 1;
  return {
    groupId: group?.id ?? cell.cell,
    assignor,
    topologyEpoch,
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
          clientTags: Object.entries(each.tags ?? {})
            .map(([key, value]) => ({ key, value }))
            .sort((a, b) => byCodeUnits(a.key, b.key)),
          topologyEpoch: each.stale === true ? topologyEpoch - 1 : topologyEpoch,
          active: listOf(each.active),
          standby: listOf(each.standby),
          warmup: listOf(each.warmup),
          taskOffsets: offsetsOf(each.offsets),
          taskEndOffsets: offsetsOf(each.endOffsets),
        }),
      )
      .sort((a, b) => byCodeUnits(a.memberId, b.memberId)),
    numStandbyReplicas: configs.numStandbyReplicas ?? 0,
    acceptableRecoveryLag: BigInt(configs.acceptableRecoveryLag ?? USUAL_LAG),
    rackAwareAssignmentTags: configs.rackAwareAssignmentTags ?? [],
    placeAsKafka: configs.placeAsKafka ?? false,
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

/** A list as JSON has it. */
export function partitionsOf(list: TaskList): Partitions {
  return Object.fromEntries(list.map((each) => [each.subtopologyId, each.partitions]));
}

/** Tasks as JSON has them, as a list. */
export function listOf(tasks: Partitions | undefined): TaskList {
  return toTaskList(
    Object.entries(tasks ?? {}).map(([subtopologyId, partitions]) => ({
      subtopologyId,
      partitions,
    })),
  );
}

function offsetsOf(offsets: Offsets | undefined): TaskOffset[] {
  return Object.entries(offsets ?? {})
    .sort(([a], [b]) => byCodeUnits(a, b))
    .flatMap(([subtopologyId, byPartition]) =>
      Object.entries(byPartition).map(([partition, offset]) => ({
        subtopologyId,
        partition: Number(partition),
        offset: BigInt(offset),
      })),
    );
}

function taskNames(list: TaskList): string[] {
  return list.flatMap(({ subtopologyId, partitions }) =>
    partitions.map((partition) => taskKey(subtopologyId, partition)),
  );
}
