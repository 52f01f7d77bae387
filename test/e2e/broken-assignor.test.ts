import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ScriptedMember } from '../../src/client/member.ts';
import { formatHostPort } from '../../src/config/host-port.ts';
import { FakeIo } from '../support/fake-io.ts';
import { FAULT } from '../support/faulty-thread.ts';
import { closeCoordinators, createTopics, openCoordinator } from '../support/open-coordinator.ts';
import { until } from '../support/open-server.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const assignorThread = new URL('../support/faulty-thread.js', import.meta.url);
const NOWHERE = { host: '', port: 0 };

const partitionsOf = ({ owned }: ScriptedMember) =>
  owned.activeTasks.flatMap(({ partitions }) => partitions);

describe('a coordinator whose assignor gives a broken result', () => {
  afterEach(closeCoordinators);

  it('keeps the target and the problem, says so in log and journal, and serves the others (ASG-11)', () =>
    inTemporaryFolder(async (folder) => {
      const { connection, log, running } = await openCoordinator(folder, {}, { assignorThread });
      await createTopics(connection, { grows: 2, stays: 1 });
      const member = (groupId: string, topic: string) =>
        new ScriptedMember(connection, { groupId, memberId: 'A', topics: [topic] });
      const a = member('spoilt', 'grows');
      await a.join();
      await a.acknowledge();
      const topics = [{ name: 'grows', count: FAULT.break, assignments: null }];
      await connection.request('CreatePartitions', { topics, timeoutMs: 5_000 });
      while (log.texts('error').length === 0) await a.acknowledge();
      expect(partitionsOf(a)).to.deep.equal([0, 1]);

      const [line] = log.lines.filter(({ level }) => level === 'error');
      const { file = '', ...fields }: { readonly file?: string } = line?.fields ?? {};
      const reason = 'Assignment of group "spoilt" refused: H1: on purpose';
      expect(fields).to.deep.equal({
        groupId: 'spoilt',
        assignor: 'sticky',
        fault: 'broken',
        reason,
      });
      expect(dirname(file)).to.equal(join(folder, 'problems'));
      await until(() => existsSync(file));

      const io = new FakeIo();
      const admin = ['--admin', formatHostPort(running.adminAddress ?? NOWHERE)];
      await io.run('groups', 'why', 'spoilt', ...admin);
      expect(io.output).to.contain(
        `Computing the target of epoch 3 failed: ${reason}; the problem is in ${file}\n`,
      );
      expect(await io.run('assign', '--problem', file, '--limit', '1')).to.equal(0);
      const [head, kept, , ...moves] = io.output.split('\n');
      expect(head).to.equal(
        `Group spoilt at epoch 3: ${FAULT.break} tasks, standbys 0, 1 member in 1 process`,
      );
      expect(kept).to.match(/^Kept \S+, broken: Assignment of group "spoilt" refused: H1/);
      expect(moves.slice(1, 3)).to.deep.equal([
        '0_2   active  -     A   no member was assigned it; A needs it for an even share',
        'and 102 more (--limit, --json)',
      ]);

      const other = member('well', 'stays');
      await other.join();
      await other.acknowledge();
      expect(partitionsOf(other)).to.deep.equal([0]);
    }));
});
