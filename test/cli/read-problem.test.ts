import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { CELL_BYTES_MAX } from '../../src/problem/read-cell.ts';
import { FakeIo } from '../support/fake-io.ts';
import { CELL, ProblemOnDisk } from '../support/problem-on-disk.ts';

describe('headgate assign, where a problem comes from', () => {
  let problem: ProblemOnDisk;
  let folder: string;
  let file: string;
  let io: FakeIo;

  beforeEach(async () => {
    problem = await ProblemOnDisk.open();
    ({ folder, file } = problem);
    io = new FakeIo();
  });

  afterEach(() => problem.close());

  const keep = (cell: unknown) => problem.keep(cell);
  const assign = (...args: readonly string[]) => io.run('assign', '--problem', file, ...args);
  const lines = () => io.output.split('\n').map((line) => line.split(/ {2,}/));

  it('says in one line why a file cannot be used', async () => {
    const said = async (...args: readonly string[]) => [await assign(...args), io.errors];
    keep({ ...CELL, members: [CELL.members[0], CELL.members[0]] });
    expect(await said()).to.deep.equal([
      1,
      `Cannot read ${file}: members[1].id is "a", as members[0].id: wanted each once\n`,
    ]);
    writeFileSync(file, '{"cell": 1');
    expect((await said())[1]).to.match(/^Cannot read .*: It is not JSON: [^\n]*\n$/);
    writeFileSync(file, ' '.repeat(64 * 1024 * 1024 + 1));
    expect(await said()).to.deep.equal([
      1,
      `Cannot read ${file}: It is 67108865 bytes long: wanted at most 67108864\n`,
    ]);
    await rm(file);
    expect((await said())[1]).to.equal(`Cannot read ${file}: there is no such file\n`);
    await mkdir(file);
    expect((await said())[1]).to.equal(`Cannot read ${file}: it is a folder, not a file\n`);
    await rm(file, { recursive: true });
    keep(CELL);
    expect((await said('--write', join(folder, 'no', 'where')))[1]).to.match(
      /^Cannot write .*where: there is no such folder\n$/,
    );
    expect((await said('--write', folder))[1]).to.match(
      /^Cannot write .*: it is a folder, not a file\n$/,
    );
  });

  it('reads the problem from standard input when the file is named -', async () => {
    keep({ ...CELL, group: { id: 'é', epoch: 7 } });
    await assign();
    const { output } = io;
    expect(output).to.match(/^Group é at epoch 7: /);
    const bytes = readFileSync(file);
    const cut = bytes.indexOf(0xc3) + 1;
    io.given = [bytes.subarray(0, cut), bytes.subarray(cut)];
    expect(await io.run('assign', '--problem', '-')).to.equal(0);
    expect([io.output, io.errors]).to.deep.equal([output, '']);
    const refused = async (...given: readonly Buffer[]) => {
      io.given = given;
      return [await io.run('assign', '--problem', '-'), io.output, io.errors];
    };
    expect(await refused(Buffer.alloc(64 * 1024 * 1024), Buffer.alloc(1))).to.deep.equal([
      ...[1, ''],
      'Cannot read standard input: It is longer than 67108864 bytes: wanted at most that\n',
    ]);
    expect((await refused())[2]).to.match(/^Cannot read standard input: It is not JSON: [^\n]*\n$/);
  });

  it('reads no more than a problem may have of what has no end', async function () {
    if (process.platform !== 'linux') this.skip();
    expect(await io.run('assign', '--problem', '/dev/zero')).to.equal(1);
    expect(io.errors).to.equal(
      `Cannot read /dev/zero: It is longer than ${CELL_BYTES_MAX} bytes: wanted at most that\n`,
    );
  });

  it('reads a problem that gzip packed, and no more of it than a file may have', async () => {
    writeFileSync(file, gzipSync(JSON.stringify(CELL)));
    expect(await assign()).to.equal(0);
    expect(lines()[0]?.[0]).to.match(/^Group orders at epoch 7: /);
    const packed = `Cannot read ${file}: It is packed by gzip and cannot be unpacked:`;
    writeFileSync(file, gzipSync(Buffer.alloc(CELL_BYTES_MAX + 1, ' ')));
    expect(await assign()).to.equal(1);
    expect(io.errors).to.equal(`${packed} wanted at most ${CELL_BYTES_MAX} bytes in it\n`);
    writeFileSync(file, gzipSync(JSON.stringify(CELL)).subarray(0, 40));
    expect(await assign()).to.equal(1);
    expect(io.errors).to.equal(`${packed} unexpected end of file\n`);
  });
});
