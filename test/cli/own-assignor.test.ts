import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ScriptedMember } from '../../src/client/member.ts';
import { formatHostPort } from '../../src/config/host-port.ts';
import { FakeIo } from '../support/fake-io.ts';
import {
  closeCoordinators,
  createTopics,
  type OpenCoordinator,
  openCoordinator,
} from '../support/open-coordinator.ts';
import { until } from '../support/open-server.ts';
import { projectRoot } from '../support/oracle.ts';

const NOWHERE = { host: '', port: 0 };

/** Gives everything to one member, but fails for groups that are spoilt. */
const MODULE = `
export default ({ groupId, tasks, members }) => {
  if (groupId.startsWith('spoilt')) throw new Error('out of ideas');
  return { [members.at(-1).memberId]: { active: tasks.map(({ taskId }) => taskId) } };
};
`;

const REASON = /out of ideas \(at .*own\.mjs:3:\d+\)/;

describe("a coordinator with an assignor of one's own", () => {
  let folder: string;
  let open: OpenCoordinator;
  let io: FakeIo;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headgate-'));
    await writeFile(join(folder, 'own.mjs'), MODULE);
    open = await openCoordinator(join(folder, 'data'), {
      'assignors.modules': `own=${join(folder, 'own.mjs')}`,
    });
    await createTopics(open.connection, { in: 4 });
  });

  after(async () => {
    await closeCoordinators();
    await rm(folder, { recursive: true });
  });

  beforeEach(() => {
    io = new FakeIo();
  });

  const bootstrap = () => ['--bootstrap', formatHostPort(open.running.address)];
  const admin = () => ['--admin', formatHostPort(open.running.adminAddress ?? NOWHERE)];

  /** Two members, one after the other; what each has in the end. */
  async function twoMembers(groupId: string): Promise<readonly (readonly number[])[]> {
    const [a, b] = ['A', 'B'].map(
      (memberId) =>
        new ScriptedMember(open.connection, {
          groupId,
          memberId,
          processId: `p${memberId}`,
          topics: ['in'],
        }),
    ) as [ScriptedMember, ScriptedMember];
    await a.join();
    await a.acknowledge();
    await b.join();
    await a.beat();
    await a.acknowledge();
    await b.beat();
    await b.acknowledge();
    return [a, b].map(({ owned }) => owned.activeTasks.flatMap(({ partitions }) => partitions));
  }

  const select = (groupId: string, name: string) =>
    io.run(
      ...['groups', 'config', groupId, '--set', `streams.assignor.name=${name}`],
      ...bootstrap(),
    );

  it('uses it for the groups that select it, and says so', async () => {
    expect(await select('sound', 'own')).to.equal(0);
    expect(await twoMembers('sound')).to.deep.equal([[], [0, 1, 2, 3]]);
    await io.run('groups', 'describe', 'sound', ...bootstrap(), ...admin());
    expect(io.output).to.match(/^sound .* own +Stable /m);
    expect(io.output).to.not.contain('Assigned by');
    expect(JSON.parse(await open.get('/groups/sound/state'))).to.include({ standIn: null });
  });

  it('is described with recipes that work: where the page lists what may be selected, all it selects is in', () => {
    const page = readFileSync(join(projectRoot, 'docs', 'own-assignor.md'), 'utf8');
    const found = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, text = '']) => text);
    const lists = found(/group\.streams\.assignors=([\w,]+)/g).map((text) => text.split(','));
    const selected = [...new Set(found(/--set streams\.assignor\.name=(\w+)/g))];
    expect(selected).to.deep.equal(['nvme_first', 'highly_available']);
    expect(lists).to.have.lengthOf.at.least(1);
    for (const list of lists) expect(list).to.include.members(selected);
  });

  it('refuses to select one that is not there', async () => {
    expect(await select('sound', 'owned')).to.equal(1);
    expect(io.output + io.errors).to.contain(
      'is "owned", wanted one of sticky, balanced, highly_available, own',
    );
  });

  it('has one of ours assign where it fails, and tells where people look', async () => {
    expect(await select('spoilt', 'own')).to.equal(0);
    expect(await twoMembers('spoilt')).to.deep.equal([
      [0, 1],
      [2, 3],
    ]);
    const told = new RegExp(
      `Assigned by sticky, because the own assignor own failed: ${REASON.source}`,
    );
    await io.run('groups', 'describe', 'spoilt', ...bootstrap(), ...admin());
    expect(io.output)
      .to.match(/^spoilt .* own +Stable /m)
      .and.match(told);
    await io.run('groups', 'why', 'spoilt', ...admin());
    expect(io.output).to.match(told);
    const { standIn } = JSON.parse(await open.get('/groups/spoilt/state'));
    expect(standIn.reason).to.match(REASON);
    expect({ ...standIn, reason: '' }).to.deep.equal({
      assignor: 'sticky',
      insteadOf: 'own',
      fault: 'threw',
      reason: '',
    });
    expect(await open.get('/metrics')).to.match(
      /^assignor_fallback_count{assignor="own",reason="threw"} 2$/m,
    );
  });

  it('keeps the problem at which it failed, names it in the journal, and replays it', async () => {
    await io.run('groups', 'why', 'spoilt', ...admin());
    const [, file = ''] = /; the problem is in (\S+-spoilt-threw\.json)$/m.exec(io.output) ?? [];
    expect(file).to.contain(join(folder, 'data', 'problems'));
    await until(() => existsSync(file));
    const replay = ['assign', '--problem', file, '--module', `own=${join(folder, 'own.mjs')}`];
    expect(await io.run(...replay)).to.equal(1);
    // The run may end before the group's first commit, which tells the epoch.
    expect(io.output).to.match(
      /^Group spoilt(?: at epoch \d+)?: 4 tasks, .*\nKept .*, threw: .*out of ideas/,
    );
    expect(io.errors).to.match(/^Assignor own failed: .*out of ideas/);
    expect(await io.run(...replay, '--assignor', 'sticky')).to.equal(0);
    expect(io.output).to.match(/^TASK +ROLE +FROM +TO +WHY\n0_0 +active +- +A /m);
    expect(await io.run('assign', '--problem', file)).to.equal(2);
    expect(io.errors).to.contain('Cannot assign as "own" does: ');
  });

  it('says that it is missing after a start without it, which alone moves nothing', async () => {
    const groupId = 'bereft';
    const data = join(folder, 'other-data');
    const first = await openCoordinator(data, {
      'assignors.modules': `own=${join(folder, 'own.mjs')}`,
    });
    await createTopics(first.connection, { in: 4 });
    const at = ['--bootstrap', formatHostPort(first.running.address)];
    const set = ['groups', 'config', groupId, '--set', 'streams.assignor.name=own'];
    expect(await io.run(...set, ...at)).to.equal(0);
    const before = new ScriptedMember(first.connection, { groupId, topics: ['in'] });
    await before.join();
    await before.acknowledge();
    const epochOf = async (of: OpenCoordinator) =>
      JSON.parse(await of.get(`/groups/${groupId}/state`)).groupEpoch;
    const epoch = await epochOf(first);
    await first.close();

    const second = await openCoordinator(data);
    expect(second.log.lines.map(({ text }) => text)).to.include(
      'Setting of a group: streams.assignor.name is "own", which is not registered: the default one stands in for it',
    );
    expect(await epochOf(second)).to.equal(epoch);
    const joins = new ScriptedMember(second.connection, { groupId, topics: ['in'] });
    await joins.join();
    const told =
      'Assigned by sticky, because the assignor own that the group selects is missing: ' +
      'it is not among the assignors that this coordinator was started with';
    const admin = ['--admin', formatHostPort(second.running.adminAddress ?? NOWHERE)];
    const bootstrap = ['--bootstrap', formatHostPort(second.running.address)];
    await io.run('groups', 'describe', groupId, ...bootstrap, ...admin);
    expect(io.output).to.contain(told);
    // The journal has it once it is known why tasks moved.
    let journal = '';
    while (!journal.includes('target ready')) {
      journal = await second.get(`/groups/${groupId}/journal?word=own`);
    }
    await io.run('groups', 'why', groupId, ...admin);
    expect(io.output).to.contain(told);
    await io.run('groups', 'config', groupId, ...bootstrap);
    expect(io.output).to.match(
      /^streams\.assignor\.name +own +group; it is missing, sticky stands in$/m,
    );
    expect(await second.get('/metrics')).to.match(
      /^assignor_fallback_count{assignor="own",reason="missing"} 1$/m,
    );
    await second.close();
  });

  it('asks it again once its stand-in was selected for a heartbeat, and not before', async () => {
    const groupId = 'spoilt, too';
    await select(groupId, 'own');
    const threw = async () =>
      Number(
        /^assignor_fallback_count{assignor="own",reason="threw"} (\d+)$/m.exec(
          await open.get('/metrics'),
        )?.[1],
      );
    const before = await threw();
    const member = new ScriptedMember(open.connection, { groupId, topics: ['in'] });
    const reached = async (epoch: number) => {
      while (member.memberEpoch < epoch) await member.acknowledge();
    };
    await member.join();
    await reached(1);
    while ((await threw()) === before) await member.acknowledge();
    const epoch = member.memberEpoch;
    await member.beat();
    await member.beat();
    expect([await threw(), member.memberEpoch]).to.deep.equal([before + 1, epoch]);
    await select(groupId, 'sticky');
    await reached(epoch + 1);
    expect(await threw()).to.equal(before + 1);
    await select(groupId, 'own');
    await reached(epoch + 2);
    expect(await threw()).to.equal(before + 2);
    expect(member.given).to.deep.equal(member.owned);
  });

  it('goes on without a word about it once it assigns again', async () => {
    expect(await select('spoilt', 'sticky')).to.equal(0);
    const member = new ScriptedMember(open.connection, { groupId: 'spoilt', topics: ['in'] });
    await member.join();
    await io.run('groups', 'describe', 'spoilt', ...bootstrap(), ...admin());
    expect(io.output)
      .to.match(/^spoilt .* sticky /m)
      .and.not.contain('Assigned by');
  });
});
