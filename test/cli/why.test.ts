import { expect } from 'chai';
import type { GroupView } from '../../actors/group-coordinator.ts';
import type { JournalEntry } from '../../actors/ports.ts';
import { newGroup, newMember, newSoft } from '../../machines/model/empty.ts';
import type {
  AssignmentFigures,
  MovedTasks,
  TargetReport,
} from '../../machines/model/look-back.ts';
import { type AdminServer, openAdminServer } from '../../src/admin/server.ts';
import { FakeIo } from '../support/fake-io.ts';
import { KeptLog } from '../support/kept-log.ts';

function entry(atMs: number, memberId: string | null, because: readonly string[]): JournalEntry {
  return {
    groupId: 'orders',
    atMs,
    groupEpoch: 4,
    assignmentEpoch: 3,
    state: 'Assigning',
    cause: 'heartbeat',
    memberId,
    because,
  };
}

function to(memberId: string): Omit<MovedTasks, 'said' | 'tasks'> {
  const reason = { leaving: 'aboveShare', landing: 'belowShare' } as const;
  return { role: 'active', from: 'A', to: memberId, reason };
}

describe('commands that ask the admin server', () => {
  let admin: AdminServer;
  let io: FakeIo;
  let journal: readonly JournalEntry[];

  beforeEach(async () => {
    io = new FakeIo();
    journal = [
      entry(0, 'A', ['A must give up 0_2 within 1000 ms', 'A keeps 10_2']),
      entry(1, 'B', ['B gets 10_2, 0_21']),
      entry(2, null, ['Target of epoch 4: 0_2 moves from A to B']),
    ];
    const base = newGroup('orders');
    const view: GroupView = {
      group: { ...base, members: base.members.set('A', newMember('A')), state: 'Stable' },
      soft: newSoft(1),
    };
    admin = await openAdminServer({
      coordinator: {
        groupIds: () => ['orders'],
        view: (id) => (id === 'orders' ? view : undefined),
        problem: () => undefined,
        shards: () => [],
      },
      journal: { read: async () => journal },
      metrics: { contentType: 'text/plain', text: async () => '' },
      upstreamReached: () => true,
      addresses: () => [],
      listen: { host: '127.0.0.1', port: 0 },
      log: new KeptLog(),
    });
  });

  afterEach(() => admin.close());

  const ask = (...args: readonly string[]) =>
    io.run(...args, '--admin', `127.0.0.1:${admin.address.port}`);

  it('why tells what was decided, in plain words', async () => {
    expect(await ask('groups', 'why', 'orders', '--limit', '3')).to.equal(0);
    expect(io.output).to.equal(
      [
        '1970-01-01 00:00:00.000  heartbeat of A: group Assigning, epoch 4, its target still of epoch 3',
        '    A must give up 0_2 within 1000 ms',
        '    A keeps 10_2',
        '1970-01-01 00:00:00.001  heartbeat of B: group Assigning, epoch 4, its target still of epoch 3',
        '    B gets 10_2, 0_21',
        '1970-01-01 00:00:00.002  heartbeat: group Assigning, epoch 4, its target still of epoch 3',
        '    Target of epoch 4: 0_2 moves from A to B',
        '',
      ].join('\n'),
    );
  });

  it('why says who asked for a target, and whose time ran out', async () => {
    journal = ['target ready', 'session expired', 'rebalance timed out', 'join'].map((cause) => ({
      ...entry(0, 'A', []),
      cause,
    }));
    await ask('groups', 'why', 'orders');
    const heads = io.output.split('\n').map((line) => line.slice(25).split(': ')[0]);
    expect(heads).to.deep.equal([
      'target ready (asked for by A)',
      'session of A expired',
      'rebalance of A timed out',
      'join of A',
      '',
    ]);
  });

  const linesOf = () => JSON.parse(io.output).entries.map((one: JournalEntry) => one.because);

  it('why --task keeps only what names this very task', async () => {
    await ask('groups', 'why', 'orders', '--task', '0_2', '--json');
    expect(linesOf()).to.deep.equal([
      ['A must give up 0_2 within 1000 ms'],
      ['Target of epoch 4: 0_2 moves from A to B'],
    ]);
  });

  /** Two tasks move for a reason that lines tell, one for which there was no line left; a standby of it was told. */
  const report: TargetReport = {
    assignor: 'sticky',
    figures: {
      tasks: 9,
      statefulTasks: 6,
      sharers: 2,
      unassigned: 0,
      statefulSpread: 0,
      activeSpread: 1,
      loadSpread: 0.5,
      held: 8,
      moved: 4,
      leastMoved: 4,
      statefulHeld: 6,
      statefulMoved: 3,
      leastStatefulMoved: 2,
      copiesBuilt: 5,
      copiesHeld: 2,
      copiesKept: 1,
      statesOnDisk: 3,
      statesReused: 2,
      tagDiversity: [
        { tag: 'zone', diversity: 0.75 },
        { tag: 'rack', diversity: null },
      ],
    },
    moves: [
      { ...to('B'), said: 'moves from A to B: its owner …', tasks: ['0_2', '0_3'] },
      { ...to('C'), said: 'moves from A to C: its owner …', tasks: ['0_4'] },
      { ...to('B'), role: 'standby', from: null, said: 'goes to B: why', tasks: ['0_4'] },
    ],
    movesLeftOut: 7,
  };
  const told = () => [
    {
      ...entry(3, 'A', [
        'Target of epoch 3: 0_2, 0_3 move from A to B: their owner …',
        'Target of epoch 3: standby of 0_4 goes to B: why',
        'Target of epoch 3: and 8 more moves',
      ]),
      cause: 'target ready',
      report,
    },
  ];

  it('why --task tells the move of a task that no line names, from the moves one by one', async () => {
    journal = told();
    await ask('groups', 'why', 'orders', '--task', '0_4');
    expect(io.output).to.equal(
      [
        '1970-01-01 00:00:00.003  target ready (asked for by A): group Assigning, epoch 4, its target still of epoch 3',
        '    Target of epoch 3: standby of 0_4 goes to B: why',
        '    Target of epoch 3: 0_4 moves from A to C: its owner …',
        '',
      ].join('\n'),
    );
    await ask('groups', 'why', 'orders', '--task', '0_3', '--json');
    expect(JSON.parse(io.output).entries).to.deep.equal([
      {
        ...told()[0],
        because: ['Target of epoch 3: 0_2, 0_3 move from A to B: their owner …'],
        report: { ...report, moves: report.moves.slice(0, 1) },
      },
    ]);
  });

  it('why --member finds who is named in a move that no line tells', async () => {
    journal = told();
    await ask('groups', 'why', 'orders', '--member', 'C', '--json');
    expect(JSON.parse(io.output).entries).to.deep.equal(told());
  });

  it('why tells how good a target is, without what has no meaning for it', async () => {
    const qualityOf = async (changes: Partial<AssignmentFigures>) => {
      const figures = { ...report.figures, ...changes };
      journal = told().map((one) => ({ ...one, report: { ...report, figures } }));
      await ask('groups', 'why', 'orders');
      return io.output.split('\n').filter((line) => line.startsWith('    Quality: '));
    };
    expect(await qualityOf({})).to.deep.equal([
      '    Quality: 4 of 8 active tasks moved (4 at least for evenness), 3 of 6 with state (2 at least), 1 had no owner before; 5 copies to build, 1 of 2 kept, ' +
        '2 of 3 states on disk used; spread of actives 1, with state 0, load 0.50; diversity of zone 0.75',
    ]);
    const none = { held: 0, statefulTasks: 0, statefulHeld: 0, tagDiversity: [], unassigned: 8 };
    expect(await qualityOf(none)).to.deep.equal([
      '    Quality: 9 active tasks had no owner before; spread of actives 1; 8 tasks that nobody may take',
    ]);
  });

  it('why --member keeps what the member did and what names it', async () => {
    await ask('groups', 'why', 'orders', '--member', 'B', '--json');
    expect(linesOf()).to.deep.equal([
      ['B gets 10_2, 0_21'],
      ['Target of epoch 4: 0_2 moves from A to B'],
    ]);
  });

  it('why says so when there is nothing, and when nobody knows the group', async () => {
    expect(await ask('groups', 'why', 'orders', '--task', '9_9')).to.equal(0);
    expect(io.errors).to.equal(
      'Nothing is known about task 9_9 in the journal of group "orders"\n',
    );
    io.errors = '';
    await ask('groups', 'why', 'orders', '--task', '0_2', '--member', 'nobody');
    expect(io.errors).to.equal(
      'Nothing is known about task 0_2 and member "nobody" in the journal of group "orders"\n',
    );
    io.errors = '';
    expect(await ask('groups', 'why', 'orders', '--task', 'foo')).to.equal(2);
    expect(io.errors).to.contain('Wanted SUBTOPOLOGY_PARTITION, as 0_2.');
    io.errors = '';
    journal = [];
    expect(await ask('groups', 'why', 'nobody')).to.equal(1);
    expect(io.errors).to.contain('Cannot find group "nobody"');
  });

  it('visualize --group marks the state that the group is in', async () => {
    expect(await ask('visualize', 'member', '--group', 'orders', '--format', 'json')).to.equal(0);
    expect(JSON.parse(io.output).marks).to.deep.equal({ stable: 'A' });
  });

  it('says in one line that no admin server is there', async () => {
    const { port } = admin.address;
    await admin.close();
    expect(await ask('groups', 'why', 'orders')).to.equal(1);
    expect(io.errors).to.equal(
      `Cannot reach the admin server at 127.0.0.1:${port}: nobody listens there (--admin)\n`,
    );
  });
});

describe('headgate visualize', () => {
  it('writes the group chart as SVG to standard output', async () => {
    const io = new FakeIo();
    expect(await io.run('visualize')).to.equal(0);
    expect(io.output).to.match(/^<\?xml.*\n[\s\S]*Reconciling[\s\S]*<\/svg>\n$/);
  });

  it('refuses charts and formats that do not exist with 2, and a file it cannot write with 1', async () => {
    const io = new FakeIo();
    expect(await io.run('visualize', 'cat')).to.equal(2);
    expect(io.errors).to.equal(
      'Cannot draw "cat": wanted one of group, member, shard, description\n',
    );
    expect(await io.run('visualize', 'group', '--format', 'png')).to.equal(2);
    expect(await io.run('visualize', 'group', '--out', '/nowhere/x.svg')).to.equal(1);
    expect(io.errors).to.match(/^Cannot write \/nowhere\/x\.svg: /);
  });
});
