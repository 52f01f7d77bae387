import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { LevelKeyValues } from '../../src/store/level-key-values.ts';
import { promptly } from '../support/promptly.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

async function refusalOf(folder: string): Promise<string> {
  const thrown = await rejectionOf(LevelKeyValues.open({ folder, shardCount: 50 }));
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}

describe('LevelKeyValues.open() of a folder that cannot be had', () => {
  it('says that a file is in the way, also further up', () =>
    inTemporaryFolder(async (parent) => {
      const file = join(parent, 'file');
      await writeFile(file, 'not a folder');
      for (const folder of [file, join(file, 'deep', 'down')]) {
        expect(await refusalOf(folder)).to.equal(
          `StoreError: Open the store in ${folder}: ${file} is a file, not a folder`,
        );
      }
    }));

  it('ends where the system makes no folders', async function () {
    if (process.platform !== 'linux') this.skip();
    const start = 'StoreError: Open the store in /proc/headgate/data: ';
    expect(await refusalOf('/proc/headgate/data')).to.match(new RegExp(`^${start}ENOENT`));
  });

  it('gives up after 30 s', () =>
    inTemporaryFolder(async (folder) => {
      let waitedMs = 0;
      // Falls due before the system could answer anything.
      const after = (delayMs: number, callback: () => void) => {
        waitedMs = delayMs;
        queueMicrotask(callback);
        return () => {};
      };
      const file = join(folder, 'file');
      await writeFile(file, 'nothing that could be opened later');
      const opening = LevelKeyValues.open({
        folder: file,
        shardCount: 50,
        clock: { after, ...promptly },
      });
      const message = `Open the store in ${file}: it was not open within 30000 ms`;
      expect(await rejectionOf(opening)).to.include({ fault: 'unreadable', message });
      expect(waitedMs).to.equal(30_000);
    }));
});
