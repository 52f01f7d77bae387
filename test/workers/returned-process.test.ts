import { expect } from 'chai';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import type { TaskList, TaskOffset } from '../../machines/model/tasks.ts';
import {
  assignDirectly,
  eachTaskOnce,
  holdResult,
  assignmentMember as member,
  assignmentProblem as problem,
  tasks,
} from '../support/assignment.ts';
import { Chance } from '../support/assignment-scenario.ts';
import { referenceHighlyAvailable } from '../support/reference-highly-available.ts';
import { referenceSticky } from '../support/reference-sticky.ts';
import { seeds } from '../support/seeds.ts';

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

const REFERENCES = [
  ['sticky', referenceSticky],
  ['highly_available', referenceHighlyAvailable],
] as const;

function offsets(byName: Readonly<Record<string, bigint>>): TaskOffset[] {
  return Object.entries(byName).map(([name, offset]) => {
    const [subtopologyId = '', partition] = name.split('_');
    return { subtopologyId, partition: Number(partition), offset };
  });
}

/** A small group with much on disk, of which some members may be stale. */
function diskScenario(seed: number): AssignmentProblem {
  const chance = new Chance(seed);
  const partitions = Array.from({ length: chance.between(2, 9) }, (_, p) => p);
  const some = (share: number): number[] => partitions.filter(() => chance.isTrue(share));
  const [held, stale] = [chance.pick([0.1, 0.3]), chance.pick([0, 0.2])];
  const members = Array.from({ length: chance.between(2, 5) }, (_, process) =>
    Array.from({ length: chance.between(1, 3) }, (_, i) =>
      member(`m${process}-${i}`, {
        processId: `p${process}`,
        topologyEpoch: chance.isTrue(stale) ? 0 : 1,
        active: tasks({ 0: some(held) }),
        standby: tasks({ 0: some(held) }),
        warmup: tasks({ 0: some(stale) }),
        taskOffsets: offsets(
          Object.fromEntries(some(0.3).map((p) => [`0_${p}`, BigInt(chance.between(1, 9))])),
        ),
      }),
    ),
  ).flat();
  return eachTaskOnce(
    problem({
      subtopologies: [{ subtopologyId: '0', taskCount: partitions.length, stateful: true }],
      numStandbyReplicas: chance.pick([1, 1, 2]),
      members,
    }),
  );
}

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
  const onDisk = offsets(Object.fromEntries(disk.map((name) => [name, 1_000n])));
  const members = [...held.members, ...processOf(0, 1, onDisk)];
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

  it('takes a copy where a member that was full has room again, and gave one itself (H3)', () => {
    const before = problem({
      assignor: 'highly_available',
      numStandbyReplicas: 1,
      subtopologies: [
        { subtopologyId: '0', taskCount: 9, stateful: true },
        { subtopologyId: '1', taskCount: 2, stateful: true },
      ],
      members: [
        member('a', {
          processId: 'P9',
          standby: tasks({ 0: [6] }),
          taskOffsets: offsets({ '0_8': 934n, '1_1': 615n }),
        }),
        member('b', { processId: 'P2' }),
        member('c', { active: tasks({ 0: [2, 4, 7] }) }),
        member('d', { processId: 'P4', taskOffsets: offsets({ '0_6': 668n }) }),
        member('e', { processId: 'P3', active: tasks({ 0: [6] }) }),
        member('f', {
          processId: 'P9',
          standby: tasks({ 0: [7] }),
          warmup: tasks({ 0: [1] }),
          taskOffsets: offsets({ '0_0': 640n, '0_2': 673n }),
        }),
      ],
    });
    expect(assignDirectly(before)).to.deep.equal(referenceHighlyAvailable(before));
  });

  it('makes no room in a process by what a stale member of it gives up (2.1)', () => {
    const before = problem({
      numStandbyReplicas: 1,
      subtopologies: [{ subtopologyId: '0', taskCount: 4, stateful: true }],
      members: [
        member('a', {
          processId: 'A',
          active: tasks({ 0: [2] }),
          standby: tasks({ 0: [3] }),
          warmup: tasks({ 0: [0] }),
          taskOffsets: offsets({ '0_1': 7n }),
        }),
        member('b', { processId: 'A', active: tasks({ 0: [1] }), warmup: tasks({ 0: [2] }) }),
        member('c', {
          processId: 'B',
          topologyEpoch: 0,
          active: tasks({ 0: [0, 3] }),
          standby: tasks({ 0: [1] }),
          warmup: tasks({ 0: [2] }),
        }),
        member('d', { processId: 'C', taskOffsets: offsets({ '0_1': 2n, '0_2': 2n }) }),
      ],
    });
    expect(assignDirectly(before)).to.deep.equal(referenceSticky(before));
  });

  it('is given the same as by the reference, whoever holds something and is stale (P1, P9)', () => {
    for (const seed of seeds(400)) {
      const before = diskScenario(seed);
      for (const [assignor, reference] of REFERENCES) {
        const each = { ...before, assignor };
        expect(assignDirectly(each), `${assignor}, seed ${seed}`).to.deep.equal(reference(each));
      }
    }
  }).timeout(20_000);

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
