import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { hasTask, toTaskList } from '../../machines/model/task-list.ts';
import type { TaskIds } from '../../machines/model/tasks.ts';

type Task = { readonly subtopologyId: string; readonly partition: number };

/**
 * An assignor as the worked examples have it: everybody keeps its lowest active tasks up to an even share, the rest
 * is dealt in order; standbys go to the next process that has no copy. Members of another topology get nothing new,
 * standbys not at all. Small and plain, not clever.
 */
export function keepingAssignor(problem: AssignmentProblem): AssignmentResult {
  const { members } = problem;
  const tasks = problem.subtopologies.flatMap(({ subtopologyId, taskCount, stateful }) =>
    Array.from({ length: taskCount }, (_, partition) => ({ subtopologyId, partition, stateful })),
  );
  const share = Math.ceil(tasks.length / Math.max(1, members.length));
  const active: Task[][] = members.map(() => []);
  const standby: Task[][] = members.map(() => []);
  const homeless: Task[] = [];
  const isFresh = members.map((member) => member.topologyEpoch === problem.topologyEpoch);
  for (const task of tasks) {
    const at = members.findIndex((member) =>
      hasTask(member.active, task.subtopologyId, task.partition),
    );
    const mine = active[at];
    if (mine !== undefined && mine.length < share) mine.push(task);
    else homeless.push(task);
  }
  for (const task of homeless) {
    const takers = active.filter((_, at) => isFresh[at]);
    const least = Math.min(...takers.map((mine) => mine.length));
    takers.find((mine) => mine.length === least)?.push(task);
  }
  for (const task of tasks.filter(({ stateful }) => stateful)) {
    const owner = active.findIndex((mine) => mine.some((each) => sameTask(each, task)));
    const taken = new Set([members[owner]?.processId]);
    for (let copy = 0; copy < problem.numStandbyReplicas; copy++) {
      for (let step = 1; step < members.length; step++) {
        const at = (owner + step) % members.length;
        const processId = members[at]?.processId;
        if (taken.has(processId) || !isFresh[at]) continue;
        taken.add(processId);
        standby[at]?.push(task);
        break;
      }
    }
  }
  return {
    members: members.map((_, at) => ({
      active: listOf(active[at] ?? []),
      standby: listOf(standby[at] ?? []),
    })),
    unassigned: [],
  };
}

function sameTask(a: Task, b: Task): boolean {
  return a.subtopologyId === b.subtopologyId && a.partition === b.partition;
}

/** Tasks one by one as a list. */
export function listOf(tasks: readonly Task[]): readonly TaskIds[] {
  return toTaskList(
    tasks.map(({ subtopologyId, partition }) => ({ subtopologyId, partitions: [partition] })),
  );
}
