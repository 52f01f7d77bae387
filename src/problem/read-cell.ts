import type { Cell, CellMember, Offsets, Partitions } from './cell.ts';
import {
  CellError,
  flag,
  int64,
  listOf,
  name,
  objectOf,
  optional,
  type Place,
  placeText,
  recordOf,
  shown,
  text,
  wholeNumber,
} from './shape.ts';

/** What is more is refused before it takes memory: a group of 10,000 members and 100,000 tasks needs about a tenth. */
export const CELL_BYTES_MAX = 64 * 1_024 * 1_024;
export const CELL_MEMBERS_MAX = 100_000;
export const CELL_TASKS_MAX = 1_000_000;
export const CELL_STANDBYS_MAX = 100;
/** Standbys of all tasks together. */
export const CELL_COPIES_MAX = 2_000_000;
export const TAG_KEYS_MAX = 100;
const INT32_MAX = 2 ** 31 - 1;
/** Some editors put it first. */
const BYTE_ORDER_MARK = /^\uFEFF/;

const partition = wholeNumber(0, CELL_TASKS_MAX - 1);
const partitions = recordOf(listOf(partition, CELL_TASKS_MAX));
const offsets = recordOf(recordOf(int64));
const epoch = wholeNumber(-1, INT32_MAX);
const tasksByRole = {
  active: optional(partitions),
  standby: optional(partitions),
  warmup: optional(partitions),
};

const member = objectOf<CellMember>({
  id: name,
  process: name,
  instance: optional(name),
  rack: optional(text),
  tags: optional(recordOf(text)),
  stale: optional(flag),
  ...tasksByRole,
  offsets: optional(offsets),
  endOffsets: optional(offsets),
  target: optional(objectOf({ active: optional(partitions), standby: optional(partitions) })),
});

const cell = objectOf<Cell>({
  cell: text,
  assignor: optional(name),
  configs: optional(
    objectOf({
      numStandbyReplicas: optional(wholeNumber(0, CELL_STANDBYS_MAX)),
      rackAwareAssignmentTags: optional(listOf(name, TAG_KEYS_MAX)),
      acceptableRecoveryLag: optional(int64),
      placeAsKafka: optional(flag),
    }),
  ),
  topology: listOf(
    objectOf({ id: name, tasks: wholeNumber(0, CELL_TASKS_MAX), stateful: optional(flag) }),
    CELL_TASKS_MAX,
  ),
  members: listOf(member, CELL_MEMBERS_MAX),
  previousBy: optional(text),
  departed: optional(
    listOf(objectOf({ id: name, process: name, ...tasksByRole }), CELL_MEMBERS_MAX),
  ),
  group: optional(
    objectOf({
      id: name,
      epoch: optional(epoch),
      assignmentEpoch: optional(epoch),
      topologyEpoch: optional(epoch),
    }),
  ),
  dump: optional(objectOf({ at: text, why: text, detail: optional(text), by: optional(text) })),
});

/**
 * Reads one cell, strictly.
 *
 * @param json at most {@link CELL_BYTES_MAX} long.
 * @throws {CellError} in one line, with the first place that is wrong and the value there: no JSON, a wrong type, an unknown
 *   field, a member or subtopology twice, a task that is not in the topology, an offset that is negative or no int64,
 *   a stale member where tasks are placed as Kafka does, more members or tasks than are taken.
 */
export function parseCell(json: string): Cell {
  if (json.length > CELL_BYTES_MAX) {
    throw new CellError(`It is ${json.length} characters long: wanted at most ${CELL_BYTES_MAX}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(json.replace(BYTE_ORDER_MARK, ''));
  } catch (cause) {
    // It shows a part of the text, whatever that is.
    const reason = String(cause).replaceAll(/\s+/g, ' ');
    throw new CellError(`It is not JSON: ${reason}`, { cause });
  }
  return readCell(value);
}

/** As {@link parseCell}, from what JSON holds. */
export function readCell(value: unknown): Cell {
  const read = cell(value, undefined);
  const taskCounts = countTasks(read);
  refuseTooManyCopies(read, taskCounts);
  refuseRepeats('members', read.members);
  refuseStaleToKafka(read);
  const each = (list: 'members' | 'departed') =>
    read[list]?.forEach((one, at) => {
      refuseUnknownTasks(one, { key: at, in: { key: list, in: undefined } }, taskCounts);
    });
  each('members');
  each('departed');
  return read;
}

function countTasks({ topology }: Cell): ReadonlyMap<string, number> {
  refuseRepeats('topology', topology);
  let total = 0;
  topology.forEach(({ tasks }, at) => {
    total += tasks;
    if (total > CELL_TASKS_MAX) {
      throw new CellError(`topology[${at}] makes ${total} tasks: wanted at most ${CELL_TASKS_MAX}`);
    }
  });
  return new Map(topology.map(({ id, tasks }) => [id, tasks]));
}

function refuseTooManyCopies(
  { configs, members }: Cell,
  taskCounts: ReadonlyMap<string, number>,
): void {
  const processes = new Set(members.map(({ process }) => process)).size;
  const copies = Math.max(0, Math.min(configs?.numStandbyReplicas ?? 0, processes - 1));
  const total = [...taskCounts.values()].reduce((sum, count) => sum + count * copies, 0);
  if (total > CELL_COPIES_MAX) {
    throw new CellError(
      `configs.numStandbyReplicas makes up to ${total} standbys: wanted at most ${CELL_COPIES_MAX}`,
    );
  }
}

function refuseRepeats(list: string, entries: readonly { readonly id: string }[]): void {
  const seen = new Map<string, number>();
  entries.forEach(({ id }, at) => {
    const before = seen.get(id);
    if (before !== undefined) {
      throw new CellError(
        `${list}[${at}].id is ${shown(id)}, as ${list}[${before}].id: wanted each once`,
      );
    }
    seen.set(id, at);
  });
}

/** Kafka's way gives new tasks to whoever is there, which the check of its result then refuses of a stale member (ASG-11). */
function refuseStaleToKafka({ configs, members }: Cell): void {
  const stale = configs?.placeAsKafka === true ? members.findIndex((each) => each.stale) : -1;
  if (stale === -1) return;
  throw new CellError(
    `members[${stale}].stale is true, as configs.placeAsKafka is: wanted one of them at most`,
  );
}

function refuseUnknownTasks(
  {
    active,
    standby,
    warmup,
    offsets: sums,
    endOffsets,
    target,
  }: Omit<CellMember, 'id' | 'process'>,
  place: Place,
  taskCounts: ReadonlyMap<string, number>,
): void {
  const at = (key: string): Place => ({ key, in: place });
  const lists = { active, standby, warmup };
  for (const [role, tasks] of Object.entries(lists)) refuseTasks(tasks, at(role), taskCounts);
  refuseReports(sums, at('offsets'), taskCounts);
  refuseReports(endOffsets, at('endOffsets'), taskCounts);
  for (const role of ['active', 'standby'] as const) {
    refuseTasks(target?.[role], { key: role, in: at('target') }, taskCounts);
  }
}

function refuseTasks(
  tasks: Partitions | undefined,
  place: Place,
  taskCounts: ReadonlyMap<string, number>,
): void {
  for (const [id, list] of Object.entries(tasks ?? {})) {
    const count = countOf(id, place, taskCounts);
    const seen = new Set<number>();
    list.forEach((one, at) => {
      const here = () => placeText({ key: at, in: { key: id, in: place } });
      if (one >= count) throw outOfRange(here(), one, count);
      if (seen.has(one)) throw new CellError(`${here()} is ${one}: wanted each partition once`);
      seen.add(one);
    });
  }
}

const PARTITION = /^(0|[1-9]\d{0,8})$/;

function refuseReports(
  reports: Offsets | undefined,
  place: Place,
  taskCounts: ReadonlyMap<string, number>,
): void {
  for (const [id, sums] of Object.entries(reports ?? {})) {
    const count = countOf(id, place, taskCounts);
    for (const key of Object.keys(sums)) {
      if (PARTITION.test(key) && Number(key) < count) continue;
      throw outOfRange(placeText({ key: id, in: place }), shown(key), count);
    }
  }
}

function countOf(id: string, place: Place, taskCounts: ReadonlyMap<string, number>): number {
  const count = taskCounts.get(id);
  if (count === undefined) {
    const wanted = 'wanted a subtopology of the topology';
    throw new CellError(`${placeText(place)} has ${shown(id)}: ${wanted}`);
  }
  return count;
}

function outOfRange(place: string, seen: number | string, count: number): CellError {
  return new CellError(`${place} has partition ${seen}: wanted 0 to ${count - 1}`);
}
