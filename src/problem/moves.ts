import type { GroupResult } from '../../machines/model/assignment.ts';
import { byCodeUnits } from '../../machines/model/ids.ts';
import type { LookBack, MoveReason, MoveReasons } from '../../machines/model/look-back.ts';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
import type { TaskList } from '../../machines/model/tasks.ts';
import { type Cell, listOf } from './cell.ts';

/** A task that a result puts elsewhere. */
export type Move = {
  /** As people write it, `0_2`. */
  readonly task: string;
  readonly role: 'active' | 'standby';
  /** Who has it; null: nobody has. */
  readonly from: string | null;
  /** The one who has it left before. */
  readonly hasLeft: boolean;
  /** Who is to have it; null: nobody is. */
  readonly to: string | null;
  /** Null: nobody is to have it, or whoever assigned did not look back. */
  readonly reason: MoveReason | null;
  /** Why nobody is to have it; null: somebody is, or it cannot be said. */
  readonly dropped: DropReason | null;
  /** Who is to have it is so by the target that was kept with the problem. */
  readonly isUnderWay: boolean;
};

/**
 * Of an active task: `heldTwice` several members have it. Of a standby: `runsThere` its process is to have the task in another
 * role, or with another member; `stateless` the task has no state; `enoughCopies` there are as many standbys as there are to be;
 * `tooFewProcesses` there are not, since every process has a copy.
 */
export type DropReason =
  | 'heldTwice'
  | 'runsThere'
  | 'stateless'
  | 'enoughCopies'
  | 'tooFewProcesses';

/**
 * What a result changes of what members have, in the order of tasks, an active before its copies. Copies that go and
 * copies that come are put together in the order of members' ids; who left gives last. Warm-ups are no matter of a result.
 */
export function movesOf(
  cell: Cell,
  { memberIds, targets }: Pick<GroupResult, 'memberIds' | 'targets'>,
  lookBack?: LookBack,
): readonly Move[] {
  const placesAfter = (role: Move['role']) =>
    placesOf(memberIds.map((id, at) => [id, targets.at(at)?.[role] ?? []]));
  const result = { active: placesAfter('active'), standby: placesAfter('standby') };
  const dropReasonOf = dropReasonsOf(cell, result);
  const moves = (['active', 'standby'] as const).flatMap((role) => {
    const before = placesOf(cell.members.map((each) => [each.id, listOf(each[role])]));
    const left = placesOf((cell.departed ?? []).map((each) => [each.id, listOf(each[role])]));
    const planned = placesOf(cell.members.map((each) => [each.id, listOf(each.target?.[role])]));
    const after = result[role];
    return [...new Map([...before, ...left, ...after]).values()].flatMap((found) => {
      const { task, subtopologyId, partition } = found;
      const had = before.get(task)?.at ?? [];
      const has = after.get(task)?.at ?? [];
      const come = has.filter((id) => !had.includes(id));
      const gone = had.filter((id) => !has.includes(id));
      const givers = [
        ...gone.map((from) => ({ from, hasLeft: false })),
        ...(left.get(task)?.at ?? []).map((from) => ({ from, hasLeft: true })),
      ];
      return Array.from({ length: Math.max(givers.length, come.length) }, (_, at) => {
        const giver = givers[at] ?? { from: null, hasLeft: false };
        const to = come[at] ?? null;
        const reason = reasonOf(lookBack?.reasons, { role, to, subtopologyId, partition });
        const dropped =
          to === null ? dropReasonOf({ task, subtopologyId, role, from: giver.from }) : null;
        const isUnderWay = to !== null && planned.get(task)?.at.includes(to) === true;
        const move = { task, role, ...giver, to, reason, dropped, isUnderWay };
        return { subtopologyId, partition, move };
      });
    });
  });
  // The order of roles is kept.
  return inOrder(moves).map(({ move }) => move);
}

type TaskId = { readonly subtopologyId: string; readonly partition: number };

function inOrder<T extends TaskId>(items: readonly T[]): readonly T[] {
  return items.toSorted(
    (a, b) => byCodeUnits(a.subtopologyId, b.subtopologyId) || a.partition - b.partition,
  );
}

/** Active tasks that several members have, in the order of tasks; the members by id. */
export function contestedActives({
  members,
}: Cell): readonly { readonly task: string; readonly memberIds: readonly string[] }[] {
  const places = placesOf(members.map(({ id, active }) => [id, listOf(active)]));
  return inOrder([...places.values()].filter(({ at }) => at.length > 1)).map(({ task, at }) => ({
    task,
    memberIds: at,
  }));
}

function dropReasonsOf(
  { configs, topology, members, departed = [] }: Cell,
  result: Readonly<Record<Move['role'], ReadonlyMap<string, Place>>>,
): (
  dropped: Pick<Place, 'task' | 'subtopologyId'> & Pick<Move, 'role' | 'from'>,
) => DropReason | null {
  const processes = new Map([...departed, ...members].map(({ id, process }) => [id, process]));
  const withState = new Set(topology.filter(({ stateful }) => stateful).map(({ id }) => id));
  return ({ task, subtopologyId, role, from }) => {
    const owners = result.active.get(task)?.at ?? [];
    if (role === 'active') return owners.length > 0 ? 'heldTwice' : null;
    const standbys = result.standby.get(task)?.at ?? [];
    const process = processes.get(from ?? '');
    if ([...owners, ...standbys].some((id) => processes.get(id) === process)) return 'runsThere';
    if (!withState.has(subtopologyId)) return 'stateless';
    if (standbys.length >= (configs?.numStandbyReplicas ?? 0)) return 'enoughCopies';
    const having = new Set([...owners, ...standbys].map((id) => processes.get(id)));
    const isOnAll = members.every((each) => having.has(each.process));
    return isOnAll ? 'tooFewProcesses' : null;
  };
}

function reasonOf(
  reasons: MoveReasons | undefined,
  { role, to, subtopologyId, partition }: Pick<Move, 'role' | 'to'> & TaskId,
): MoveReason | null {
  if (reasons === undefined || to === null) return null;
  const ofTask =
    role === 'active' ? reasons.ofActives(subtopologyId) : reasons.ofStandbys(to, subtopologyId);
  return ofTask(partition) ?? null;
}

type Place = TaskId & { readonly task: string; readonly at: string[] };

/** Where tasks are, members in the order of their ids. */
function placesOf(
  lists: readonly (readonly [memberId: string, tasks: TaskList])[],
): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const [memberId, tasks] of lists.toSorted(([a], [b]) => byCodeUnits(a, b))) {
    forEachTask(tasks, (subtopologyId, partition) => {
      const task = taskKey(subtopologyId, partition);
      const place = places.get(task) ?? { task, subtopologyId, partition, at: [] };
      place.at.push(memberId);
      places.set(task, place);
    });
  }
  return places;
}
