import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrokerAddress } from '../../src/client/connection.ts';
import { ClientConnection } from '../../src/client/connection.ts';
import { ScriptedMember } from '../../src/client/member.ts';
import { found, gone } from '../support/found.ts';
import { HeadgateProcess } from '../support/headgate-process.ts';
import { createTopics } from '../support/open-coordinator.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

/** Leaves the ids of its process and of one that it starts, and never answers. */
const HANGS = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
export default ({ groupId }) => {
  const { pid } = spawn('sleep', ['600'], { stdio: 'inherit' });
  writeFileSync(new URL(groupId, import.meta.url), process.pid + ' ' + pid);
  for (;;);
};
`;
const LOADS_FOR_EVER = `
import { writeFileSync } from 'node:fs';
writeFileSync(new URL('loading', import.meta.url), process.pid + ' ' + process.pid);
for (;;);
`;
const ALL = [{ subtopologyId: '0', partitions: [0, 1, 2, 3] }];

/** The process that the module ran in when it was asked about this group, and the one that it started. */
function moduleProcesses(folder: string, groupId: string): Promise<readonly [number, number]> {
  return found('the module to be asked', async () => {
    const text = await readFile(join(folder, groupId), 'utf8').catch(() => '');
    const [own, started] = text.split(' ');
    return started === undefined ? undefined : ([Number(own), Number(started)] as const);
  });
}

/** A coordinator whose default assignor hangs, for so long. */
async function serve(folder: string, timeoutMs: number) {
  await writeFile(join(folder, 'hangs.mjs'), HANGS);
  const headgate = HeadgateProcess.serve(
    join(folder, 'data'),
    ...['--set', `assignors.modules=hangs=${join(folder, 'hangs.mjs')}`],
    ...['--set', 'group.streams.assignors=hangs,sticky'],
    ...['--set', `assignor.module.timeout.ms=${timeoutMs}`],
  );
  const address = await headgate.ready();
  const connection = await ClientConnection.open(address, { clientId: 'test' });
  await createTopics(connection, { in: 4 });
  return { headgate, connection, memberOf: (groupId: string) => joined(address, groupId) };
}

async function joined(address: BrokerAddress, groupId: string): Promise<ScriptedMember> {
  const member = await ScriptedMember.connect({ ...address, groupId, topics: ['in'] });
  await member.join();
  return member;
}

describe("headgate serve with an assignor of one's own that hangs", () => {
  afterEach(() => HeadgateProcess.endAll());

  it('gives its groups tasks all the same, and others at once', () =>
    inTemporaryFolder(async (folder) => {
      const { headgate, connection, memberOf } = await serve(folder, 2_000);
      await connection.request('IncrementalAlterConfigs', {
        resources: [
          {
            resourceType: 32,
            resourceName: 'quick',
            configs: [{ name: 'streams.assignor.name', configOperation: 0, value: 'sticky' }],
          },
        ],
        validateOnly: false,
      });
      const slow = await memberOf('slow');
      const [pid, started] = await moduleProcesses(folder, 'slow');
      const quick = await memberOf('quick');
      const quickTasks = await found('tasks of the quick group', async () => {
        if (quick.given.activeTasks.length === 0) await quick.beat();
        return quick.given.activeTasks[0];
      });
      // Still in its loop: nobody had to wait for its end.
      expect([slow.given.activeTasks, quickTasks, process.kill(pid, 0)]).to.deep.equal([
        [],
        ALL[0],
        true,
      ]);
      await found('tasks of the slow group', async () => {
        await slow.beat();
        return slow.given.activeTasks[0];
      });
      expect(slow.given.activeTasks).to.deep.equal(ALL);
      const line = await headgate.line(headgate.err, /Assignor module gave no assignment/);
      expect(JSON.parse(line)).to.include({
        assignor: 'hangs',
        fault: 'timeout',
        reason: 'It gave no answer within 2000 ms',
      });
      await Promise.all([gone(pid), gone(started)]);
      for (const each of [slow, quick, connection]) each.close();
      expect(await headgate.end('SIGTERM')).to.equal(0);
    }));

  for (const [signal, ended] of [
    ['SIGTERM', 0],
    ['SIGKILL', 'SIGKILL'],
  ] as const) {
    it(`leaves no process behind after ${signal}`, () =>
      inTemporaryFolder(async (folder) => {
        const { headgate, connection, memberOf } = await serve(folder, 60_000);
        const member = await memberOf('g');
        const pids = await moduleProcesses(folder, 'g');
        expect(await headgate.end(signal)).to.equal(ended);
        await Promise.all(pids.map(gone));
        for (const each of [member, connection]) each.close();
      }));
  }

  it('gives a start up at SIGTERM while a module hangs as it is loaded', () =>
    inTemporaryFolder(async (folder) => {
      const file = join(folder, 'loads.mjs');
      await writeFile(file, LOADS_FOR_EVER);
      const headgate = HeadgateProcess.serve(folder, '--set', `assignors.modules=loads=${file}`);
      const [pid] = await moduleProcesses(folder, 'loading');
      const signalledMs = performance.now();
      expect(await headgate.end('SIGTERM')).to.equal(0);
      // Well below the 20 s that a module may take to load.
      expect(performance.now() - signalledMs).to.be.below(8_000);
      await headgate.line(headgate.err, /Stopped before clients could be served/);
      await gone(pid);
    }));

  it('does not start with a module that is none, and says so in one line', () =>
    inTemporaryFolder(async (folder) => {
      const file = join(folder, 'none.mjs');
      await writeFile(file, 'export const answer = 42;');
      const headgate = HeadgateProcess.serve(folder, '--set', `assignors.modules=none=${file}`);
      expect([await headgate.ended, headgate.out, headgate.err]).to.deep.equal([
        1,
        [],
        [
          `Cannot use assignor module "none" (${file}): Its default export is of type undefined, wanted a function`,
        ],
      ]);
    }));
});
