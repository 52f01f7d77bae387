import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../support/oracle.ts';

const run = promisify(execFile);

const IN_TYPESCRIPT = `
import type { Assignor, MemberTasks } from 'headgate/assignor';

const first: Assignor = async ({ tasks, members: [member] }) => {
  const given: MemberTasks = { active: tasks.map(({ taskId }) => taskId) };
  return new Map([[member?.memberId ?? '', given]]);
};
export default first;
`;

/** The first module that docs/own-assignor.md shows. */
function moduleOfDocs(): string {
  const text = readFileSync(join(projectRoot, 'docs/own-assignor.md'), 'utf8');
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(text) ?? [];
  return code;
}

describe('headgate/assignor, in a folder that has the package installed', function () {
  this.timeout(60_000);
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-types-'));
    const pack = ['pack', '--offline', '--ignore-scripts', '--json', '--pack-destination', folder];
    const { stdout } = await run('npm', pack, { cwd: projectRoot });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    // Installed as npm would, without what the program needs when it runs.
    const installed = join(folder, 'node_modules', 'headgate');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1']);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** What the compiler says to a module, strictly; empty when it has nothing to say. */
  async function complaints(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    const compiler = join(projectRoot, 'node_modules', '.bin', 'tsc');
    const strictly = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--checkJs'];
    const target = ['--module', 'nodenext', '--target', 'es2023', '--types', ''];
    return run(compiler, [...strictly, ...target, name], { cwd: folder }).then(
      ({ stdout }) => stdout,
      ({ stdout }: { readonly stdout: string }) => stdout,
    );
  }

  it('types a module in TypeScript', async () => {
    expect(await complaints('mine.mts', IN_TYPESCRIPT)).to.equal('');
    const wrong = IN_TYPESCRIPT.replace('active:', 'actives:');
    expect(await complaints('wrong.mts', wrong)).to.match(/^wrong\.mts.*'actives'/);
  });

  it('types a module in JavaScript by its comments, such as the one of docs/own-assignor.md', async () => {
    const text = moduleOfDocs();
    expect(await complaints('mine.mjs', text)).to.equal('');
    const wrong = text.replace('standbysPerTask', 'standbyCount');
    expect(await complaints('wrong.mjs', wrong)).to.match(/^wrong\.mjs.*'standbyCount'/);
  });

  it('types docs/examples/nvme-first.mjs', async () => {
    const text = readFileSync(join(projectRoot, 'docs/examples/nvme-first.mjs'), 'utf8');
    expect(await complaints('nvme-first.mjs', text)).to.equal('');
  });
});
