import { expect } from 'chai';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import type { TaskList, TaskOffset } from '../../machines/model/tasks.ts';
import {
  assignDirectly,
  holdResult,
  assignmentMember as member,
  assignmentProblem as problem,
  tasks,
} from '../support/assignment.ts';
import { referenceSticky } from '../support/reference-sticky.ts';

const PROCESSES = 8;
const PER_PROCESS = 4;
const TASKS = 160;

/** The members of a process in one of its lives: other ids, the same disk, of which the first tells. */
function processOf(number: number, life: number, disk: readonly TaskOffset[] = []) {
  return Array.from({ length: PER_PROCESS }, (_, i) =>
    member(`p${number}-${i}-life-${life}`, {
      processId: `p${number}`,
      taskOffsets: i === 0 ? disk : [],
    }),
  );
}

const namesOf = (list: TaskList): string[] =>
  list.flatMap(({ subtopologyId, partitions }) => partitions.map((p) => `${subtopologyId}_${p}`));

/** Which process has each task in a role. */
function placesOf(
  { members }: AssignmentProblem,
  rolesOf: (index: number) => TaskList,
): Map<string, string> {
  return new Map(
    members.flatMap(({ processId }, i) =>
      namesOf(rolesOf(i)).map((name): [string, string] => [name, processId]),
    ),
  );
}

/** A group whose process 0 left, whose tasks the others took, and that has come back with its disk. */
function comeBack(): { readonly before: AssignmentProblem; readonly disk: ReadonlySet<string> } {
  let held = problem({
    subtopologies: ['0', '1'].map((subtopologyId) => ({
      subtopologyId,
      taskCount: TASKS / 2,
      stateful: true,
    })),
    members: Array.from({ length: PROCESSES }, (_, p) => processOf(p, 0)).flat(),
    numStandbyReplicas: 1,
  });
  held = holdResult(held, assignDirectly(held));
  const leaving = held.members.filter((m) => m.processId === 'p0');
  const disk = leaving.flatMap((m) => [...namesOf(m.active), ...namesOf(m.standby)]);
  held = { ...held, members: held.members.filter((m) => m.processId !== 'p0') };
  held = holdResult(held, assignDirectly(held));
  const offsets = disk.map((name): TaskOffset => {
    const [subtopologyId = '', partition] = name.split('_');
    return { subtopologyId, partition: Number(partition), offset: 1_000n };
  });
  const members = [...held.members, ...processOf(0, 1, offsets)];
  return { before: { ...held, members }, disk: new Set(disk) };
}

describe('a process that comes back with its disk (assignors Q9)', () => {
  it('takes the task of a sibling where the member above its share has none that lies there', () => {
    // b comes back with the state of 0_0 alone, which a1 holds; a2 is the one above its share.
    const before = problem({
      subtopologies: [{ subtopologyId: '0', taskCount: 3, stateful: true }],
      members: [
        member('a1', { processId: 'A', active: tasks({ 0: [0] }) }),
        member('a2', { processId: 'A', active: tasks({ 0: [1, 2] }) }),
        member('b1', {
          processId: 'B',
          taskOffsets: [{ subtopologyId: '0', partition: 0, offset: 7n }],
        }),
      ],
    });
    expect(assignDirectly(before).members.map(({ active }) => namesOf(active))).to.deep.equal([
      ['0_1'],
      ['0_2'],
      ['0_0'],
    ]);
    expect(assignDirectly(before)).to.deep.equal(referenceSticky(before));
  });

  it('finds the state of every active that it gets, and of as many standbys as can be', () => {
    const { before, disk } = comeBack();
    const result: AssignmentResult = assignDirectly(before);
    const active = placesOf(before, (i) => result.members[i]?.active ?? []);
    const standby = placesOf(before, (i) => result.members[i]?.standby ?? []);
    const activeBefore = placesOf(before, (i) => before.members[i]?.active ?? []);
    const standbyBefore = placesOf(before, (i) => before.members[i]?.standby ?? []);

    const actives = [...active].filter(([, processId]) => processId === 'p0');
    expect(actives.length).to.equal(TASKS / PROCESSES);
    expect(actives.filter(([name]) => !disk.has(name))).to.deep.equal([]);

    // Standbys of tasks that have moved stay with who ran them. Of the others a process gives away what it has above its
    // share; it could give more only if it gave away a copy that nobody had, while it keeps one that lies on the disk.
    const settled = [...standby].filter(([name]) => active.get(name) === activeBefore.get(name));
    const givenForNothing = settled.filter(
      ([name, processId]) =>
        processId !== standbyBefore.get(name) && !(processId === 'p0' && disk.has(name)),
    );
    const keptThoughOnDisk = settled.filter(
      ([name, processId]) => processId === standbyBefore.get(name) && disk.has(name),
    );
    const givers = new Set(givenForNothing.map(([name]) => standbyBefore.get(name)));
    expect(keptThoughOnDisk.filter(([, processId]) => givers.has(processId))).to.deep.equal([]);
    const warm = [...standby].filter(([name, processId]) => processId === 'p0' && disk.has(name));
    expect(warm.length).to.equal(TASKS / PROCESSES);
    expect(result).to.deep.equal(referenceSticky(before));
  });
});
