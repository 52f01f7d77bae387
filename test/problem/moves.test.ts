import { expect } from 'chai';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
import type { TaskList } from '../../machines/model/tasks.ts';
import { type Cell, listOf } from '../../src/problem/cell.ts';
import { cellText } from '../../src/problem/cell-text.ts';
import { movesOf } from '../../src/problem/moves.ts';
import { parseCell } from '../../src/problem/read-cell.ts';
import { assignDirectly, tasks } from '../support/assignment.ts';
import { forEachState } from '../support/assignment-scenario.ts';

const topology = [
  { id: '10', tasks: 2, stateful: true },
  { id: '2', tasks: 2, stateful: true },
];
const unsaid = { reason: null, dropped: null, isUnderWay: false };
const member = (id: string, active: object, standby: object = {}) => ({
  id,
  process: id,
  active: active as Record<string, number[]>,
  standby: standby as Record<string, number[]>,
});

/** Members a, b and so on, with these tasks. */
function resultOf(tasksOf: readonly { readonly active: TaskList; readonly standby: TaskList }[]) {
  return {
    memberIds: tasksOf.map((_, at) => 'abc'.charAt(at)),
    targets: tasksOf.map((each) => ({ ...each, warmup: [] })),
  };
}

describe('movesOf()', () => {
  it('names what leaves whom and comes to whom, in the order of tasks', () => {
    const cell: Cell = {
      cell: 'c',
      topology,
      members: [
        member('a', { '10': [0], '2': [0, 1] }),
        member('b', {}, { '10': [0], '2': [0] }),
        member('c', {}, { '2': [1] }),
      ],
    };
    const result = resultOf([
      { active: tasks({ '10': [0] }), standby: tasks({ '2': [0] }) },
      { active: tasks({ '2': [0] }), standby: tasks({ '10': [0] }) },
      { active: tasks({ '10': [1] }), standby: tasks({ '2': [1] }) },
    ]);
    const moves = movesOf(cell, result);
    expect(moves.map(({ task, role, from, to }) => [task, role, from, to])).to.deep.equal([
      ['10_1', 'active', null, 'c'],
      ['2_0', 'active', 'a', 'b'],
      ['2_0', 'standby', 'b', 'a'],
      ['2_1', 'active', 'a', null],
    ]);
  });

  it('says why nobody is to have a task, if it can be said', () => {
    const cell: Cell = {
      cell: 'c',
      configs: { numStandbyReplicas: 1 },
      topology,
      members: [
        { ...member('a', { '10': [0, 1] }, { '2': [1] }), process: 'p' },
        member('b', { '10': [0], '2': [0, 1] }, { '10': [1] }),
        { ...member('c', {}, { '10': [0, 1], '2': [0] }), process: 'p' },
      ],
    };
    const result = resultOf([
      { active: tasks({ '10': [0] }), standby: [] },
      { active: tasks({ '2': [0] }), standby: tasks({ '10': [0, 1] }) },
      { active: [], standby: [] },
    ]);
    const dropped = movesOf(cell, result).map((move) => [
      move.task,
      move.role,
      move.from,
      move.dropped,
    ]);
    expect(dropped).to.deep.equal([
      ['10_0', 'active', 'b', 'heldTwice'],
      ['10_0', 'standby', 'c', null],
      ['10_1', 'active', 'a', null],
      ['10_1', 'standby', 'c', 'enoughCopies'],
      ['2_0', 'standby', 'c', null],
      ['2_1', 'active', 'b', null],
      ['2_1', 'standby', 'a', null],
    ]);
  });

  it('says of a standby that nobody is to have whether any could', () => {
    const pair = (numStandbyReplicas: number, ...gone: string[]): Cell => {
      const all = [
        { ...member('a', { '10': [0, 1] }), process: 'p' },
        { ...member('b', {}, { '10': [0] }), process: 'p' },
        member('c', {}, { '10': [1], '3': [0] }),
      ];
      return {
        cell: 'c',
        configs: { numStandbyReplicas },
        topology: [...topology, { id: '3', tasks: 1 }],
        members: all.filter(({ id }) => !gone.includes(id)),
        departed: all.filter(({ id }) => gone.includes(id)),
      };
    };
    const alone = { active: tasks({ '10': [0, 1] }), standby: [] };
    const none = { active: [], standby: [] };
    const dropped = (cell: Cell) =>
      movesOf(cell, resultOf([alone, none, none])).map((move) => [
        move.task,
        move.from,
        move.dropped,
      ]);
    expect(dropped(pair(1, 'c'))).to.deep.equal([
      ['10_0', 'b', 'runsThere'],
      ['10_1', 'c', 'tooFewProcesses'],
      ['3_0', 'c', 'stateless'],
    ]);
    expect(dropped(pair(0))).to.deep.equal([
      ['10_0', 'b', 'runsThere'],
      ['10_1', 'c', 'enoughCopies'],
      ['3_0', 'c', 'stateless'],
    ]);
    // A process could have it: whoever assigned left it out.
    expect(dropped(pair(1))[1]).to.deep.equal(['10_1', 'c', null]);
  });

  it('says what the target kept with the problem has already', () => {
    const cell: Cell = {
      cell: 'c',
      topology,
      members: [
        member('a', { '10': [0] }),
        { ...member('b', {}), target: { active: { '10': [0, 1] }, standby: { '2': [0] } } },
      ],
    };
    const result = resultOf([
      { active: tasks({ '10': [1] }), standby: tasks({ '2': [0] }) },
      { active: tasks({ '10': [0], '2': [0] }), standby: [] },
    ]);
    const underWay = movesOf(cell, result).map(({ task, to, isUnderWay }) => [
      task,
      to,
      isUnderWay,
    ]);
    expect(underWay).to.deep.equal([
      ['10_0', 'b', true],
      ['10_1', 'a', false],
      ['2_0', 'b', false],
      ['2_0', 'a', false],
    ]);
  });

  it('lets who left give last, and says what of it nobody is to have', () => {
    const cell: Cell = {
      cell: 'c',
      topology,
      members: [member('a', { '2': [0] }), member('b', {})],
      departed: [member('z', { '2': [0, 1] }, { '10': [0, 1] })],
    };
    const result = resultOf([
      { active: tasks({ '2': [0] }), standby: tasks({ '10': [0] }) },
      { active: tasks({ '2': [1] }), standby: [] },
    ]);
    expect(movesOf(cell, result)).to.deep.equal([
      { task: '10_0', role: 'standby', from: 'z', hasLeft: true, to: 'a', ...unsaid },
      {
        ...{ task: '10_1', role: 'standby', from: 'z', hasLeft: true, to: null },
        ...{ ...unsaid, dropped: 'enoughCopies' },
      },
      {
        ...{ task: '2_0', role: 'active', from: 'z', hasLeft: true, to: null },
        ...{ ...unsaid, dropped: 'heldTwice' },
      },
      { task: '2_1', role: 'active', from: 'z', hasLeft: true, to: 'b', ...unsaid },
    ]);
  });

  it('turns what is held into the result, whatever is held', () => {
    for (let seed = 0; seed < 60; seed++) {
      forEachState(seed, 'small', (scenario) => {
        const { problem } = scenario;
        const result = assignDirectly(problem);
        const cell = parseCell(cellText(problem));
        const targets = result.members.map((each) => ({ ...each, warmup: [] }));
        const memberIds = problem.members.map(({ memberId }) => memberId);
        const held = new Set(
          cell.members.flatMap((each) => [
            ...placesIn(each.id, 'active', listOf(each.active)),
            ...placesIn(each.id, 'standby', listOf(each.standby)),
          ]),
        );
        for (const { task, role, from, to } of movesOf(cell, { memberIds, targets })) {
          if (from !== null) held.delete(`${from} ${role} ${task}`);
          if (to !== null) held.add(`${to} ${role} ${task}`);
        }
        const wanted = memberIds.flatMap((id, at) => [
          ...placesIn(id, 'active', result.members[at]?.active ?? []),
          ...placesIn(id, 'standby', result.members[at]?.standby ?? []),
        ]);
        expect([...held].sort()).to.deep.equal(wanted.sort());
        return result;
      });
    }
  });
});

function placesIn(memberId: string, role: string, list: TaskList): string[] {
  const names: string[] = [];
  forEachTask(list, (subtopologyId, partition) => {
    names.push(`${memberId} ${role} ${taskKey(subtopologyId, partition)}`);
  });
  return names;
}
