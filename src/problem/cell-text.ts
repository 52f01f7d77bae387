import {
  type AssignmentMember,
  type AssignmentProblem,
  type AssignmentQuestion,
  type GroupProblem,
  listMembers,
} from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import type { TaskList, TaskOffset, TasksByRole } from '../../machines/model/tasks.ts';
import type { KeyValue } from '../../machines/model/topology.ts';
import type { Cell, CellGroup, CellMember } from './cell.ts';

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
 * What an assignor leaves out is not written either: tasks and reports that the topology does not have, and positions below
 * zero, which no client can mean; an end below zero is written as zero, which is as near to any position. So an assignor
 * answers what is read back as it answers the problem.
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
    yield separator + memberText(member, problem.topologyEpoch, { target, counts });
    separator = ',';
  }
  yield ']}\n';
}

/** As {@link cellPieces}, from a group as it is: with what is installed, and each member looked up when its turn comes. */
export function groupPieces(
  problem: GroupProblem,
  { dump }: Pick<Cell, 'dump'>,
): Generator<string> {
  const { targets, group } = problem;
  const listed = { ...problem, members: listMembers(problem) };
  return cellPieces(listed, {
    ...(dump !== undefined && { dump }),
    ...(group !== undefined && {
      epoch: group.groupEpoch,
      assignmentEpoch: group.assignmentEpoch,
    }),
    targetOf: (memberId) => targets.get(memberId),
  });
}

/** All pieces together; for problems that are small, and where nothing else waits. */
export function cellText(problem: AssignmentProblem, about?: CellAbout): string {
  return [...cellPieces(problem, about)].join('');
}

/** So many characters are put together before everybody else has their turn. */
const PART_LENGTH = 16 * 1_024;

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

/**
 * A {@link CellMember}. Its text is put together here: an object with partitions for keys would take memory for all the
 * partitions below them.
 */
function memberText(
  member: AssignmentMember,
  topologyEpoch: number,
  { target, counts }: { readonly target: TasksByRole | undefined; readonly counts: TaskCounts },
): string {
  const { instanceId, rackId } = member;
  const fields: Readonly<Record<keyof CellMember, string | undefined>> = {
    id: JSON.stringify(member.memberId),
    process: JSON.stringify(member.processId),
    instance: instanceId === null ? undefined : JSON.stringify(instanceId),
    rack: rackId === null ? undefined : JSON.stringify(rackId),
    tags: objectText(tagFields(member.clientTags)),
    stale: member.topologyEpoch === topologyEpoch ? undefined : 'true',
    active: tasksText(member.active, counts),
    standby: tasksText(member.standby, counts),
    warmup: tasksText(member.warmup, counts),
    offsets: reportsText(member.taskOffsets, counts, 'leftOut'),
    endOffsets: reportsText(member.taskEndOffsets, counts, 'asZero'),
    target:
      target &&
      objectText([
        ['active', tasksText(target.active, counts)],
        ['standby', tasksText(target.standby, counts)],
      ]),
  };
  return objectText(Object.entries(fields)) ?? '{}';
}

type Field = readonly [key: string, text: string | undefined];

/** An object of fields that are text already; undefined when it would be empty. */
function objectText(fields: readonly Field[]): string | undefined {
  const written = fields
    .filter(([, text]) => text !== undefined)
    .map(([key, text]) => `${JSON.stringify(key)}:${text}`);
  return written.length === 0 ? undefined : `{${written.join(',')}}`;
}

/** By key; of one key twice the first counts. */
function tagFields(tags: readonly KeyValue[]): Field[] {
  return tags
    .filter(({ key }, at) => tags.findIndex((other) => other.key === key) === at)
    .map(({ key, value }) => [key, JSON.stringify(value)] as const)
    .sort(([a], [b]) => byCodeUnits(a, b));
}

function tasksText(list: TaskList, counts: TaskCounts): string | undefined {
  const fields = list.map(({ subtopologyId, partitions }): Field => {
    const count = counts.get(subtopologyId) ?? 0;
    const known = partitions.filter((each) => each >= 0 && each < count);
    return [subtopologyId, known.length === 0 ? undefined : `[${known.join(',')}]`];
  });
  return objectText(fields);
}

/** @param belowZero what becomes of a sum that is: an end may be one less than the position of an empty store. */
function reportsText(
  reports: readonly TaskOffset[],
  counts: TaskCounts,
  belowZero: 'leftOut' | 'asZero',
): string | undefined {
  const bySubtopology = new Map<string, TaskOffset[]>();
  for (const report of reports) {
    const { subtopologyId, partition, offset } = report;
    if (partition < 0 || partition >= (counts.get(subtopologyId) ?? 0)) continue;
    if (offset < 0n && belowZero === 'leftOut') continue;
    const known = bySubtopology.get(subtopologyId);
    if (known === undefined) bySubtopology.set(subtopologyId, [report]);
    else known.push(report);
  }
  const fields = [...bySubtopology].map(([id, known]): Field => [id, sumsText(known)]);
  return objectText(fields.sort(([a], [b]) => byCodeUnits(a, b)));
}

function sumsText(reports: TaskOffset[]): string | undefined {
  const fields = reports
    .sort((a, b) => a.partition - b.partition)
    .map(({ partition, offset }): Field => {
      return [String(partition), JSON.stringify(int64Json(offset < 0n ? 0n : offset))];
    });
  return objectText(fields);
}

function int64Json(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);
}
