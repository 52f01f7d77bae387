import { byCodeUnits } from '../machines/model/ids.ts';
import type { Copy, Member, MemberTasks, Problem, Process, Task } from './assignor-api.d.ts';
import { at, CANDIDATE, type Dense, isSet, openDense } from './dense.ts';
import type { MemberNames, ModuleQuestion } from './module-question.ts';
import type { Placement } from './placement.ts';

const ROLES = Object.fromEntries(
  Object.entries({
    standby: CANDIDATE.standby,
    warmup: CANDIDATE.warmup,
    disk: CANDIDATE.disk,
    active: CANDIDATE.secondActive,
  } satisfies Record<Copy['role'], number>).map(([role, number]) => [number, role]),
) as Readonly<Record<number, Copy['role']>>;

/** A question in the words of the API, and what it takes to read the answer in numbers. */
export type ModuleProblem = {
  readonly problem: Problem;
  readonly dense: Dense;
  /** By dense number; kept apart from the problem, which its author may have put in another order by now. */
  readonly memberIds: readonly string[];
  /** Of each member. */
  readonly processIds: readonly string[];
  readonly taskIds: readonly string[];
};

/** Puts a question into the words of the API. */
export function readQuestion(question: ModuleQuestion): ModuleProblem {
  const buffer = new SharedArrayBuffer(question.dense.byteLength);
  new Uint8Array(buffer).set(question.dense);
  const dense = openDense(buffer);
  const tasks = tasksOf(question, dense);
  const { size } = dense;
  return {
    problem: {
      groupId: question.groupId,
      tasks,
      members: membersOf(question, dense, tasks),
      processes: processesOf(question),
      standbysPerTask: size.slots,
      rackAwareAssignmentTags: question.rackAwareAssignmentTags,
    },
    dense,
    memberIds: question.members.map(({ memberId }) => memberId),
    processIds: question.members.map(({ processId }) => processId),
    taskIds: tasks.map(({ taskId }) => taskId),
  };
}

function tasksOf(question: ModuleQuestion, dense: Dense): readonly Task[] {
  const { subtopologyIds, members } = question;
  const { size, base, subtopologyOf, stateful, prevActive } = dense;
  return Array.from({ length: size.tasks }, (_, t) => {
    const s = at(subtopologyOf, t);
    const subtopologyId = subtopologyIds[s] ?? '';
    const partition = t - at(base, s);
    return {
      taskId: `${subtopologyId}_${partition}`,
      subtopologyId,
      partition,
      stateful: isSet(stateful, s),
      activeOn: members[at(prevActive, t)]?.memberId ?? null,
      copies: copiesOf(question, dense, t),
    };
  });
}

function copiesOf(
  { members, candOffset }: ModuleQuestion,
  dense: Dense,
  t: number,
): readonly Copy[] {
  const { candStart, candMember, candRole, candCaughtUp } = dense;
  const copies: Copy[] = [];
  for (let c = at(candStart, t); c < at(candStart, t + 1); c++) {
    const member = members[at(candMember, c)];
    const role = ROLES[candRole[c] as number];
    if (member === undefined || role === undefined) continue;
    const offset = candOffset[c] as number;
    copies.push({
      memberId: member.memberId,
      processId: member.processId,
      role,
      caughtUp: isSet(candCaughtUp, c),
      // Infinity stands for "not started", -1 for "not reported".
      offset: offset === Number.POSITIVE_INFINITY ? 0 : offset < 0 ? null : offset,
    });
  }
  return copies;
}

function membersOf(
  { members }: ModuleQuestion,
  dense: Dense,
  tasks: readonly Task[],
): readonly Member[] {
  const held = new Map(
    members.map(({ memberId }) => [memberId, { active: [] as string[], standby: [] as string[] }]),
  );
  for (const { taskId, activeOn, copies } of tasks) {
    if (activeOn !== null) held.get(activeOn)?.active.push(taskId);
    for (const { memberId, role } of copies) {
      if (role === 'standby') held.get(memberId)?.standby.push(taskId);
    }
  }
  return members
    .map(({ clientTags, ...member }, m) => ({
      ...member,
      clientTags: Object.fromEntries(clientTags.map(({ key, value }) => [key, value])),
      takesNewTasks: !isSet(dense.frozen, m),
      active: held.get(member.memberId)?.active ?? [],
      standby: held.get(member.memberId)?.standby ?? [],
    }))
    .sort((a, b) => byCodeUnits(a.memberId, b.memberId));
}

function processesOf({ members }: ModuleQuestion): readonly Process[] {
  const byProcess = new Map<string, MemberNames[]>();
  for (const member of members) {
    const own = byProcess.get(member.processId);
    if (own === undefined) byProcess.set(member.processId, [member]);
    else own.push(member);
  }
  return [...byProcess]
    .map(([processId, own]) => ({
      processId,
      memberIds: own.map(({ memberId }) => memberId).sort(byCodeUnits),
    }))
    .sort((a, b) => byCodeUnits(a.processId, b.processId));
}

/**
 * Reads what an author's assignor returned.
 *
 * @throws `Error` whose message tells the author, in the names of the problem, what is wrong with it. What only stale members
 *   can get wrong is left for the checker to find.
 */
export function readAssignment(value: unknown, question: ModuleProblem): Placement {
  const { dense, memberIds, taskIds } = question;
  const { size, stateful, subtopologyOf } = dense;
  const memberNumbers = new Map(memberIds.map((memberId, m) => [memberId, m]));
  const taskNumbers = new Map(taskIds.map((taskId, t) => [taskId, t]));
  const active = new Int32Array(size.tasks).fill(-1);
  const standby = new Int32Array(size.tasks * size.slots).fill(-1);
  for (const [memberId, tasks] of entriesOf(value)) {
    const member = memberNumbers.get(memberId as string);
    if (member === undefined) throw new Error(`No member is called ${show(memberId)}`);
    if (!isObject(tasks)) {
      throw new Error(
        `Tasks of member "${memberId}" are ${show(tasks)}, wanted { active, standby }`,
      );
    }
    const unknown = Object.keys(tasks).find((key) => !LISTS.has(key));
    if (unknown !== undefined) {
      throw new Error(
        `${show(unknown)} of member "${memberId}" is not known: wanted only ${[...LISTS].join(', ')}`,
      );
    }
    const lists: MemberTasks = tasks;
    for (const t of numbersOf(lists.active, `active of member "${memberId}"`, taskNumbers)) {
      const other = memberIds[at(active, t)];
      if (other !== undefined) {
        throw new Error(`Task ${taskIds[t]} is active on both "${other}" and "${memberId}"`);
      }
      active[t] = member;
    }
    for (const t of numbersOf(lists.standby, `standby of member "${memberId}"`, taskNumbers)) {
      if (!isSet(stateful, at(subtopologyOf, t))) {
        throw new Error(`Task ${taskIds[t]} has no state, so it can have no standby`);
      }
      const place = standby.indexOf(-1, t * size.slots);
      if (place === -1 || place >= (t + 1) * size.slots) {
        throw new Error(`Task ${taskIds[t]} has more than ${size.slots} standbys`);
      }
      standby[place] = member;
    }
  }
  const placement = { active, standby };
  refuseIncomplete(placement, question);
  return placement;
}

const LISTS: ReadonlySet<string> = new Set(['active', 'standby'] satisfies (keyof MemberTasks)[]);

/** Refuses tasks that are nowhere, twice on a process, or short of standbys. */
function refuseIncomplete({ active, standby }: Placement, question: ModuleProblem): void {
  const { dense, memberIds, processIds, taskIds } = question;
  const { size, frozen, procOf, stateful, subtopologyOf } = dense;
  const anyFresh = frozen.includes(0);
  const allFresh = !frozen.includes(1);
  for (const [t, taskId] of taskIds.entries()) {
    const owner = at(active, t);
    if (owner === -1 && anyFresh) throw new Error(`Task ${taskId} is active on no member`);
    const holders = owner === -1 ? [] : [owner];
    for (const member of standby.subarray(t * size.slots, (t + 1) * size.slots)) {
      if (member === -1) continue;
      const other = holders.find((holder) => at(procOf, holder) === at(procOf, member));
      if (other !== undefined) {
        const role = other === owner ? 'active' : 'standby';
        throw new Error(
          `Task ${taskId} is twice on process "${processIds[member]}": ${role} on "${memberIds[other]}" and standby on "${memberIds[member]}"`,
        );
      }
      holders.push(member);
    }
    const isStateful = isSet(stateful, at(subtopologyOf, t));
    const standbys = holders.length - (owner === -1 ? 0 : 1);
    if (isStateful && allFresh && standbys < size.slots) {
      throw new Error(`Task ${taskId} has ${standbys} standbys, wanted ${size.slots}`);
    }
  }
}

function entriesOf(value: unknown): Iterable<readonly [unknown, unknown]> {
  if (value instanceof Map) return value.entries();
  if (isObject(value) && !Array.isArray(value)) return Object.entries(value);
  throw new Error(`It returned ${show(value)}, wanted a Map or an object by member id`);
}

/** The tasks of a list as numbers; none where the list is left out. What is no task is told before that there are too many. */
function numbersOf(
  list: unknown,
  name: string,
  taskNumbers: ReadonlyMap<unknown, number>,
): readonly number[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw new Error(`List ${name} is ${show(list)}, wanted an array`);
  const numbers: number[] = [];
  for (const taskId of list as readonly unknown[]) {
    const t = taskNumbers.get(taskId);
    if (t === undefined) throw new Error(`List ${name} names ${show(taskId)}, which is no task`);
    if (numbers.length === taskNumbers.size) {
      throw new Error(
        `List ${name} has ${list.length} entries; there are ${taskNumbers.size} tasks`,
      );
    }
    numbers.push(t);
  }
  return numbers;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const SHOWN_MAX = 100;

/** A value in a few characters, whatever it is. */
function show(value: unknown): string {
  const text =
    typeof value === 'string'
      ? JSON.stringify(value.slice(0, SHOWN_MAX))
      : isObject(value)
        ? Array.isArray(value)
          ? 'an array'
          : 'an object'
        : String(value);
  return text.slice(0, SHOWN_MAX);
}
