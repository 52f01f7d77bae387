import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { VERSION } from '../../src/version.ts';
import { FakeIo } from '../support/fake-io.ts';

describe('headgate serve', () => {
  let io: FakeIo;
  let folder: string;

  beforeEach(() => {
    io = new FakeIo();
    folder = mkdtempSync(join(tmpdir(), 'headgate-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Lets `serve` come to where it waits. */
  async function served(...args: readonly string[]): Promise<{ readonly code: Promise<number> }> {
    const code = io.run('serve', ...args);
    await new Promise((resolve) => setImmediate(resolve));
    return { code };
  }

  it('says in exactly one line that it is ready, and stops when told', async () => {
    const { code } = await served('--port', '7000', '--admin-port', 'off');
    expect(io.output).to.equal('Headgate ready on 127.0.0.1:7000\n');
    expect(io.errors).to.equal('');
    expect(io.stops).to.equal(0);
    io.askToStop();
    expect(await code).to.equal(0);
    expect([io.stops, io.flushes]).to.deep.equal([1, 1]);
    expect(io.exits).to.deep.equal([]);
  });

  it('tells people on a terminal what to try next', async () => {
    io.isTerminal = true;
    const { code } = await served();
    expect(io.output).to.equal('Headgate ready on 127.0.0.1:9092\n');
    expect(io.errors).to.contain('headgate groups list --bootstrap 127.0.0.1:9092');
    expect(io.errors).to.contain('http://127.0.0.1:10093/');
    io.askToStop();
    await code;
  });

  it('logs the addresses that stand for upstream nodes', async () => {
    io.start = async ({ listen }) => ({
      address: listen,
      adminAddress: undefined,
      nodeAddresses: new Map([[3, { host: '::1', port: 9_093 }]]),
    });
    const { code } = await served('--upstream', 'kafka:9092', '--data-dir', 'd');
    io.askToStop();
    await code;
    expect(io.log.lines.find(({ text }) => text === 'Ready')?.fields).to.deep.equal({
      version: VERSION,
      address: '127.0.0.1:9092',
      admin: 'off',
      store: resolve('d'),
      upstream: 'kafka:9092',
      nodes: '3=[::1]:9093',
      profile: 'kip',
    });
  });

  it('ends at once when it is told to stop a second time', async () => {
    const { code } = await served();
    io.askToStop();
    io.askToStop();
    await code;
    expect(io.exits).to.deep.equal([130]);
  });

  it('ends with 1 when a start hangs through stop.timeout.ms and 5 s after the stop', async () => {
    io.start = () => new Promise(() => {});
    await served('--set', 'stop.timeout.ms=1000');
    io.askToStop();
    await io.clock.pass(5_999);
    expect([io.errors, io.exits]).to.deep.equal(['', []]);
    await io.clock.pass(1);
    expect([io.errors, io.exits]).to.deep.equal([
      'Cannot stop within 6000 ms: ended without it\n',
      [1],
    ]);
  });

  it('forgets about a hanging stop once it has stopped', async () => {
    const { code } = await served();
    io.askToStop();
    await code;
    await io.clock.pass(60_000);
    expect(io.exits).to.deep.equal([]);
  });

  it('stops as soon as it has started when it was told so before', async () => {
    const running = io.run('serve');
    io.askToStop();
    expect(await running).to.equal(0);
    expect(io.stops).to.equal(1);
  });

  it('gives a start up when it is told to stop meanwhile, and ends with 0', async () => {
    io.start = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const { code } = await served('--upstream', 'nobody:9092');
    io.askToStop();
    expect(await code).to.equal(0);
    expect([io.output, io.errors, io.flushes]).to.deep.equal(['', '', 1]);
  });

  it('stops what it started when something goes wrong after that', async () => {
    io.log.info = () => {
      throw new Error('Cannot say where');
    };
    expect(await io.run('serve')).to.equal(1);
    expect(io.errors).to.contain('Cannot say where');
    expect([io.stops, io.flushes]).to.deep.equal([1, 1]);
  });

  it('takes settings from flags, --set, environment and file, in this order', async () => {
    const file = join(folder, 'a.properties');
    writeFileSync(file, 'port=1\nhost=file\ndata.dir=file\nnode.id=7\nlog.dirs=/tmp\n');
    io.environment = { HEADGATE_PORT: '2', HEADGATE_HOST: 'env', HEADGATE_DATA_DIR: 'env' };
    const given = ['--config', file, '--set', 'port=3', '--set', 'host=set', '--port', '4'];
    const { code } = await served(...given, '--upstream', 'a:1,b:2', '--fail-fast');
    io.askToStop();
    await code;
    const [config] = io.started;
    expect(config?.listen).to.deep.equal({ host: 'set', port: 4 });
    expect(config?.store.dataDir).to.equal(resolve('env'));
    expect(config?.identity.nodeId).to.equal(7);
    expect(config?.upstream).to.include({ failFast: true });
    const warnings = io.log.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ text }) => text)).to.deep.equal([
      'Settings without effect here: log.dirs',
    ]);
  });

  it('names all faults at once and ends with 2, starting nothing', async () => {
    const code = await io.run(
      ...['serve', '--config', '/none', '--set', 'x', '--set', 'port=a', '--port', '70000'],
    );
    expect(code).to.equal(2);
    expect(io.started).to.deep.equal([]);
    expect(io.output).to.equal('');
    expect(io.errors.split('\n').map((line) => line.trim().split(' ')[0])).to.deep.equal([
      'Cannot',
      'Cannot',
      '--set',
      'port',
      'port',
      '',
    ]);
  });

  it('tells a failure of the world in one line, without a stack, and ends with 1', async () => {
    for (const name of ['ListenError', 'StoreError', 'UpstreamError', 'AdminListenError']) {
      io.start = async () => {
        throw Object.assign(new Error(`Cannot do it (${name})`), { name });
      };
      expect(await io.run('serve')).to.equal(1);
      expect(io.errors).to.equal(`Cannot do it (${name})\n`);
      expect(io.output).to.equal('');
    }
    expect(io.flushes).to.equal(4);
  });

  it('tells everything about a failure that nobody foresaw', async () => {
    io.start = async () => {
      throw new TypeError('What is this');
    };
    expect(await io.run('serve')).to.equal(1);
    expect(io.errors).to.match(/^TypeError: What is this\n\s+at /);
  });
});
