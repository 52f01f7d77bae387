import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseCell } from '../../src/problem/read-cell.ts';
import { FakeIo } from '../support/fake-io.ts';
import { ProblemOnDisk } from '../support/problem-on-disk.ts';

describe('headgate assign, if things were otherwise', () => {
  let problem: ProblemOnDisk;
  let folder: string;
  let io: FakeIo;

  beforeEach(async () => {
    problem = await ProblemOnDisk.open();
    ({ folder } = problem);
    io = new FakeIo();
  });

  afterEach(() => problem.close());

  const assign = (...args: readonly string[]) =>
    io.run('assign', '--problem', problem.file, ...args);
  const lines = () => io.output.split('\n').map((line) => line.split(/ {2,}/));

  it('tells what would move, and writes that down', async () => {
    const written = join(folder, 'written.json');
    const edits = [
      '--remove-member',
      'a',
      '--add-member',
      'd@pa',
      '--add-member',
      '--standbys',
      '0',
    ];
    const more = [
      '--tags',
      ' rack, zone',
      '--lag',
      '9',
      '--tasks',
      '0=4',
      '--assignor',
      'balanced',
    ];
    expect(await assign(...edits, ...more, '--write', written)).to.equal(0);
    expect(lines()[0]).to.deep.equal([
      'Group orders at epoch 7: 4 tasks, standbys 0, 4 members in 4 processes',
    ]);
    expect(lines().slice(3, 6)).to.deep.equal([
      ['0_0', 'active', 'a (left)', 'd', 'its owner left; d needs it for an even share'],
      ['0_0', 'standby', 'b', '-', 'no more standbys are asked for'],
      ['0_1', 'active', 'a (left)', 'b', 'its owner left; b needs it for an even share'],
    ]);
    const { assignor, configs, topology, members } = parseCell(readFileSync(written, 'utf8'));
    expect({ assignor, configs, topology }).to.deep.equal({
      assignor: 'balanced',
      configs: {
        numStandbyReplicas: 0,
        rackAwareAssignmentTags: ['rack', 'zone'],
        acceptableRecoveryLag: '9',
      },
      topology: [{ id: '0', tasks: 4, stateful: true }],
    });
    expect(members.map(({ id, process }) => [id, process])).to.deep.equal([
      ['b', 'pb'],
      ['c', 'pc'],
      ['d', 'pa'],
      ['member-new', 'process-of-member-new'],
    ]);
    const before = io.output;
    expect(await io.run('assign', '--problem', written)).to.equal(0);
    expect(io.output).to.equal(before);
  });

  it('warns of a member that has no tags to spread copies by', async () => {
    expect(await assign('--add-member', 'd')).to.equal(0);
    expect(io.errors).to.equal(
      '1 of 4 members lack the client tag zone, which rack.aware.assignment.tags names: d (process process-of-d)\n' +
        'Member "d" has no tag zone: add it with --add-member ID@PROCESS,zone=VALUE\n',
    );
    io.errors = '';
    expect(await assign('--add-member', 'd@pd,zone=x', '--add-member', 'e@pa')).to.equal(0);
    expect(io.errors).to.equal('');
  });

  it('tells a tag that no member has, which is misspelt', async () => {
    expect(await assign('--tags', 'zoen,zone', '--add-member', 'd,zone=x')).to.equal(0);
    expect(io.errors).to.equal(
      'No member has the client tag zoen, which rack.aware.assignment.tags names\n',
    );
  });

  it('refuses a member that is named like a tag: a comma was forgotten', async () => {
    for (const text of ['zone=a', 'd@zone=a', 'zone=a,rack=b']) {
      io.errors = '';
      expect(await assign('--add-member', text), text).to.equal(2);
      expect(io.errors).to.match(
        /Wanted \[ID\]\[@PROCESS\]\[,TAG=VALUE,\.\.\]: a tag stands behind a comma, as in NAME,zone=a\./,
      );
    }
  });
});
