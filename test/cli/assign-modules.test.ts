import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { FakeIo } from '../support/fake-io.ts';
import { ProblemOnDisk } from '../support/problem-on-disk.ts';

describe('headgate assign with assignors of your own', () => {
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
  const own = (name: string, text: string) => {
    writeFileSync(join(folder, `${name}.mjs`), text);
    return ['--module', `${name}=${join(folder, `${name}.mjs`)}`];
  };
  const THROWS = "export default () => { throw new Error('out of ideas'); };";
  const KEEPS = `export default ({ members }) =>
    new Map(members.map(({ memberId, active, standby }) => [memberId, { active, standby }]));`;

  it('asks the one that is given, without its being named', async () => {
    expect(await assign(...own('keeps', KEEPS))).to.equal(0);
    expect(io.output).to.match(/\nNothing moves\n\nMEASURE +keeps +BEST\n/);
  });

  it('says of one that it is not asked where others are named', async () => {
    expect(await assign(...own('keeps', KEEPS), '--assignor', 'sticky')).to.equal(0);
    expect(io.errors).to.equal('Module "keeps" is not asked: --assignor names others\n');
  });

  it('compares several that are given', async () => {
    const modules = [...own('keeps', KEEPS), ...own('too', KEEPS)];
    expect(await assign(...modules)).to.equal(0);
    expect(lines()[2]).to.deep.equal(['MEASURE', 'keeps', 'too', 'BEST']);
  });

  it('says that one failed, and not that another assigned', async () => {
    expect(await assign(...own('throws', THROWS))).to.equal(1);
    expect(io.output).to.not.contain('MEASURE');
    expect(io.errors).to.match(/^Assignor throws failed: out of ideas \(at .*\)\n$/);
  });

  it('tells of each that failed in a line of its own, below those that did not', async () => {
    const modules = [...own('throws', THROWS), ...own('fails', THROWS)];
    expect(await assign(...modules, '--compare')).to.equal(1);
    expect(lines()[2]).to.deep.equal(['MEASURE', 'sticky', 'balanced', 'highly_available', 'BEST']);
    expect(io.output).to.match(/\n\nthrows: out of ideas .*\nfails: out of ideas .*\n$/);
    expect(io.errors).to.equal('2 of 5 assignors failed\n');
  });
});
