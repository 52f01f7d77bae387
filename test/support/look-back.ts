import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import type { AssignmentFigures, MoveReason } from '../../machines/model/look-back.ts';
import { taskKey } from '../../machines/model/task-list.ts';
import type { TaskList } from '../../machines/model/tasks.ts';
import { encodeProblem, listResult, readLookBack, readResult } from '../../workers/problem.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import runAssignment from '../../workers/thread.ts';

/** A task that is new to a member. */
export type ToldMove = {
  readonly task: string;
  readonly role: 'active' | 'standby';
  readonly to: string;
  readonly why: MoveReason;
};

/** What a run made, what it says of it, and how it is measured. */
export type LookedBack = {
  readonly result: AssignmentResult;
  readonly figures: AssignmentFigures;
  readonly moves: readonly ToldMove[];
};

const buffers = new SharedBuffers();

/** Assigns on this thread and reads all that the run says of itself. Throws what is not an assignment. */
export function assignAndLookBack(problem: AssignmentProblem): LookedBack {
  const encoded = encodeProblem(problem, buffers);
  const outcome = runAssignment({ buffer: encoded.dense.buffer });
  if (outcome.status !== 'assigned') throw new Error(JSON.stringify(outcome));
  runAssignment({ buffer: encoded.dense.buffer, looksBack: true });
  const read = readResult(encoded);
  const lookBack = readLookBack(encoded, false);
  buffers.give(encoded.dense.buffer);
  const { memberIds, targets } = read;
  const moves = memberIds.flatMap((to, at) => {
    const { active = [], standby = [] } = targets.at(at) ?? {};
    const told = (
      role: ToldMove['role'],
      list: TaskList,
      reasonsIn: (subtopologyId: string) => (partition: number) => MoveReason | undefined,
    ) =>
      list.flatMap(({ subtopologyId, partitions }) => {
        const reasonOf = reasonsIn(subtopologyId);
        return partitions.flatMap((partition): ToldMove[] => {
          const why = reasonOf(partition);
          return why === undefined
            ? []
            : [{ task: taskKey(subtopologyId, partition), role, to, why }];
        });
      });
    const { reasons } = lookBack;
    return [
      ...told('active', active, (subtopologyId) => reasons.ofActives(subtopologyId)),
      ...told('standby', standby, (subtopologyId) => reasons.ofStandbys(to, subtopologyId)),
    ];
  });
  const key = ({ task, role, to }: ToldMove): string => `${task} ${role} ${to}`;
  return {
    result: listResult(problem, read),
    figures: lookBack.figures,
    moves: moves.sort((a, b) => (key(a) < key(b) ? -1 : 1)),
  };
}
