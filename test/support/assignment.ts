import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../../machines/model/assignment.ts';
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
