import { expect } from 'chai';
import { sayMoves, type TargetChange } from '../../machines/decide/say-moves.ts';
import { newGroup } from '../../machines/model/empty.ts';
import { NO_TASKS_BY_ROLE, type TasksByRole } from '../../machines/model/tasks.ts';

function active(...partitions: number[]): TasksByRole {
  return { ...NO_TASKS_BY_ROLE, active: [{ subtopologyId: '0', partitions }] };
}

function standby(...partitions: number[]): TasksByRole {
  return { ...NO_TASKS_BY_ROLE, standby: [{ subtopologyId: '1', partitions }] };
}

function change(memberId: string, before: TasksByRole, after: TasksByRole): TargetChange {
  return { memberId, before, after };
}

function said(...changes: readonly TargetChange[]): readonly string[] {
  const lines: string[] = [];
  const group = { ...newGroup('g'), assignmentEpoch: 3 };
  sayMoves({ group, say: (line) => lines.push(line.replace(/^Target of epoch 3: /, '')) }, changes);
  return lines;
}

const none = NO_TASKS_BY_ROLE;
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('sayMoves()', () => {
  it('says in one line what goes the same way', () => {
    expect(said(change('A', none, active(0, 1, 2)), change('B', none, active(3)))).to.deep.equal([
      '0_0, 0_1, 0_2 go to A',
      '0_3 goes to B',
    ]);
  });

  it('has a line for each former owner, and one for those that had none', () => {
    expect(
      said(
        change('A', active(0, 1, 2), active(0)),
        change('B', active(3), none),
        change('C', none, active(1, 2, 3, 4)),
      ),
    ).to.deep.equal(['0_1, 0_2 move from A to C', '0_3 moves from B to C', '0_4 goes to C']);
  });

  it('says what is taken from a member without going to another', () => {
    expect(said(change('A', active(0, 1, 2), none), change('B', none, active(2)))).to.deep.equal([
      '0_2 moves from A to B',
      '0_0, 0_1 are taken from A',
    ]);
    expect(said(change('A', active(0), none))).to.deep.equal(['0_0 is taken from A']);
  });

  it('says where copies are to be', () => {
    expect(said(change('A', none, standby(0)), change('B', none, standby(1, 2)))).to.deep.equal([
      'standby of 1_0 goes to A',
      'standbys of 1_1, 1_2 go to B',
    ]);
  });

  it('says so when nothing moves', () => {
    expect(said(change('A', none, none))).to.deep.equal(['nothing moves']);
  });

  it('names at most 20 tasks in a line and has at most 20 lines, with a count of the rest', () => {
    const [many] = said(change('A', none, active(...upTo(25))));
    expect(many).to.match(/^0_0, .*, 0_19 and 5 more go to A$/);
    const lines = said(...upTo(22).map((at) => change(`M${at}`, none, active(at))));
    expect(lines.slice(19)).to.deep.equal(['0_19 goes to M19', 'and 2 more moves']);
  });
});
