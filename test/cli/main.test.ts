import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { besidesRe2 } from '../support/re2.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** Children that have not ended: whatever a test ran into, none outlives it. */
const children = new Set<ChildProcess>();

/** The program in a process of its own. */
class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  out = '';
  err = '';

  constructor(...args: readonly string[]) {
    this.child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(this.child);
    this.child.stdout?.on('data', (chunk) => {
      this.out += chunk;
    });
    this.child.stderr?.on('data', (chunk) => {
      this.err += chunk;
    });
    this.ended = once(this.child, 'close').then(([code]) => {
      children.delete(this.child);
      return { code, out: this.out, err: this.err };
    });
  }

  /** Resolves with the first line on standard output; rejects when the process ends without one. */
  async firstLine(): Promise<string> {
    const { stdout } = this.child;
    const over = this.ended.then(({ err }) => Promise.reject(new Error(err)));
    over.catch(() => undefined);
    while (stdout !== null && !this.out.includes('\n')) {
      await Promise.race([once(stdout, 'data'), over]);
    }
    return this.out.split('\n')[0] ?? '';
  }
}

/** What was said on standard error, line by line, with or without the optional package re2. */
const linesOf = (err: string) => besidesRe2(err.split('\n'));
const run = (...args: readonly string[]) => new Running(...args).ended;

describe('the program', function () {
  this.timeout(60_000);

  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  it('prints its settings, also through its own environment', async () => {
    const { code, out, err } = await run('config', '--json', '--port', '1');
    expect([code, err]).to.deep.equal([0, '']);
    const port = JSON.parse(out).find(({ name }: { name: string }) => name === 'port');
    expect(port).to.include({ value: '1', source: 'flag' });
  });

  it('ends with 2 and all faults when settings are wrong', async () => {
    const { code, out, err } = await run('serve', '--set', 'a.b=1', '--port', 'x');
    expect([code, out]).to.deep.equal([2, '']);
    expect(err.split('\n')).to.deep.equal([
      'Cannot use the settings, 2 faults:',
      '  a.b = "1" (command line): wanted a setting that exists',
      '  port = "x" (command line): wanted a whole number from 0 to 65535',
      '',
    ]);
  });

  it('draws a chart', async () => {
    const { code, out } = await run('visualize', 'shard', '--format', 'mermaid');
    expect(code).to.equal(0);
    expect(out).to.contain('initial --> loading : LOAD');
  });

  it('bench starts a benchmark in a process of its own, and ends as that does', async () => {
    const help = await run('bench', 'refine', '--help');
    expect([help.code, help.err]).to.deep.equal([0, '']);
    expect(help.out).to.match(/^Usage: headgate bench refine /);
    const wrong = await run('bench', 'refine', '--seconds', 'x');
    expect([wrong.code, wrong.out]).to.deep.equal([2, '']);
    expect(wrong.err).to.match(
      /^Cannot use --seconds "x": .*\nCannot start refine: --help lists what it takes\n$/,
    );
  });

  it('serves until it is told to stop, and keeps its store to itself', () =>
    inTemporaryFolder(async (folder) => {
      const store = join(folder, 'data');
      const args = ['serve', '--port', '0', '--admin-port', '0', '--data-dir', store];
      const serving = new Running(...args);
      const line = await serving.firstLine();
      expect(line).to.match(/^Headgate ready on 127\.0\.0\.1:\d+$/);

      const second = await run(...args);
      expect([second.code, second.out]).to.deep.equal([1, '']);
      expect(linesOf(second.err)).to.deep.equal([
        `Open the store in ${store}: it is in use by another process (--data-dir)`,
        '',
      ]);

      const address = line.replace('Headgate ready on ', '');
      const listed = await run('groups', 'list', '--json', '--bootstrap', address);
      expect([listed.code, listed.out, listed.err]).to.deep.equal([0, '[]\n', '']);

      serving.child.kill('SIGTERM');
      const { code, out } = await serving.ended;
      expect([code, out]).to.deep.equal([0, `${line}\n`]);
    }));

  it('says in one line that its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      const args = ['--set', 'store=memory', '--admin-port', 'off', '--port', String(port)];
      const { code, out, err } = await run('serve', ...args);
      expect([code, out, linesOf(err)]).to.deep.equal([
        1,
        '',
        [`Cannot listen on 127.0.0.1:${port}: the port is in use (--port)`, ''],
      ]);
    } finally {
      taken.close();
    }
  });
});
