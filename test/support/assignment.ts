import type { AssignorPort } from '../../actors/ports.ts';
import {
  type AssignmentMember,
  type AssignmentProblem,
  type AssignmentResult,
  gatherProblem,
} from '../../machines/model/assignment.ts';
import { subtractTasks } from '../../machines/model/task-list.ts';
import type { TaskList } from '../../machines/model/tasks.ts';
import { encodeProblem, listResult, readResult } from '../../workers/problem.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import runAssignment from '../../workers/thread.ts';

/** A task list in few words: `0:[0,1] 1:[3]` is `{ '0': [0, 1], '1': [3] }`. */
export function tasks(bySubtopology: Readonly<Record<string, readonly number[]>>): TaskList {
  return Object.entries(bySubtopology).map(([subtopologyId, partitions]) => ({
    subtopologyId,
    partitions,
  }));
}

/** A member of process P1 that holds and reports nothing, with what is said otherwise. */
export function assignmentMember(
  memberId: string,
  overrides: Partial<AssignmentMember> = {},
): AssignmentMember {
  return {
    memberId,
    instanceId: null,
    rackId: null,
    processId: 'P1',
    clientTags: [],
    topologyEpoch: 1,
    active: [],
    standby: [],
    warmup: [],
    taskOffsets: [],
    taskEndOffsets: [],
    ...overrides,
  };
}

/** A problem without tasks and members, with what is said otherwise; the group's topology epoch is 1. */
export function assignmentProblem(overrides: Partial<AssignmentProblem> = {}): AssignmentProblem {
  return {
    groupId: 'g',
    assignor: 'sticky',
    topologyEpoch: 1,
    subtopologies: [],
    members: [],
    numStandbyReplicas: 0,
    acceptableRecoveryLag: 10_000n,
    rackAwareAssignmentTags: [],
    ...overrides,
  };
}

const buffers = new SharedBuffers();

/** Assigns on this thread, through the very steps a pool takes; buffers come back dirty. Throws what is not an assignment. */
export function assignDirectly(problem: AssignmentProblem): AssignmentResult {
  const encoded = encodeProblem(problem, buffers);
  const { buffer } = encoded.dense;
  try {
    const outcome = runAssignment({ buffer });
    if (outcome.status !== 'assigned') throw new Error(JSON.stringify(outcome));
    return listResult(problem, readResult(encoded));
  } finally {
    buffers.give(buffer);
  }
}

/** A problem's way through a pool, or what stands for one, member by member at both ends. */
export async function assign(
  port: Pick<AssignorPort, 'assign'>,
  problem: AssignmentProblem,
  options: { readonly deadlineMs: number },
): Promise<AssignmentResult> {
  return listResult(problem, await port.assign(gatherProblem(problem), options));
}

/** The problem after its result took effect: what was assigned is what is held. */
export function holdResult(
  problem: AssignmentProblem,
  result: AssignmentResult,
): AssignmentProblem {
  return {
    ...problem,
    members: problem.members.map((member, i) => ({
      ...member,
      active: result.members[i]?.active ?? [],
      standby: result.members[i]?.standby ?? [],
      warmup: [],
    })),
  };
}

/** The problem without what makes no sense: nobody claims an active of another member, nor a copy of its own active. */
export function eachTaskOnce(problem: AssignmentProblem): AssignmentProblem {
  return {
    ...problem,
    members: problem.members.map((member, i) => ({
      ...member,
      active: problem.members
        .slice(0, i)
        .reduce((left: TaskList, { active }) => subtractTasks(left, active), member.active),
      standby: subtractTasks(member.standby, member.active),
      warmup: subtractTasks(member.warmup, member.active),
    })),
  };
}
