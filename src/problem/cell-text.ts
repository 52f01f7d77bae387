import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentQuestion,
} from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import type { TaskList, TaskOffset, TasksByRole } from '../../machines/model/tasks.ts';
import type { KeyValue } from '../../machines/model/topology.ts';
import type { Cell, CellGroup, CellMember, Offsets, Partitions } from './cell.ts';

/** What a cell says beside the problem itself. */
export type CellAbout = Pick<Cell, 'dump'> & {
  readonly epoch?: number;
  readonly assignmentEpoch?: number;
  /** What a member is to have; undefined where that is not known. */
  readonly targetOf?: (memberId: string) => TasksByRole | undefined;
};

/**
 * A problem as a cell: one line of JSON with a line feed at its end, in pieces. A piece is about one member, and so takes
 * no longer to make than that member's heartbeat took to read: whoever has other things to do, does them between pieces.
 *
 * What an assignor leaves out is not written either: tasks and reports that the topology does not have, and sums below
 * zero, which no client can mean. So an assignor answers what is read back as it answers the problem.
 */
export function* cellPieces(
  problem: AssignmentQuestion & { readonly members: Iterable<AssignmentMember> },
  about: CellAbout = {},
): Generator<string> {
  const counts = new Map(
    problem.subtopologies.map(({ subtopologyId, taskCount }) => [subtopologyId, taskCount]),
  );
  const head = JSON.stringify(headOf(problem, about));
  yield `${head.slice(0, -1)},"members":[`;
  let separator = '';
  for (const member of problem.members) {
    const target = about.targetOf?.(member.memberId);
    yield separator + JSON.stringify(memberOf(member, problem.topologyEpoch, { target, counts }));
    separator = ',';
  }
  yield ']}\n';
}

/** All pieces together; for problems that are small, and where nothing else waits. */
export function cellText(problem: AssignmentProblem, about?: CellAbout): string {
  return [...cellPieces(problem, about)].join('');
}

/** So many characters are put together before everybody else has their turn. */
const PART_LENGTH = 64 * 1_024;

/** The pieces as one text; the event loop turns meanwhile. */
export async function joinPieces(pieces: Iterable<string>): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    parts.push(piece);
    length += piece.length;
    if (length < PART_LENGTH) continue;
    length = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return parts.join('');
}

/** A value for JSON, which leaves out what is undefined. */
type Written<T> = { readonly [K in keyof T]: T[K] | undefined };

function headOf(
  problem: AssignmentQuestion,
  { epoch, assignmentEpoch, dump }: CellAbout,
): Written<Omit<Cell, 'members' | 'group' | 'configs'>> & Record<'group' | 'configs', object> {
  const { groupId, assignor, topologyEpoch } = problem;
  const group: Written<CellGroup> = { id: groupId, epoch, assignmentEpoch, topologyEpoch };
  const configs: Written<Cell['configs']> = {
    numStandbyReplicas: problem.numStandbyReplicas,
    rackAwareAssignmentTags: problem.rackAwareAssignmentTags,
    acceptableRecoveryLag: int64Json(problem.acceptableRecoveryLag),
    placeAsKafka: problem.placeAsKafka === true ? true : undefined,
  };
  const topology = problem.subtopologies.map(({ subtopologyId, taskCount, stateful }) => ({
    id: subtopologyId,
    tasks: taskCount,
    stateful,
  }));
  return { cell: groupId, assignor, dump, group, configs, topology };
}

type TaskCounts = ReadonlyMap<string, number>;

function memberOf(
  member: AssignmentMember,
  topologyEpoch: number,
  { target, counts }: { readonly target: TasksByRole | undefined; readonly counts: TaskCounts },
): Written<Omit<CellMember, 'target'>> & { readonly target: object | undefined } {
  return {
    id: member.memberId,
    process: member.processId,
    instance: member.instanceId ?? undefined,
    rack: member.rackId ?? undefined,
    tags: unlessEmpty(tagsJson(member.clientTags)),
    stale: member.topologyEpoch === topologyEpoch ? undefined : true,
    active: tasksJson(member.active, counts),
    standby: tasksJson(member.standby, counts),
    warmup: tasksJson(member.warmup, counts),
    offsets: offsetsJson(member.taskOffsets, counts),
    endOffsets: offsetsJson(member.taskEndOffsets, counts),
    target: target && {
      active: tasksJson(target.active, counts),
      standby: tasksJson(target.standby, counts),
    },
  };
}

/** By key; of one key twice the first counts. */
function tagsJson(tags: readonly KeyValue[]): readonly (readonly [string, string])[] {
  return tags
    .filter(({ key }, at) => tags.findIndex((other) => other.key === key) === at)
    .map(({ key, value }) => [key, value] as const)
    .sort(([a], [b]) => byCodeUnits(a, b));
}

function tasksJson(list: TaskList, counts: TaskCounts): Partitions | undefined {
  return unlessEmpty(
    list
      .map(({ subtopologyId, partitions }) => {
        const count = counts.get(subtopologyId) ?? 0;
        return [subtopologyId, partitions.filter((each) => each >= 0 && each < count)] as const;
      })
      .filter(([, partitions]) => partitions.length > 0),
  );
}

function offsetsJson(reports: readonly TaskOffset[], counts: TaskCounts): Offsets | undefined {
  const bySubtopology = new Map<string, [partition: number, sum: number | string][]>();
  for (const { subtopologyId, partition, offset } of reports) {
    if (partition < 0 || partition >= (counts.get(subtopologyId) ?? 0) || offset < 0n) continue;
    const sums = bySubtopology.get(subtopologyId) ?? [];
    sums.push([partition, int64Json(offset)]);
    bySubtopology.set(subtopologyId, sums);
  }
  return unlessEmpty([...bySubtopology].map(([id, sums]) => [id, Object.fromEntries(sums)]));
}

function unlessEmpty<T>(
  fields: readonly (readonly [string, T])[],
): Readonly<Record<string, T>> | undefined {
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function int64Json(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);
}
