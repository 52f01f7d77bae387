import { expect } from 'chai';
import { ClientConnection } from '../../src/client/connection.ts';
import { ScriptedMember } from '../../src/client/member.ts';
import { formatHostPort } from '../../src/config/host-port.ts';
import { resolveConfig } from '../../src/config/resolve.ts';
import { type RunningCoordinator, startCoordinator } from '../../src/coordinator.ts';
import { FakeIo } from '../support/fake-io.ts';
import { KeptLog } from '../support/kept-log.ts';

describe('headgate groups against a coordinator', () => {
  let running: RunningCoordinator | undefined;
  let connection: ClientConnection | undefined;
  let io: FakeIo;

  before(async () => {
    const { config } = resolveConfig({
      flags: {
        store: 'memory',
        port: '0',
        'admin.port': '0',
        'assignor.threads': '1',
        'assignor.answer.wait.ms': '10000',
        'group.streams.initial.rebalance.delay.ms': '0',
        'group.streams.assignment.interval.ms': '0',
      },
    });
    running = await startCoordinator(config, { log: new KeptLog() });
    const opened = await ClientConnection.open(running.address, { clientId: 'app' });
    connection = opened;
    await opened.request('CreateTopics', {
      topics: [{ name: 'in', numPartitions: 2, replicationFactor: 1 }],
      timeoutMs: 5_000,
    });
    const member = (memberId: string, topics: readonly string[], groupId: string) =>
      new ScriptedMember(opened, { groupId, memberId, processId: `p${memberId}`, topics });
    const a = member('A', ['in'], 'orders');
    await a.join();
    await a.acknowledge();
    // A is told to give a task up and says nothing more: B has to wait.
    await member('B', ['in'], 'orders').join();
    await a.beat();
    await member('C', ['missing'], 'stuck').join();
    await opened.request('CreateTopics', {
      topics: [{ name: 'warming-changelog', numPartitions: 2, replicationFactor: 1 }],
      timeoutMs: 5_000,
    });
    const withState = (memberId: string) =>
      new ScriptedMember(opened, {
        groupId: 'warming',
        memberId,
        processId: `p${memberId}`,
        topology: {
          epoch: 0,
          subtopologies: [
            {
              subtopologyId: '0',
              sourceTopics: ['in'],
              stateChangelogTopics: [{ name: 'warming-changelog' }],
            },
          ],
        },
      });
    for (const one of [withState('D'), withState('E')]) {
      await one.join();
      await one.acknowledge();
    }
    await figuresOf('orders');
  });

  /** Waits until it is known how good the target of a group is, a moment after it was installed. */
  async function figuresOf(groupId: string): Promise<void> {
    const path = `http://${formatHostPort(running?.adminAddress ?? nowhere)}/groups/${groupId}/state`;
    for (;;) {
      const state = (await (await fetch(path)).json()) as { readonly targetFigures: object | null };
      if (state.targetFigures !== null) return;
    }
  }

  after(async () => {
    connection?.close();
    await running?.stop();
  });

  beforeEach(() => {
    io = new FakeIo();
  });

  const nowhere = { host: '', port: 0 };
  const bootstrap = () => ['--bootstrap', formatHostPort(running?.address ?? nowhere)];
  const admin = () => ['--admin', formatHostPort(running?.adminAddress ?? nowhere)];
  const words = () => io.output.split('\n').map((line) => line.split(/ {2,}/));

  it('members --admin tells who must give up what, and who waits for whom', async () => {
    expect(await io.run('groups', 'members', 'orders', ...bootstrap(), ...admin())).to.equal(0);
    expect(words()).to.deep.equal([
      ['MEMBER', 'CLIENT', 'PROCESS', 'STATE', 'EPOCH', 'TASKS', 'MUST-GIVE-UP', 'WAITS-FOR'],
      ['A', 'app', 'pA', 'unrevokedTasks', '2', '0_0', '0_1', '-'],
      ['B', 'app', 'pB', 'unreleasedTasks', '3', '-', '-', '0_1 (until A gives it up)'],
      [''],
    ]);
  });

  it('describe and members give programs what they show, with --admin what is live', async () => {
    const asked = async (...args: readonly string[]) => {
      io.output = '';
      expect(await io.run('groups', ...args, '--json', ...bootstrap())).to.equal(0);
      return JSON.parse(io.output);
    };
    const plain = await asked('describe', 'orders');
    expect(plain).to.include({ groupId: 'orders', groupState: 'Reconciling' });
    expect(plain).not.to.have.property('live');
    const { live, ...same } = await asked('describe', 'orders', ...admin());
    expect(same).to.deep.equal(plain);
    expect(live).to.include({ groupId: 'orders', state: 'Reconciling' });
    expect(await asked('members', 'orders')).to.deep.equal(plain.members);
    expect(await asked('members', 'orders', ...admin())).to.deep.equal(live.members);
  });

  it('config shows the assignor that is used, where the topology decides', async () => {
    const shownOf = async (groupId: string) => {
      io.output = '';
      await io.run('groups', 'config', groupId, ...bootstrap());
      return words().find(([name]) => name === 'streams.assignor.name');
    };
    expect([
      await shownOf('warming'),
      await shownOf('orders'),
      await shownOf('nobody'),
    ]).to.deep.equal([
      ['streams.assignor.name', 'highly_available', 'default, by topology'],
      ['streams.assignor.name', 'sticky', 'default'],
      ['streams.assignor.name', 'sticky', 'default'],
    ]);
  });

  it('describe --admin tells what a group waits for', async () => {
    await io.run('groups', 'describe', 'orders', ...bootstrap(), ...admin());
    expect(io.output).to.contain(
      '\n\nQuality: 1 of 2 active tasks moved (1 at least for evenness); spread of actives 0\n' +
        '\nB waits for 0_1 (until A gives it up)\n',
    );
    await io.run('groups', 'describe', 'warming', ...bootstrap(), ...admin());
    expect(io.output).to.contain(
      '\n0_1 runs on D: the warm-up for E is not heard of yet\nE waits for 0_1 (until a copy has caught up)\n',
    );
    await io.run('groups', 'describe', 'stuck', ...bootstrap(), ...admin());
    expect(io.output).to.match(/\n\nMISSING_SOURCE_TOPICS: .*missing/);
  });

  it('describe --admin and why tell of a rack-aware tag that no member has', async () => {
    const opened = connection;
    if (opened === undefined) throw new Error('The connection is not open');
    const member = new ScriptedMember(opened, { groupId: 'tagged', memberId: 'T', topics: ['in'] });
    await member.join();
    const setting = ['--set', 'streams.rack.aware.assignment.tags=zoen'];
    expect(await io.run('groups', 'config', 'tagged', ...setting, ...bootstrap())).to.equal(0);
    await member.beat();
    const line = 'No member has the client tag zoen, which rack.aware.assignment.tags names\n';
    await io.run('groups', 'describe', 'tagged', ...bootstrap(), ...admin());
    expect(io.output).to.contain(`\n${line}`);
    await io.run('groups', 'why', 'tagged', ...admin());
    expect(io.output).to.contain(
      `    rack.aware.assignment.tags changed: group epoch 2 -> 3\n    ${line}`,
    );
    await member.leave();
  });

  it('list shows the groups with their states', async () => {
    await io.run('groups', 'list', ...bootstrap());
    expect(words().slice(1, 3)).to.deep.equal([
      ['orders', 'streams', 'Reconciling'],
      ['stuck', 'streams', 'NotReady'],
    ]);
  });

  it('why tells why B waits', async () => {
    await io.run('groups', 'why', 'orders', '--member', 'B', ...admin());
    expect(io.output).to.contain('    B joined: group epoch 2 -> 3\n');
    expect(io.output).to.contain('    B waits for 0_1, held by process pA\n');
    await io.run('groups', 'why', 'orders', '--task', '0_1', ...admin());
    expect(io.output).to.contain(
      '    Target of epoch 3: 0_1 moves from A to B: its owner had more than an even share of tasks (1); B needs it for an even share\n',
    );
  });

  it('assign --group tells what a rebalance would move, and touches nothing', async () => {
    expect(await io.run('assign', '--group', 'orders', ...admin())).to.equal(0);
    // A gives 0_1 up, so nobody has it.
    expect(words().slice(0, 4)).to.deep.equal([
      ['Group orders at epoch 3: 2 tasks, standbys 0, 2 members in 2 processes'],
      [''],
      ['TASK', 'ROLE', 'FROM', 'TO', 'WHY'],
      [
        '0_1',
        'active',
        '-',
        'B',
        'on its way already: no member was assigned it; B needs it for an even share',
      ],
    ]);
    const warming = ['assign', '--group', 'warming', ...admin(), '--json'];
    await io.run(...warming, '--remove-process', 'pD', '--compare');
    const { problem, answers } = JSON.parse(io.output);
    expect(problem.group).to.deep.equal({
      id: 'warming',
      epoch: 3,
      assignmentEpoch: 3,
      topologyEpoch: 0,
    });
    for (const { moves } of answers) {
      expect(
        moves.map(({ task, from, to }: Record<string, unknown>) => [task, from, to]),
      ).to.deep.equal([
        ['0_0', 'D', 'E'],
        ['0_1', 'D', 'E'],
      ]);
    }
    await io.run('groups', 'list', ...bootstrap());
    expect(words()[1]).to.deep.equal(['orders', 'streams', 'Reconciling']);
  });

  it('assign --group says why it has no problem to assign', async () => {
    expect(await io.run('assign', '--group', 'stuck', ...admin())).to.equal(1);
    expect(io.errors).to.equal(
      `Cannot give the problem of group "stuck": its topology is not ready (${admin().join(' ')})\n`,
    );
    expect(await io.run('assign', '--group', 'nobody', ...admin())).to.equal(1);
    expect(io.errors).to.equal(`Cannot find streams group "nobody" (${admin().join(' ')})\n`);
  });

  it('delete refuses a group with members', async () => {
    expect(await io.run('groups', 'delete', 'orders', ...bootstrap())).to.equal(1);
    expect(io.output).to.contain('NON_EMPTY_GROUP');
  });
});
