// An assignor of one's own, in full: docs/own-assignor.md tells how to use it.

/** @import { Assignor, Member, Task } from 'headgate/assignor' */

/**
 * Tasks with state go to members whose client tag `disk` is `nvme`, as long as there are any. Beyond that a task goes to a member
 * that is not full, rather to one that has it already, then to one whose copy is caught up, then to the one with the least to do.
 * It looks at every member for every task: enough for some hundreds of each.
 *
 * @type {Assignor}
 */
export default function nvmeFirst({ tasks, members, standbysPerTask }) {
  const share = Math.ceil(tasks.length / members.length);
  /** @type {Map<string, { active: string[], standby: string[] }>} */
  const assignment = new Map(
    members.map(({ memberId }) => [memberId, { active: [], standby: [] }]),
  );

  /** What counts when a member is chosen, the most important first; the smallest wins. */
  const ranks = (/** @type {Task} */ task, /** @type {Member} */ member) => {
    const { active = [], standby = [] } = assignment.get(member.memberId) ?? {};
    const copy = task.copies.find(({ memberId }) => memberId === member.memberId);
    return [
      task.stateful && member.clientTags.disk !== 'nvme' ? 1 : 0,
      active.length >= share ? 1 : 0,
      task.activeOn === member.memberId ? 0 : copy?.caughtUp ? 1 : copy ? 2 : 3,
      active.length + standby.length,
    ];
  };

  /** Chooses a member outside these processes, if there is one. */
  const place = (
    /** @type {Task} */ task,
    /** @type {'active' | 'standby'} */ role,
    /** @type {Set<string>} */ processes,
  ) => {
    const able = members.filter(
      (member) =>
        !processes.has(member.processId) &&
        (member.takesNewTasks || member[role].includes(task.taskId)),
    );
    if (able.length === 0) return;
    const best = able.reduce((a, b) => (compare(ranks(task, a), ranks(task, b)) <= 0 ? a : b));
    processes.add(best.processId);
    assignment.get(best.memberId)?.[role].push(task.taskId);
  };

  // Those with state first: they are the ones that are dear to move.
  const ordered = [
    ...tasks.filter((task) => task.stateful),
    ...tasks.filter((task) => !task.stateful),
  ];
  const processesOf = new Map(tasks.map(({ taskId }) => [taskId, new Set()]));
  for (const task of ordered) place(task, 'active', processesOf.get(task.taskId) ?? new Set());
  for (const task of ordered.filter(({ stateful }) => stateful)) {
    for (let i = 0; i < standbysPerTask; i++) {
      place(task, 'standby', processesOf.get(task.taskId) ?? new Set());
    }
  }
  return assignment;
}

/** Lists of numbers by their first difference. */
function compare(/** @type {number[]} */ a, /** @type {number[]} */ b) {
  for (const [i, rank] of a.entries()) if (rank !== b[i]) return rank - (b[i] ?? 0);
  return 0;
}
