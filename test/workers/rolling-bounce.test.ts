import { expect } from 'chai';
import type { AssignmentMember, AssignmentProblem } from '../../machines/model/assignment.ts';
import type { TaskList, TaskOffset } from '../../machines/model/tasks.ts';
import {
  assignDirectly,
  holdResult,
  assignmentMember as member,
  assignmentProblem as problem,
} from '../support/assignment.ts';
import {
  countActives,
  excessStatefulMoves,
  range,
  spread,
} from '../support/assignment-measures.ts';

const PER_PROCESS = 3;
const ZONES = ['a', 'b', 'c', 'd', 'e'];
const SUBTOPOLOGIES = ['0', '1', '2', '3'].map((subtopologyId, s) => ({
  subtopologyId,
  taskCount: 30,
  stateful: s % 2 === 0,
}));

/** A process of a zone in one of its lives: other member ids, the same disk. */
function processOf(zone: string, life: number, disk: readonly TaskOffset[]): AssignmentMember[] {
  return ['1', '2'].flatMap((number) =>
    Array.from({ length: PER_PROCESS }, (_, i) =>
      member(`${zone}${number}-${i}-life-${life}`, {
        processId: `${zone}${number}`,
        clientTags: [{ key: 'zone', value: zone }],
        // One of them tells of all that lies on the disk.
        taskOffsets: i === 0 ? disk.filter((_, at) => at % 2 === Number(number) - 1) : [],
      }),
    ),
  );
}

const statefulTasks = (list: TaskList): string[] =>
  list.flatMap(({ subtopologyId, partitions }) =>
    Number(subtopologyId) % 2 === 0 ? partitions.map((p) => `${subtopologyId}_${p}`) : [],
  );

for (const assignor of ['sticky', 'highly_available'] as const) {
  describe(`a rolling bounce under ${assignor} (assignors Q1, Q9, Q11)`, () => {
    it('loses no last copy with tags set, stays even, and who comes back finds its state', () => {
      let held = problem({
        assignor,
        subtopologies: SUBTOPOLOGIES,
        members: ZONES.flatMap((zone) => processOf(zone, 0, [])),
        numStandbyReplicas: 1,
        rackAwareAssignmentTags: ['zone'],
      });
      held = holdResult(held, assignDirectly(held));
      for (let wave = 1; wave <= 10; wave++) {
        const zone = ZONES[wave % ZONES.length] as string;
        const isLeaving = (m: AssignmentMember) => m.processId.startsWith(zone);
        const copies = held.members
          .filter((m) => !isLeaving(m))
          .flatMap(({ active, standby }) => statefulTasks([...active, ...standby]));
        expect(new Set(copies).size, `wave ${wave}: tasks with a copy left`).to.equal(60);
        const disk = held.members
          .filter(isLeaving)
          .flatMap(({ active, standby }) => statefulTasks([...active, ...standby]))
          .map((task): TaskOffset => {
            const [subtopologyId = '', partition] = task.split('_');
            return { subtopologyId, partition: Number(partition), offset: 1_000n };
          });
        held = { ...held, members: held.members.filter((m) => !isLeaving(m)) };
        held = holdResult(held, assignDirectly(held));

        const back = processOf(zone, wave, disk);
        held = { ...held, members: [...held.members, ...back] };
        const result = assignDirectly(held);
        expect(spread(countActives(held, result, true)), 'Q1').to.be.at.most(1);
        const known = new Set(disk.map((each) => `${each.subtopologyId}_${each.partition}`));
        const returned = held.members.flatMap((m, i) =>
          isLeaving(m) ? statefulTasks(result.members[i]?.active ?? []) : [],
        );
        const cold = returned.filter((task) => !known.has(task));
        expect(cold, `wave ${wave}: tasks that came back without their state`).to.deep.equal([]);
        held = holdResult(held, result);
      }
    });
  });
}

describe('a rolling bounce without tags (assignors Q1, Q2, Q4a, Q7x, Q9)', () => {
  it('gives who comes back all that lies on its disks, in either role, and nobody else anything to build', () => {
    const subtopologies = range(0, 9).map((s) => ({
      subtopologyId: String(s),
      taskCount: 40,
      stateful: s % 2 === 0,
    }));
    const membersOf = (process: number, life: number, disk: readonly string[] = []) =>
      range(0, 3).map((i) =>
        member(`p${process}-${i}-life-${life}`, {
          processId: `p${process}`,
          taskOffsets: disk
            .filter((_, at) => at % 4 === i)
            .map((task) => {
              const [subtopologyId = '', partition] = task.split('_');
              return { subtopologyId, partition: Number(partition), offset: 1_000n };
            }),
        }),
      );
    let held = problem({
      subtopologies,
      members: range(0, 9).flatMap((process) => membersOf(process, 0)),
      numStandbyReplicas: 1,
    });
    held = holdResult(held, assignDirectly(held));
    for (let wave = 1; wave <= 5; wave++) {
      const leaving = [2 * wave - 2, 2 * wave - 1];
      const isLeaving = (m: AssignmentMember) => leaving.some((p) => m.processId === `p${p}`);
      const copiesOf = (m: AssignmentMember) => statefulTasks([...m.active, ...m.standby]);
      const disks = leaving.map((p) =>
        held.members.filter((m) => m.processId === `p${p}`).flatMap(copiesOf),
      );
      held = { ...held, members: held.members.filter((m) => !isLeaving(m)) };
      held = holdResult(held, assignDirectly(held));
      const back = leaving.flatMap((p, i) => membersOf(p, wave, disks[i]));
      held = { ...held, members: [...held.members, ...back] };
      const result = assignDirectly(held);
      const settled = holdResult(held, result);

      expect(spread(countActives(held, result, true)), 'Q1').to.equal(0);
      expect(spread(countActives(held, result, false)), 'Q2').to.equal(0);
      expect(excessStatefulMoves(held, result), 'Q7x').to.equal(0);
      const tasksOf = (each: AssignmentProblem, processId: string) =>
        new Set(each.members.filter((m) => m.processId === processId).flatMap(copiesOf));
      const found = leaving.map((p, i) => {
        const tasks = tasksOf(settled, `p${p}`);
        return (disks[i] ?? []).filter((task) => tasks.has(task)).length;
      });
      expect(found, `wave ${wave}: found of ${SHARE} each`).to.deep.equal([SHARE, SHARE]);
      const built = range(0, 9)
        .filter((p) => !leaving.includes(p))
        .flatMap((p) => {
          const before = tasksOf(held, `p${p}`);
          return [...tasksOf(settled, `p${p}`)].filter((task) => !before.has(task));
        });
      expect(built, `wave ${wave}: built elsewhere`).to.deep.equal([]);
      held = settled;
    }
  });
});

/** Copies of stateful tasks that each of ten processes has: 200 tasks, each with one standby. */
const SHARE = 40;
