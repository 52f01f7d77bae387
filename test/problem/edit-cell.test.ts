import { expect } from 'chai';
import type { Cell } from '../../src/problem/cell.ts';
import { editCell } from '../../src/problem/edit-cell.ts';
import { CellError } from '../../src/problem/shape.ts';

const CELL: Cell = {
  cell: 'orders',
  configs: { placeAsKafka: true },
  topology: [
    { id: '0', tasks: 4, stateful: true },
    { id: '1', tasks: 2 },
  ],
  members: [
    {
      id: 'a',
      process: 'p',
      tags: { zone: 'z' },
      active: { '0': [0, 3], '1': [1] },
      standby: { '0': [2] },
      offsets: { '0': { '2': 5, '3': 6 } },
      target: { active: { '0': [3] } },
    },
    { id: 'b', process: 'q', active: { '0': [1] } },
    { id: 'c', process: 'q' },
  ],
};

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof CellError) return error.message;
    throw error;
  }
  return 'none';
}

describe('editCell()', () => {
  it('leaves a cell as it is when nothing is to be changed', () => {
    expect(editCell(CELL, {})).to.deep.equal(CELL);
  });

  it('changes the question', () => {
    const edited = editCell(CELL, { assignor: 'balanced', standbys: 2, tags: ['zone'], lag: 0 });
    expect(edited).to.deep.equal({
      ...CELL,
      assignor: 'balanced',
      configs: {
        placeAsKafka: true,
        numStandbyReplicas: 2,
        rackAwareAssignmentTags: ['zone'],
        acceptableRecoveryLag: 0,
      },
    });
  });

  it('takes members and processes away, and says who left', () => {
    const edited = editCell(CELL, { removeMembers: ['a'], removeProcesses: ['q'] });
    expect(edited.members).to.deep.equal([]);
    expect(edited.departed).to.deep.equal([
      { id: 'b', process: 'q', active: { '0': [1] } },
      { id: 'c', process: 'q' },
      {
        id: 'a',
        process: 'p',
        active: { '0': [0, 3], '1': [1] },
        standby: { '0': [2] },
      },
    ]);
  });

  it('adds members under new names, or to a process, whose tags they share if they bring none', () => {
    const edited = editCell(CELL, {
      addMembers: [
        {},
        {},
        { id: 'd', tags: { zone: 'y' } },
        { process: 'p' },
        { id: 'e', process: 'q' },
        { id: 'f', process: 'p', tags: { zone: 'y' } },
      ],
    });
    expect(edited.members.slice(3)).to.deep.equal([
      { id: 'member-new', process: 'process-of-member-new' },
      { id: 'member-new-2', process: 'process-of-member-new-2' },
      { id: 'd', process: 'process-of-d', tags: { zone: 'y' } },
      { id: 'member-new-3', process: 'p', tags: { zone: 'z' } },
      { id: 'e', process: 'q' },
      { id: 'f', process: 'p', tags: { zone: 'y' } },
    ]);
  });

  it('replaces a member: it goes before its successor comes', () => {
    const edited = editCell(CELL, {
      removeMembers: ['b'],
      addMembers: [{ id: 'b', process: 'r' }],
    });
    expect(edited.members.at(-1)).to.deep.equal({ id: 'b', process: 'r' });
  });

  it('takes what is held and reported of tasks that go, with them', () => {
    const edited = editCell(CELL, { tasks: [{ id: '0', tasks: 3 }] });
    expect(edited.topology[0]).to.deep.equal({ id: '0', tasks: 3, stateful: true });
    expect(edited.members[0]).to.deep.equal({
      id: 'a',
      process: 'p',
      tags: { zone: 'z' },
      active: { '0': [0], '1': [1] },
      standby: { '0': [2] },
      offsets: { '0': { '2': 5 } },
      target: { active: { '0': [] } },
    });
    expect(editCell(CELL, { tasks: [{ id: '1', tasks: 9 }] }).topology[1]?.tasks).to.equal(9);
  });

  it('refuses what is not there, who is there already, and what makes no cell', () => {
    const refusals = [
      { removeMembers: ['x'] },
      { removeProcesses: ['x'] },
      { addMembers: [{ id: 'a' }] },
      { tasks: [{ id: 'x', tasks: 1 }] },
      { standbys: -1 },
      { lag: 'ten' },
    ].map((edits) => refusalOf(() => editCell(CELL, edits)));
    expect(refusals).to.deep.equal([
      'Cannot remove: the problem has no member "x"',
      'Cannot remove: the problem has no process "x"',
      'Cannot add member "a": the problem has it already',
      'Cannot change tasks: the problem has no subtopology "x"',
      'configs.numStandbyReplicas is -1: wanted a whole number from 0 to 100',
      'configs.acceptableRecoveryLag is "ten": wanted a whole number from 0 to 9223372036854775807, above 9007199254740991 as digits in a string',
    ]);
  });
});
