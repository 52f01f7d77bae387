import {
  type AssignmentProblem,
  type AssignmentQuestion,
  type AssignmentResult,
  type GroupProblem,
  type GroupResult,
  gatherProblem,
} from '../machines/model/assignment.ts';
import type { LookBack } from '../machines/model/look-back.ts';
import {
  listTasks,
  NumberedTargets,
  type TaskNumbering,
} from '../machines/model/numbered-tasks.ts';
import { ALGORITHMS, at } from './dense.ts';
import { EncodedGroup } from './encoded-group.ts';
import { readFigures } from './figures.ts';
import type { WrittenProblem } from './kept-buffer.ts';
import { NumberedReasons } from './numbered-reasons.ts';
import { kafkaView, ownView, type ProblemView } from './problem-view.ts';
import type { SharedBuffers } from './shared-buffers.ts';

/** A problem in numbers, and what it takes to read the result in words again. */
export type EncodedProblem = WrittenProblem & {
  readonly numbering: TaskNumbering;
  /** In the order of their numbers. */
  readonly memberIds: readonly string[];
  readonly installed: GroupResult['installed'];
  /** In the order of their keys. */
  readonly tags: readonly string[];
  /** See {@link EncodedGroup.offsets}; left out where nobody asks for them. */
  readonly candOffset?: Float64Array;
};

/** How the assignor asked for looks at problems. */
export function viewOf(question: AssignmentQuestion): ProblemView {
  return ALGORITHMS[algorithmOf(question)] === 'kafka_sticky' ? kafkaView : ownView;
}

/**
 * Writes a problem as dense arrays into one shared buffer, which the caller releases when no thread can touch it any
 * more. Everything that does not fit the topology is left out: tasks unknown or out of range, copies
 * and offsets of stateless tasks. Order of lists in the problem does not matter (section 8).
 *
 * Candidates are sorted, and judged caught up or not, by their exact sums before those become doubles.
 *
 * @param group that follows the problem and has read all of it.
 * @param withOffsets whether the sums themselves are wanted, for an assignor that is not ours.
 *
 * Source: assignors 4, 9.1, 9.2.
 */
export function writeProblem(
  group: EncodedGroup,
  problem: GroupProblem,
  buffers: SharedBuffers,
  withOffsets = false,
): EncodedProblem {
  const written = group.write(problem, algorithmOf(problem), buffers);
  const { rackAwareAssignmentTags: tags } = problem;
  return {
    ...written,
    numbering: group.numbers,
    memberIds: group.memberIds,
    installed: group.installed,
    tags,
    ...(withOffsets && { candOffset: group.offsets() }),
  };
}

/** A problem that nothing is kept of. Refuses two members of one id. */
export function encodeProblem(problem: AssignmentProblem, buffers: SharedBuffers): EncodedProblem {
  const gathered = gatherProblem(problem);
  const group = new EncodedGroup(viewOf(problem));
  group.follow(gathered);
  group.read();
  return writeProblem(group, gathered, buffers, true);
}

/** Copies the result out of the buffer; afterwards nothing refers to it. Lists are made when they are read. */
export function readResult(encoded: EncodedProblem): GroupResult {
  const { dense, numbering, memberIds, installed } = encoded;
  const actives = { start: dense.activeStart.slice(), tasks: dense.activeTask.slice() };
  const standbys = { start: dense.standbyStart.slice(), tasks: dense.standbyTask.slice() };
  const unassigned = new Int32Array(dense.size.tasks - at(actives.start, dense.size.members));
  let found = 0;
  for (let t = 0; found < unassigned.length && t < dense.size.tasks; t++) {
    if (at(dense.active, t) === -1) unassigned[found++] = t;
  }
  return {
    memberIds,
    installed,
    targets: new NumberedTargets(numbering, actives, standbys),
    unassigned: listTasks(numbering, unassigned, 0, found),
  };
}

/**
 * As {@link readResult}, after the thread has looked back.
 *
 * @param isByModule a user's own assignor placed the tasks.
 */
export function readLookBack(
  { dense, numbering, memberIds, tags }: EncodedProblem,
  isByModule: boolean,
): LookBack {
  return {
    figures: readFigures(dense, tags),
    reasons: new NumberedReasons({
      numbering,
      memberIds,
      standbys: { start: dense.standbyStart.slice(), tasks: dense.standbyTask.slice() },
      activeCodes: dense.activeReason.slice(),
      standbyCodes: dense.standbyReason.slice(),
      isByModule,
    }),
  };
}

/** The result for a problem that was given member by member, in that order. */
export function listResult(problem: AssignmentProblem, result: GroupResult): AssignmentResult {
  const targets = new Map(
    result.memberIds.map((memberId, at) => [memberId, result.targets.at(at)]),
  );
  return {
    members: problem.members.map(({ memberId }) => {
      const { active = [], standby = [] } = targets.get(memberId) ?? {};
      return { active, standby };
    }),
    unassigned: result.unassigned,
  };
}

/** Kafka's own placement is that of its sticky; the other assignors are ours in both profiles. */
function algorithmOf({ assignor, placeAsKafka }: AssignmentQuestion): number {
  const name = placeAsKafka === true && assignor === 'sticky' ? 'kafka_sticky' : assignor;
  return Math.max(0, (ALGORITHMS as readonly string[]).indexOf(name));
}
