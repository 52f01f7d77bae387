import { expect } from 'chai';
import { type ToldRun, tellMoves } from '../../machines/decide/say-moves.ts';
import { newGroup, newMember } from '../../machines/model/empty.ts';
import {
  type AssignmentFigures,
  FIGURES,
  type MoveReason,
  type MoveReasons,
  type TargetChange,
  type TargetReport,
} from '../../machines/model/look-back.ts';
import type { Member } from '../../machines/model/member.ts';
import { ownedSince } from '../../machines/model/task-list.ts';
import { NO_TASKS_BY_ROLE, type TasksByRole } from '../../machines/model/tasks.ts';
import { toEnd } from '../support/to-end.ts';

function active(...partitions: number[]): TasksByRole {
  return { ...NO_TASKS_BY_ROLE, active: [{ subtopologyId: '0', partitions }] };
}

function standby(...partitions: number[]): TasksByRole {
  return { ...NO_TASKS_BY_ROLE, standby: [{ subtopologyId: '1', partitions }] };
}

function change(memberId: string, before: TasksByRole, after: TasksByRole): TargetChange {
  return { memberId, before, after };
}

function tell(
  changes: readonly TargetChange[],
  run?: ToldRun,
  holder?: Member,
): { readonly lines: readonly string[]; readonly report: TargetReport | undefined } {
  const lines: string[] = [];
  const base = newGroup('g');
  const members = holder === undefined ? base.members : base.members.set(holder.memberId, holder);
  const draft = {
    group: { ...base, members, assignmentEpoch: 3 },
    say: (line: string) => void lines.push(line.replace(/^Target of epoch 3: /, '')),
  };
  const { result: report } = toEnd(tellMoves(draft, changes, run));
  return { lines, report };
}

function said(...changes: readonly TargetChange[]): readonly string[] {
  return tell(changes).lines;
}

const none = NO_TASKS_BY_ROLE;
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('tellMoves()', () => {
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

  it('says whose place a copy takes, and where there are to be fewer', () => {
    expect(
      said(change('A', standby(0, 1, 2), none), change('B', none, standby(0, 1))),
    ).to.deep.equal([
      'standbys of 1_0, 1_1 move from A to B',
      'standby of 1_2 is taken from A: there are to be fewer',
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

describe('tellMoves() of a run that tells why', () => {
  /** A was alone with 0_0 to 0_4 and 1_0; B came with 0_4 on disk. Five tasks have state, three standbys are wanted. */
  const figures = {
    ...Object.fromEntries(FIGURES.map((name) => [name, 0])),
    tasks: 6,
    statefulTasks: 5,
    sharers: 2,
    tagDiversity: [],
  } as unknown as AssignmentFigures;

  function runOf(reasons: MoveReasons): ToldRun {
    return { assignor: 'sticky', lookBack: { figures, reasons } };
  }

  const toShare: MoveReason = { leaving: 'aboveStatefulShare', landing: 'belowShare' };
  const toDisk: MoveReason = { leaving: 'aboveStatefulShare', landing: 'onDisk' };
  const copy: MoveReason = { leaving: 'tooFewCopies', landing: 'assignor' };
  const run = runOf({
    ofActives: () => (partition) =>
      partition === 4 ? toDisk : partition === 0 ? undefined : toShare,
    ofStandbys: (memberId) => () => (memberId === 'B' ? copy : undefined),
  });

  it('has a line for each way and reason, with numbers where they say more', () => {
    const changes = [
      change('A', active(0, 1, 2, 3, 4), active(1)),
      change('B', none, { ...active(2, 3, 4), standby: standby(1, 2).standby }),
    ];
    expect(tell(changes, run)).to.deep.equal({
      lines: [
        '0_2, 0_3 move from A to B: their owner had more than an even share of tasks with state (2.5); B needs them for an even share',
        '0_4 moves from A to B: its owner had more than an even share of tasks with state (2.5); the process of B has its state on disk',
        '0_0 is taken from A',
        'standbys of 1_1, 1_2 go to B: there were too few standbys; sticky placed them',
      ],
      report: {
        assignor: 'sticky',
        figures,
        moves: [
          {
            role: 'active',
            from: 'A',
            to: 'B',
            reason: toShare,
            said: 'moves from A to B: its owner had more than an even share of tasks with state (2.5); B needs it for an even share',
            tasks: ['0_2', '0_3'],
          },
          {
            role: 'active',
            from: 'A',
            to: 'B',
            reason: toDisk,
            said: 'moves from A to B: its owner had more than an even share of tasks with state (2.5); the process of B has its state on disk',
            tasks: ['0_4'],
          },
          {
            role: 'active',
            from: 'A',
            to: null,
            reason: null,
            said: 'is taken from A',
            tasks: ['0_0'],
          },
          {
            role: 'standby',
            from: null,
            to: 'B',
            reason: copy,
            said: 'goes to B: there were too few standbys; sticky placed it',
            tasks: ['1_1', '1_2'],
          },
        ],
        movesLeftOut: 0,
      },
    });
  });

  it('says so when the target has come to who has the task already, and nothing where nothing is known', () => {
    const changes = [change('A', active(0), none), change('B', none, active(0))];
    const holder = {
      ...newMember('B'),
      assigned: { ...none, active: ownedSince(active(0).active, 2) },
    };
    expect(tell(changes, run, holder).lines).to.deep.equal([
      '0_0 moves from A to B: B has it already',
    ]);
    expect(tell(changes, run, newMember('B')).lines).to.deep.equal(['0_0 moves from A to B']);
  });

  it('gives the journal the first 200 tasks, and how many more there are', () => {
    const { report } = tell([change('A', none, active(...upTo(230)))], run);
    expect(report?.moves.map(({ tasks }) => tasks.length)).to.deep.equal([1, 199]);
    expect(report?.movesLeftOut).to.equal(30);
  });

  it('tells of a run that moves nothing', () => {
    expect(tell([change('A', none, none)], run)).to.deep.equal({
      lines: ['nothing moves'],
      report: { assignor: 'sticky', figures, moves: [], movesLeftOut: 0 },
    });
  });
});
