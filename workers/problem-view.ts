import type { AssignmentMember } from '../machines/model/assignment.ts';
import type { Candidate, Held, TaskNumbers } from './held.ts';

/** How an assignor looks at a problem: whom it takes of equals, and who may have state of a task. */
export type ProblemView = {
  /** In the order in which members get their numbers; also among the members of one process. */
  orderMembers(memberIds: readonly string[]): readonly string[];
  /** Each process once, in the order of their numbers. */
  orderProcesses(members: readonly AssignmentMember[]): readonly string[];
  gatherHeld(
    members: readonly AssignmentMember[],
    tasks: TaskNumbers,
    acceptableRecoveryLag: bigint,
  ): Held;
  /** Negative when the first is the better candidate. */
  byRank(a: Candidate, b: Candidate): number;
};
