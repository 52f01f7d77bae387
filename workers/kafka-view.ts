import type { AssignmentMember } from '../machines/model/assignment.ts';
import { byCodeUnits } from '../machines/model/ids.ts';
import { CANDIDATE } from './dense.ts';
import { type Candidate, forEachTask, type Held, type TaskNumbers } from './held.ts';
import { computeIfAbsentOrder, hashMapOrder } from './java-collections.ts';
import type { ProblemView } from './problem-view.ts';

/**
 * A problem as the sticky assignor of Apache Kafka 4.4.0 looks at it. Members and processes come in the order of its hash
 * maps. Where two member ids fall into one bin Kafka has them in the order of another map, which depends on the
 * group's past; here they come by id.
 */
export const kafkaView: ProblemView = {
  orderMembers: (memberIds) => hashMapOrder(memberIds.toSorted(byCodeUnits)),
  orderProcesses: (members) => computeIfAbsentOrder(members.map(({ processId }) => processId)),
  gatherHeld: gatherAsKafka,
  byRank: (a, b) => a.role - b.role || Number(offsetOf(b) - offsetOf(a)),
};

/** Standbys, and whoever reports an offset, also of a task it runs itself; a warm-up counts only by its offset. */
function gatherAsKafka(members: readonly AssignmentMember[], tasks: TaskNumbers): Held {
  const prevActive = new Int32Array(tasks.count).fill(-1);
  const candidates: Candidate[] = [];
  members.forEach((member, m) => {
    forEachTask(member.active, tasks, false, (task) => {
      prevActive[task] = m;
    });
    const offsets = new Map<number, bigint>();
    for (const { subtopologyId, partition, offset } of member.taskOffsets) {
      const list = [{ subtopologyId, partitions: [partition] }];
      forEachTask(list, tasks, false, (task) => offsets.set(task, offset));
    }
    const add = (task: number, role: number): void => {
      candidates.push({ task, member: m, role, offset: offsets.get(task), caughtUp: false });
      offsets.delete(task);
    };
    forEachTask(member.standby, tasks, false, (task) => add(task, CANDIDATE.standby));
    for (const task of [...offsets.keys()]) add(task, CANDIDATE.disk);
  });
  return { prevActive, candidates };
}

function offsetOf({ offset }: Candidate): bigint {
  return offset ?? 0n;
}
