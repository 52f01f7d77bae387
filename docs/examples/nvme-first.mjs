// An assignor of one's own, in full: docs/own-assignor.md tells how to use it.

/** @import { Assignor, Member, Task } from 'headgate/assignor' */

/**
 * Tasks with state go to members whose client tag `disk` is `nvme`, as long as there are any. Beyond that a task goes to a member
 * that is not full, rather to one that has it already, then to one whose copy is caught up, then to the one with the least to do.
 * Standbys stay where they are before others are placed: a member that comes gets those that its elders have too many of.
 * It looks at every member for every task: enough for some hundreds of each.
 *
 * @type {Assignor}
 */
export default function nvmeFirst({ tasks, members, standbysPerTask }) {
  const withState = tasks.filter((task) => task.stateful);
  const share = {
    active: Math.ceil(tasks.length / members.length),
    standby: Math.ceil((withState.length * standbysPerTask) / members.length),
  };
  /** @type {Map<string, { active: string[], standby: string[] }>} */
  const assignment = new Map(
    members.map(({ memberId }) => [memberId, { active: [], standby: [] }]),
  );
  /** @type {Map<string, Set<string>>} */
  const processesOf = new Map(tasks.map(({ taskId }) => [taskId, new Set()]));

  /** What counts when a member is chosen, the most important first; the smallest wins. */
  const ranks = (
    /** @type {Task} */ task,
    /** @type {'active' | 'standby'} */ role,
    /** @type {Member} */ member,
  ) => {
    const given = assignment.get(member.memberId) ?? { active: [], standby: [] };
    const copy = task.copies.find(({ memberId }) => memberId === member.memberId);
    return [
      task.stateful && member.clientTags.disk !== 'nvme' ? 1 : 0,
      given[role].length >= share[role] ? 1 : 0,
      task.activeOn === member.memberId ? 0 : copy?.caughtUp ? 1 : copy ? 2 : 3,
      given.active.length + given.standby.length,
    ];
  };

  /** Chooses a member outside the processes that have the task, if there is one among these. */
  const place = (
    /** @type {Task} */ task,
    /** @type {'active' | 'standby'} */ role,
    /** @type {(member: Member) => boolean} */ isMeant,
  ) => {
    const processes = processesOf.get(task.taskId);
    const able = members.filter(
      (member) =>
        isMeant(member) &&
        !processes?.has(member.processId) &&
        (member.takesNewTasks || member[role].includes(task.taskId)),
    );
    const [first] = able;
    if (first === undefined) return;
    const better = (/** @type {Member} */ a, /** @type {Member} */ b) =>
      compare(ranks(task, role, a), ranks(task, role, b)) <= 0 ? a : b;
    const best = able.reduce(better, first);
    processes?.add(best.processId);
    assignment.get(best.memberId)?.[role].push(task.taskId);
  };

  // Those with state first: they are the ones that are dear to move.
  for (const task of withState) place(task, 'active', () => true);
  for (const task of tasks) if (!task.stateful) place(task, 'active', () => true);

  const isShortOf = (/** @type {Task} */ task) =>
    (processesOf.get(task.taskId)?.size ?? 0) < 1 + standbysPerTask;
  for (let i = 0; i < standbysPerTask; i++) {
    for (const task of withState) {
      place(task, 'standby', (member) => {
        const [slow, full] = ranks(task, 'standby', member);
        return member.standby.includes(task.taskId) && slow === 0 && full === 0;
      });
    }
  }
  for (let i = 0; i < standbysPerTask; i++) {
    for (const task of withState) if (isShortOf(task)) place(task, 'standby', () => true);
  }
  return assignment;
}

/** Lists of numbers by their first difference. */
function compare(/** @type {number[]} */ a, /** @type {number[]} */ b) {
  for (const [i, rank] of a.entries()) if (rank !== b[i]) return rank - (b[i] ?? 0);
  return 0;
}
