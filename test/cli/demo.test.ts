import { expect } from 'chai';
import { runCommand } from '../../src/cli/run-command.ts';
import { expectAccepted, ScriptedMember } from '../../src/client/member.ts';
import { startCoordinator } from '../../src/coordinator.ts';
import { FakeIo } from '../support/fake-io.ts';
import { found } from '../support/found.ts';

describe('headgate demo', () => {
  it('lets three members join, one leave, and tells why tasks moved', async () => {
    const io = new FakeIo();
    const code = await runCommand(['demo'], { ...io, out: io.out, err: io.err, startCoordinator });
    expect([code, io.errors]).to.deep.equal([0, '']);
    const parts = io.output.split(
      /\n(?=alpha joined|beta joined|gamma joined|alpha left|What was)/,
    );
    const tasksOf = (at: number) => (parts[at]?.match(/\b0_\d\b/g) ?? []).sort();
    const six = ['0_0', '0_1', '0_2', '0_3', '0_4', '0_5'];
    for (const at of [1, 2, 3, 4]) expect(tasksOf(at), `part ${at}`).to.deep.equal(six);
    expect(parts[4]).not.to.match(/^ {2}alpha/m);
    expect(parts[5]).to.match(
      /epoch 3: 0_\d, 0_\d, 0_\d move from alpha to beta: their owner had more than an even share of tasks \(3\); beta needs them/,
    );
    expect(parts[5]).to.contain(
      '    Quality: 3 of 6 active tasks moved (3 at least for evenness); spread of actives 0\n',
    );
    expect(parts[5]).to.contain('alpha left');
  });

  describe('--keep', () => {
    let io: FakeIo;
    let running: Promise<number>;
    beforeEach(() => {
      io = new FakeIo();
      running = runCommand(['demo', '--keep'], {
        ...io,
        out: io.out,
        err: io.err,
        startCoordinator,
      });
    });
    afterEach(async () => {
      io.askToStop();
      await running;
    });

    /** The commands it says to try, once it says them. */
    async function commands(): Promise<readonly (readonly string[])[]> {
      await found('what to try', async () => (io.output.includes('Ctrl-C') ? true : undefined));
      const lines = io.output.split('\n').filter((line) => line.startsWith('  headgate '));
      return lines.map((line) => line.trim().split(' ').slice(1));
    }

    it('prints commands that work on the group, until it is told to stop', async () => {
      const tried = await commands();
      const outputs: string[] = [];
      for (const command of tried) {
        const shell = new FakeIo();
        expect([await shell.run(...command), shell.errors], command.join(' ')).to.deep.equal([
          0,
          '',
        ]);
        outputs.push(shell.output);
      }
      const [members, why, assign] = outputs;
      expect(outputs.length).to.equal(3);
      expect(members).to.match(/^beta .*\n(.*\n)*gamma /m);
      expect(why).to.match(/0_\d moves? from (alpha|beta) to gamma/);
      expect(assign).to.match(/0_\d +active +(beta|gamma) +member-new /);
      io.askToStop();
      expect(await running).to.equal(0);
      const shell = new FakeIo();
      expect(await shell.run(...(tried[1] ?? []))).to.equal(1);
    });

    /** A member of the same group, on a connection of its own. */
    async function another(memberId: string): Promise<ScriptedMember> {
      const [first = []] = await commands();
      const [host = '', port] = (first[first.indexOf('--bootstrap') + 1] ?? '').split(':');
      const place = { host, port: Number(port) };
      return ScriptedMember.connect({ ...place, groupId: 'orders', topics: ['clicks'], memberId });
    }

    it('a member that was taken for gone joins again', async () => {
      const impostor = await another('beta');
      try {
        expectAccepted(await impostor.leave(), 'leave');
      } finally {
        impostor.close();
      }
      const [command = []] = await commands();
      const shell = new FakeIo();
      const isBack = await found('beta in the group', async () => {
        await io.clock.pass(60_000);
        await shell.run(...command);
        return /^beta .* stable .* 0_\d 0_\d 0_\d /m.test(shell.output) ? true : undefined;
      });
      expect(isBack).to.equal(true);
    });

    it('its members make room for one that joins', async () => {
      const guest = await another('guest');
      try {
        expectAccepted(await guest.join(), 'join');
        const tasks = await found('tasks for the guest', async () => {
          await io.clock.pass(60_000);
          await guest.acknowledge();
          return guest.owned.activeTasks[0]?.partitions;
        });
        expect(tasks).to.have.length(2);
      } finally {
        guest.close();
      }
    });
  });
});
