import { expect } from 'chai';
import type { GroupView } from '../../actors/group-coordinator.ts';
import type { JournalEntry } from '../../actors/ports.ts';
import { newGroup, newMember, newSoft } from '../../machines/model/empty.ts';
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

  it('why --member keeps what the member did and what names it', async () => {
    await ask('groups', 'why', 'orders', '--member', 'B', '--json');
    expect(linesOf()).to.deep.equal([
      ['B gets 10_2, 0_21'],
      ['Target of epoch 4: 0_2 moves from A to B'],
    ]);
  });

  it('why says so when there is nothing, and when nobody knows the group', async () => {
    expect(await ask('groups', 'why', 'orders', '--task', '9_9')).to.equal(0);
    expect(io.errors).to.equal('Nothing is known about that in the journal\n');
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
