import { deserialize, serialize } from 'node:v8';
import type { AssignmentHolder, GroupProblem } from '../machines/model/assignment.ts';
import { invariant } from '../machines/model/refusal.ts';
import type { KeyValue } from '../machines/model/topology.ts';
import { denseBytes } from './dense.ts';
import type { EncodedProblem } from './problem.ts';

/** What the process of an assignor module is asked: a problem in numbers, and the names they stand for. */
export type ModuleQuestion = {
  /** A copy of the problem's buffer: nothing done to it reaches anybody. */
  readonly dense: Uint8Array;
  /** What the candidates report: the sum of their offsets, -1 unknown, Infinity not started. */
  readonly candOffset: Float64Array;
  readonly groupId: string;
  /** By dense number. */
  readonly subtopologyIds: readonly string[];
  /** By dense number. */
  readonly members: readonly MemberNames[];
  readonly rackAwareAssignmentTags: readonly string[];
};

export type MemberNames = Pick<
  AssignmentHolder,
  'memberId' | 'processId' | 'instanceId' | 'rackId' | 'clientTags'
>;

/** How a question travels: the members as columns, which are written ten times as fast as an object for each. */
type Written = Omit<ModuleQuestion, 'members'> & {
  readonly memberIds: readonly string[];
  readonly processIds: readonly string[];
  readonly instanceIds: readonly (string | null)[];
  readonly rackIds: readonly (string | null)[];
  /** Key and value in turn, member by member. */
  readonly tagWords: readonly string[];
  /** How many of these words each member has. */
  readonly tagCounts: Int32Array;
};

/** The question as bytes. The one copy of the problem is made here. */
export function writeQuestion(problem: GroupProblem, encoded: EncodedProblem): Buffer {
  const { memberIds, candOffset } = encoded;
  invariant(candOffset !== undefined, 'a problem for a module is written with its offsets');
  const { buffer, size } = encoded.dense;
  const processIds: string[] = [];
  const instanceIds: (string | null)[] = [];
  const rackIds: (string | null)[] = [];
  const tagWords: string[] = [];
  const tagCounts = new Int32Array(memberIds.length);
  memberIds.forEach((memberId, m) => {
    const member = memberOf(problem, memberId);
    processIds.push(member.processId);
    instanceIds.push(member.instanceId);
    rackIds.push(member.rackId);
    for (const { key, value } of member.clientTags) tagWords.push(key, value);
    tagCounts[m] = member.clientTags.length * 2;
  });
  const written: Written = {
    dense: new Uint8Array(buffer, 0, denseBytes(size)).slice(),
    candOffset,
    groupId: problem.groupId,
    subtopologyIds: encoded.numbering.subtopologyIds,
    rackAwareAssignmentTags: problem.rackAwareAssignmentTags,
    memberIds,
    processIds,
    instanceIds,
    rackIds,
    tagWords,
    tagCounts,
  };
  return serialize(written);
}

/** What {@link writeQuestion} wrote. */
export function parseQuestion(bytes: Uint8Array): ModuleQuestion {
  const { memberIds, processIds, instanceIds, rackIds, tagWords, tagCounts, ...question } =
    deserialize(bytes) as Written;
  let word = 0;
  return {
    ...question,
    members: memberIds.map((memberId, m) => {
      const clientTags: KeyValue[] = [];
      for (const end = word + (tagCounts[m] ?? 0); word < end; word += 2) {
        clientTags.push({ key: tagWords[word] ?? '', value: tagWords[word + 1] ?? '' });
      }
      return {
        memberId,
        processId: processIds[m] ?? '',
        instanceId: instanceIds[m] ?? null,
        rackId: rackIds[m] ?? null,
        clientTags,
      };
    }),
  };
}

function memberOf({ members }: GroupProblem, memberId: string): AssignmentHolder {
  const member = members.get(memberId);
  if (member === undefined) throw new Error(`Cannot ask assignor module: no member "${memberId}"`);
  return member;
}
