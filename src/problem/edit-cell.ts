import type { Cell, CellMember, Offsets, Partitions } from './cell.ts';
import { readCell } from './read-cell.ts';
import { CellError } from './shape.ts';

/** What if: changes of a problem, carried out in this order. */
export type CellEdits = {
  readonly assignor?: string | undefined;
  readonly standbys?: number | undefined;
  readonly tags?: readonly string[] | undefined;
  /** int64, as a cell has it. */
  readonly lag?: number | string | undefined;
  /** New task counts; what is held or reported of tasks that go, goes with them. */
  readonly tasks?: readonly { readonly id: string; readonly tasks: number }[];
  readonly removeProcesses?: readonly string[];
  readonly removeMembers?: readonly string[];
  readonly addMembers?: readonly NewMember[];
};

/** Who is not named gets a new name; without tags of its own it gets those of its process, if that is there. */
export type NewMember = {
  readonly id?: string | undefined;
  readonly process?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
};

/**
 * The cell after the changes; itself without any. Members that are taken away are `departed` in it.
 *
 * @throws {CellError} what is to be changed is not there, who is to come is there, or the outcome is no cell any more.
 */
export function editCell(cell: Cell, edits: CellEdits): Cell {
  const { assignor, standbys, tags, lag } = edits;
  let edited: Cell = {
    ...cell,
    ...(assignor !== undefined && { assignor }),
    configs: {
      ...cell.configs,
      ...(standbys !== undefined && { numStandbyReplicas: standbys }),
      ...(tags !== undefined && { rackAwareAssignmentTags: tags }),
      ...(lag !== undefined && { acceptableRecoveryLag: lag }),
    },
  };
  for (const { id, tasks } of edits.tasks ?? []) edited = withTaskCount(edited, id, tasks);
  for (const process of edits.removeProcesses ?? []) {
    edited = without(
      edited,
      (each) => each.process === process,
      `the problem has no process "${process}"`,
    );
  }
  for (const id of edits.removeMembers ?? []) {
    edited = without(edited, (each) => each.id === id, `the problem has no member "${id}"`);
  }
  for (const added of edits.addMembers ?? []) edited = withMember(edited, added);
  return readCell(edited);
}

function withTaskCount(cell: Cell, id: string, tasks: number): Cell {
  if (!cell.topology.some((each) => each.id === id)) {
    throw new CellError(`Cannot change tasks: the problem has no subtopology "${id}"`);
  }
  const cut = (member: CellMember): CellMember => withoutTasksFrom(member, id, tasks);
  return {
    ...cell,
    topology: cell.topology.map((each) => (each.id === id ? { ...each, tasks } : each)),
    members: cell.members.map(cut),
    ...(cell.departed !== undefined && { departed: cell.departed.map(cut) }),
  };
}

/** Takes away what a member has of a subtopology from a partition on. */
function withoutTasksFrom(member: CellMember, id: string, from: number): CellMember {
  const partitions = <K extends string>(holder: { readonly [F in K]?: Partitions }, key: K) =>
    holder[key] === undefined ? {} : { [key]: cutPartitions(holder[key], id, from) };
  const sums = (key: 'offsets' | 'endOffsets') =>
    member[key] === undefined ? {} : { [key]: cutOffsets(member[key], id, from) };
  const { target } = member;
  return {
    ...member,
    ...partitions(member, 'active'),
    ...partitions(member, 'standby'),
    ...partitions(member, 'warmup'),
    ...sums('offsets'),
    ...sums('endOffsets'),
    ...(target !== undefined && {
      target: { ...partitions(target, 'active'), ...partitions(target, 'standby') },
    }),
  };
}

function cutPartitions(tasks: Partitions, id: string, from: number): Partitions {
  return mapField(tasks, id, (list) => list.filter((partition) => partition < from));
}

function cutOffsets(offsets: Offsets, id: string, from: number): Offsets {
  return mapField(offsets, id, (sums) =>
    Object.fromEntries(Object.entries(sums).filter(([partition]) => Number(partition) < from)),
  );
}

function mapField<T>(
  record: Readonly<Record<string, T>>,
  id: string,
  change: (value: T) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, key === id ? change(value) : value]),
  );
}

function without(cell: Cell, goes: (member: CellMember) => boolean, otherwise: string): Cell {
  const gone = cell.members.filter(goes);
  if (gone.length === 0) throw new CellError(`Cannot remove: ${otherwise}`);
  const left = gone.map(({ id, process, active, standby, warmup }) => ({
    id,
    process,
    ...(active !== undefined && { active }),
    ...(standby !== undefined && { standby }),
    ...(warmup !== undefined && { warmup }),
  }));
  return {
    ...cell,
    members: cell.members.filter((member) => !goes(member)),
    departed: [...(cell.departed ?? []), ...left],
  };
}

function withMember(cell: Cell, { id, process, tags: ownTags }: NewMember): Cell {
  const { members } = cell;
  if (id !== undefined && members.some((each) => each.id === id)) {
    throw new CellError(`Cannot add member "${id}": the problem has it already`);
  }
  const ids = new Set(members.map((each) => each.id));
  const processes = new Set(members.map((each) => each.process));
  const ofOwn = id ?? freeName('member-new', ids);
  const at = process ?? freeName(`process-of-${ofOwn}`, processes);
  const tags = ownTags ?? members.find((each) => each.process === at)?.tags;
  const added: CellMember = { id: ofOwn, process: at, ...(tags !== undefined && { tags }) };
  return { ...cell, members: [...members, added] };
}

/** The name itself, or with the first number that makes it new. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}
