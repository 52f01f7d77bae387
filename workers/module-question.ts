import { serialize } from 'node:v8';
import type { AssignmentHolder, GroupProblem } from '../machines/model/assignment.ts';
import type { KeyValue } from '../machines/model/topology.ts';
import { denseBytes } from './dense.ts';
import type { EncodedProblem } from './problem.ts';

/** What the process of an assignor module is asked: a problem in numbers, and the names they stand for. */
export type ModuleQuestion = {
  /** A copy of the problem's buffer: nothing done to it reaches anybody. */
  readonly dense: Uint8Array;
  readonly groupId: string;
  /** By dense number. */
  readonly subtopologyIds: readonly string[];
  /** By dense number. */
  readonly members: readonly MemberNames[];
  readonly rackAwareAssignmentTags: readonly string[];
};

export type MemberNames = {
  readonly memberId: string;
  readonly processId: string;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly clientTags: readonly KeyValue[];
};

/** The question as bytes. The one copy of the problem is made here. */
export function writeQuestion(problem: GroupProblem, encoded: EncodedProblem): Buffer {
  const { buffer, size } = encoded.dense;
  const question: ModuleQuestion = {
    dense: new Uint8Array(buffer, 0, denseBytes(size)).slice(),
    groupId: problem.groupId,
    subtopologyIds: encoded.numbering.subtopologyIds,
    members: encoded.memberIds.map((memberId) => namesOf(problem.members.get(memberId))),
    rackAwareAssignmentTags: problem.rackAwareAssignmentTags,
  };
  return serialize(question);
}

function namesOf(member: AssignmentHolder | undefined): MemberNames {
  if (member === undefined) throw new Error('Cannot ask assignor module: a member has no name');
  const { memberId, processId, instanceId, rackId, clientTags } = member;
  return { memberId, processId, instanceId, rackId, clientTags };
}
