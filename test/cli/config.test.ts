import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { settingNames } from '../../src/config/definitions.ts';
import { settingsMarkdown } from '../../src/config/settings-docs.ts';
import { VERSION } from '../../src/version.ts';
import { FakeIo } from '../support/fake-io.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

describe('headgate config', () => {
  it('prints every setting with its value and where it comes from', async () => {
    const io = new FakeIo();
    io.environment = { HEADGATE_PORT: '5' };
    expect(await io.run('config', '--set', 'host=h')).to.equal(0);
    const lines = io.output.trimEnd().split('\n');
    expect(lines).to.have.length(settingNames.length + 1);
    expect(lines.map((line) => line.split(/ {2,}/))).to.deep.include.members([
      ['SETTING', 'VALUE', 'FROM'],
      ['host', 'h', 'command line'],
      ['port', '5', 'environment'],
      ['cluster.id', '-', 'default'],
    ]);
  });

  it('names a file as faults do, and says what is the matter with one that cannot be read', () =>
    inTemporaryFolder(async (folder) => {
      const io = new FakeIo();
      const file = join(folder, 'a.properties');
      await writeFile(file, 'port=7\n');
      expect(await io.run('config', '--config', file)).to.equal(0);
      expect(io.output.split('\n').map((line) => line.split(/ {2,}/))).to.deep.include.members([
        ['port', '7', file],
      ]);
      for (const [path, reason] of [
        [join(folder, 'none'), 'there is no such file'],
        [folder, 'it is a folder, not a file'],
      ] as const) {
        expect(await io.run('config', '--config', path)).to.equal(2);
        expect(io.errors).to.equal(
          `Cannot use the settings, 1 fault:\n  Cannot read ${path} (--config): ${reason}\n`,
        );
      }
    }));

  it('prints the docs with --markdown', async () => {
    const io = new FakeIo();
    expect(await io.run('config', '--markdown')).to.equal(0);
    expect(io.output).to.equal(settingsMarkdown());
  });

  it('prints rows for programs with --json', async () => {
    const io = new FakeIo();
    expect(await io.run('config', '--json', '--set', 'protocol.profile=kafka')).to.equal(0);
    const row = JSON.parse(io.output).find(
      ({ name }: { name: string }) => name === 'assignor.answer.wait.ms',
    );
    expect(row).to.deep.equal({
      name: 'assignor.answer.wait.ms',
      value: '10000',
      source: 'default',
      type: 'int',
      unit: 'ms',
      allowed: 'a whole number from 0 to 2147483647',
      dynamic: false,
      inert: false,
      notYet: false,
      about: "How long a heartbeat's answer waits for the assignment it caused.",
    });
  });
});

describe('the command line', () => {
  it('ends with 2 when it is used in the wrong way, and says how', async () => {
    for (const args of [
      ['what'],
      ['groups', 'list', '--bootstrap', 'x'],
      ['bench', 'x'],
      ['assign'],
    ]) {
      const io = new FakeIo();
      expect(await io.run(...args), args.join(' ')).to.equal(2);
      expect(io.errors, args.join(' ')).to.match(/^error: /);
      expect(io.output).to.equal('');
    }
  });

  it('gives help and ends with 0', async () => {
    const io = new FakeIo();
    expect(await io.run('--help')).to.equal(0);
    for (const command of [
      'serve',
      'config',
      'groups',
      'visualize',
      'bench',
      'assign',
      'demo',
      'codec',
    ]) {
      expect(io.output).to.contain(`\n  ${command}`);
    }
  });

  it('prints the version of the build', async () => {
    const io = new FakeIo();
    expect(await io.run('--version')).to.equal(0);
    expect(io.output).to.equal(`${VERSION}\n`);
    expect(VERSION).to.match(/^\d+\.\d+\.\d+/);
  });

  it('lists the benchmarks', async () => {
    const io = new FakeIo();
    expect(await io.run('bench', '--help')).to.equal(0);
    expect(io.output).to.match(
      /^Benchmarks:\n {2}assign .*\n {2}churn .*\n {2}heartbeats .*\n {2}refine .*$/m,
    );
  });

  it('prints the API keys that the codec knows', async () => {
    const io = new FakeIo();
    expect(await io.run('codec', '--keys')).to.equal(0);
    expect(JSON.parse(io.output)).to.include.members([18, 88, 89]);
  });
});
