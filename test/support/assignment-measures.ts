import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { assignDirectly, assignmentMember } from './assignment.ts';

/** The result by member id, whatever the order of the problem's list. */
export function byMember(problem: AssignmentProblem): object {
  const { members, unassigned } = assignDirectly(problem);
  const named = problem.members.map(({ memberId }, i) => [memberId, members[i]] as const);
  return { unassigned, members: new Map(named.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

function statefulKeys(
  problem: AssignmentProblem,
  active: AssignmentResult['members'][number]['active'],
): string[] {
  const counts = new Map(
    problem.subtopologies.map((s) => [s.subtopologyId, s.stateful ? s.taskCount : 0]),
  );
  return active.flatMap(({ subtopologyId, partitions }) =>
    partitions
      .filter((partition) => partition < (counts.get(subtopologyId) ?? 0))
      .map((partition) => `${subtopologyId}_${partition}`),
  );
}

/** Stateful actives that are not on the member that holds them. */
export function statefulMoves(held: AssignmentProblem, result: AssignmentResult): number {
  return held.members.reduce((moves, member, i) => {
    const now = new Set(statefulKeys(held, result.members[i]?.active ?? []));
    return moves + statefulKeys(held, member.active).filter((task) => !now.has(task)).length;
  }, 0);
}

/** Moves above the lower bound of assignors 3. */
export function excessStatefulMoves(held: AssignmentProblem, result: AssignmentResult): number {
  const before = held.members.map((m) => statefulKeys(held, m.active).length).sort((a, b) => b - a);
  const total = held.subtopologies.reduce((n, s) => n + (s.stateful ? s.taskCount : 0), 0);
  const floor = Math.floor(total / before.length);
  const extra = total % before.length;
  const keepable = before.reduce(
    (n, count, i) => n + Math.min(count, floor + (i < extra ? 1 : 0)),
    0,
  );
  return statefulMoves(held, result) - (sum(before) - keepable);
}

/** Actives of each member. */
export function countActives(
  problem: AssignmentProblem,
  result: AssignmentResult,
  statefulOnly: boolean,
): number[] {
  return result.members.map(({ active }) =>
    statefulOnly
      ? statefulKeys(problem, active).length
      : active.reduce((n, { partitions }) => n + partitions.length, 0),
  );
}

export function spread(counts: readonly number[]): number {
  return Math.max(...counts) - Math.min(...counts);
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Nothing but actives is held, each by one member, and nobody is stale. */
export function withActivesOnly(problem: AssignmentProblem): AssignmentProblem {
  const taken = new Set<string>();
  return {
    ...problem,
    members: problem.members.map(({ memberId, processId, active }) => ({
      ...assignmentMember(memberId, { processId }),
      active: active
        .map(({ subtopologyId, partitions }) => ({
          subtopologyId,
          partitions: partitions.filter((partition) => {
            const task = `${subtopologyId}_${partition}`;
            return taken.has(task) ? false : taken.add(task);
          }),
        }))
        .filter(({ partitions }) => partitions.length > 0),
    })),
  };
}

/** The largest spread of a subtopology's actives over members, above what its number of tasks makes necessary (Q3). */
export function subtopologyExcess(problem: AssignmentProblem, result: AssignmentResult): number {
  return Math.max(
    0,
    ...problem.subtopologies.map(({ subtopologyId, taskCount }) => {
      const counts = result.members.map(
        ({ active }) =>
          active.find((each) => each.subtopologyId === subtopologyId)?.partitions.length ?? 0,
      );
      return spread(counts) - (taskCount % counts.length === 0 ? 0 : 1);
    }),
  );
}
