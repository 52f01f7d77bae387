import type { AssignmentHolder, TaskReports } from '../machines/model/assignment.ts';
import { byCodeUnits } from '../machines/model/ids.ts';
import { computeIfAbsentOrder, hashMapOrder } from './java-collections.ts';
import type { MemberReader, MemberTasks } from './member-tasks.ts';

/** Something with an id that is told from all others by it. */
export type Identified = { readonly id: string };

/** The items of `before` without those that are gone, and those that were added, in order. */
export type Order = <T extends Identified>(
  before: readonly T[],
  added: readonly T[],
  gone: ReadonlySet<T>,
) => readonly T[];

/** How an assignor looks at a problem: whom it takes of equals, and who may have state of a task. */
export type ProblemView = {
  /** Orders members for their numbers. */
  readonly order: Order;
  /** Orders the members of one process; left out, they come in the order of their numbers. */
  readonly orderWithin?: <T extends Identified>(items: readonly T[]) => readonly T[];
  /** Orders processes for their numbers, from those of the members in their order; left out, they are ordered as members are. */
  readonly orderProcesses?: <T extends Identified>(ofMembers: readonly T[]) => readonly T[];
  read(
    reader: MemberReader,
    member: AssignmentHolder,
    reports: TaskReports,
    acceptableRecoveryLag: bigint,
  ): MemberTasks;
  /** Of two members that claim one active task the first one has it, and the other is a candidate; else the last. */
  readonly firstClaimCounts: boolean;
  /** What the sum "not started" is worth when candidates are ranked: the larger sum is the better. */
  readonly notStarted: number;
};

/**
 * Everything by id; of equals the smaller number is taken everywhere, so the first id is preferred. "Not started" counts as
 * nothing.
 *
 * Source: assignors 4, section 7.
 */
export const ownView: ProblemView = {
  order: mergeById,
  read: (reader, member, reports, lag) => reader.read(member, reports, lag),
  firstClaimCounts: true,
  notStarted: 0,
};

/**
 * As the sticky assignor of Apache Kafka 4.4.0 looks at it. Members and processes come in the order of its hash maps. Where
 * two member ids fall into one bin Kafka has them in the order of another map, which depends on the group's past;
 * here they come by id.
 */
export const kafkaView: ProblemView = {
  order: (before, added, gone) =>
    orderById([...before.filter((item) => !gone.has(item)), ...added], (ids) =>
      hashMapOrder(ids.toSorted(byCodeUnits)),
    ),
  orderWithin: (items) => orderById(items, (ids) => hashMapOrder(ids.toSorted(byCodeUnits))),
  orderProcesses: (ofMembers) => orderById(ofMembers, computeIfAbsentOrder),
  read: (reader, member, reports) => reader.readAsKafka(member, reports),
  firstClaimCounts: false,
  notStarted: Infinity,
};

function mergeById<T extends Identified>(
  before: readonly T[],
  added: readonly T[],
  gone: ReadonlySet<T>,
): readonly T[] {
  const changes = [...added, ...gone].sort((a, b) => byCodeUnits(a.id, b.id));
  const merged: T[] = [];
  let from = 0;
  for (const item of changes) {
    const to = firstFrom(before, item.id, from);
    for (; from < to; from++) merged.push(before[from] as T);
    if (gone.has(item)) from++;
    else merged.push(item);
  }
  for (; from < before.length; from++) merged.push(before[from] as T);
  return merged;
}

/** The place of the first one whose id is not smaller. */
function firstFrom(items: readonly Identified[], id: string, from: number): number {
  let low = from;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle] as Identified).id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The items as their ids are ordered, each id once. */
function orderById<T extends Identified>(
  items: readonly T[],
  order: (ids: readonly string[]) => readonly string[],
): readonly T[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return order(items.map(({ id }) => id)).map((id) => byId.get(id) as T);
}
