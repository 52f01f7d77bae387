import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ProblemFolder, type ProblemFolderBounds } from '../../src/problem/problem-folder.ts';
import { KeptLog } from '../support/kept-log.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

describe('ProblemFolder', () => {
  let log: KeptLog;

  beforeEach(() => {
    log = new KeptLog();
  });

  const inFolder = (
    work: (folder: string, problems: ProblemFolder) => Promise<void>,
    bounds: Partial<ProblemFolderBounds> = {},
  ) =>
    inTemporaryFolder(async (parent) => {
      const folder = join(parent, 'problems');
      await work(folder, new ProblemFolder({ folder, log, bounds }));
    });

  it('writes a file whole, under a name that every file system takes', () =>
    inFolder(async (folder, problems) => {
      const file = problems.keep('a/b:ü-broken', 0, ['x'.repeat(100_000), 'ü\n']);
      expect(file).to.equal(join(folder, '19700101T000000000Z-1-a_b__-broken.json'));
      await problems.idle();
      expect(await readFile(file ?? '', 'utf8')).to.equal(`${'x'.repeat(100_000)}ü\n`);
      expect(await readdir(folder)).to.have.length(1);
      expect(log.told).to.deep.equal([]);
    }));

  it('lets the oldest files go when there are too many, and leaves files of others alone', () =>
    inFolder(
      async (folder, problems) => {
        await mkdir(folder);
        await writeFile(join(folder, 'mine.json'), 'left alone');
        await writeFile(join(folder, '19690101T000000000Z-9-g.json.part'), 'left unfinished');
        for (let second = 0; second < 5; second++) {
          problems.keep('g', second * 1000, ['{}']);
          await problems.idle();
        }
        expect((await readdir(folder)).sort()).to.deep.equal([
          '19700101T000003000Z-4-g.json',
          '19700101T000004000Z-5-g.json',
          'mine.json',
        ]);
      },
      { filesMax: 2 },
    ));

  it('lets the oldest files go when they take too much', () =>
    inFolder(
      async (folder, problems) => {
        for (const [second, bytes] of [60, 30, 50].entries()) {
          problems.keep('g', second * 1000, ['x'.repeat(bytes)]);
          await problems.idle();
        }
        expect((await readdir(folder)).sort()).to.deep.equal([
          '19700101T000001000Z-2-g.json',
          '19700101T000002000Z-3-g.json',
        ]);
      },
      { bytesMax: 100 },
    ));

  it('gives a file up that alone takes too much, with a warning, and keeps what is there', () =>
    inFolder(
      async (folder, problems) => {
        problems.keep('small', 0, ['x']);
        problems.keep('large', 1000, ['x'.repeat(60), 'x'.repeat(60)]);
        await problems.idle();
        expect(await readdir(folder)).to.deep.equal(['19700101T000000000Z-1-small.json']);
        expect(log.texts('warn')).to.deep.equal(['Problem file could not be written']);
      },
      { bytesMax: 100 },
    ));

  it('only warns when it cannot write, or when the text cannot be made', () =>
    inFolder(async (folder, problems) => {
      await writeFile(folder, 'a file is in the way');
      problems.keep('g', 0, ['{}']);
      problems.keep(
        'g',
        0,
        (function* () {
          yield '{';
          throw new Error('on purpose');
        })(),
      );
      await problems.idle();
      expect(log.texts('warn')).to.deep.equal(Array(2).fill('Problem file could not be written'));
    }));

  it('takes no more than may wait, and takes more when those are written', () =>
    inFolder(
      async (_, problems) => {
        const taken = () => problems.keep('g', 0, ['{}']) !== undefined;
        expect([taken(), taken(), taken()]).to.deep.equal([true, true, false]);
        await problems.idle();
        expect(taken()).to.equal(true);
        await problems.idle();
      },
      { waitingMax: 2 },
    ));

  it('lets the event loop turn between parts', () =>
    inFolder(async (_, problems) => {
      let turns = 0;
      const turnsSeen: number[] = [];
      const ticking = setInterval(() => turns++, 0);
      const part = 'x'.repeat(64 * 1024);
      problems.keep(
        'g',
        0,
        (function* () {
          for (let n = 0; n < 50; n++) {
            turnsSeen.push(turns);
            yield part;
          }
        })(),
      );
      await problems.idle();
      clearInterval(ticking);
      expect(turnsSeen.at(-1)).to.be.greaterThan(turnsSeen[0] ?? 0);
    }));
});
